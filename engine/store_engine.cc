#include "engine/store_engine.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pmcached::engine {

bool StoreEngine::is_live(SlotReference slot) const {
  const ItemView item(slots_, slot);
  return !is_expired(item) && !flush_.covers(item.cas());
}

bool StoreEngine::may_be_succeeded(SlotReference slot) const {
  const ItemView item(slots_, slot);
  return !is_expired(item) && !flush_.covers_for_successor(item.cas());
}

bool StoreEngine::is_expired(const ItemView& item) const {
  const uint32_t exptime = item.exptime();
  return exptime != 0 && exptime <= clock_.now();
}

Outcome StoreEngine::begin(Session& session, const StoreRequest& request, PendingStore* pending) {
  pending->abandon();
  if (!supply_.fits(request.key.bytes.size(), request.length)) {
    session.counters().store_too_large.add();
    return refuse(request, Outcome::kTooLarge);
  }
  pending->request_ = request;
  std::ranges::copy(request.key.bytes, pending->key_.begin());
  pending->request_.key.bytes = {pending->key_.data(), request.key.bytes.size()};
  if (!pending->is_staged()) {
    RecordPlace place;
    if (!supply_.reserve(session, request.key.bytes.size(), request.length, &place)) {
      session.counters().store_no_memory.add();
      return refuse(request, Outcome::kOutOfMemory);
    }
    pending->writer_ = make_writer();
    pending->writer_.start(std::move(place), request.key.bytes, request.client_flags,
                           request.length);
  }
  pending->supply_ = &supply_;
  return Outcome::kStored;
}

Outcome StoreEngine::finish(Session& session, PendingStore* pending, uint64_t* cas) {
  session.counters().set_cmds.add();
  const Outcome outcome = pending->is_staged() ? finish_concatenation(session, pending, cas)
                                               : publish(session, pending, cas);
  pending->abandon();
  return outcome;
}

Outcome StoreEngine::publish(Session& session, PendingStore* pending, uint64_t* cas) {
  const StoreRequest& request = pending->request_;
  SlotReference replaced = kNoSlot;
  {
    ItemIndex::Locked locked(items_, request.key);
    replaced = locked.find();
    const uint64_t number = cas_.next();
    const Outcome outcome = check_condition(session, request, replaced);
    if (outcome != Outcome::kStored) {
      return outcome;
    }
    pending->writer_.seal(number, request.exptime);
    locked.publish(pending->writer_.place().slot, clock_.now());
    if (cas != nullptr) {
      *cas = number;
    }
  }
  pending->supply_ = nullptr;  // The slots are the cache's now.
  class_counters(session, pending->writer_.place().slot).set_cmds.add();
  if (replaced != kNoSlot) {
    items_.reclaim(replaced);
  }
  return Outcome::kStored;
}

Outcome StoreEngine::check_condition(Session& session, const StoreRequest& request,
                                     SlotReference found) const {
  const bool present = found != kNoSlot && may_be_succeeded(found);
  switch (request.mode) {
    case StoreMode::kAdd:
      return present ? Outcome::kNotStored : Outcome::kStored;
    case StoreMode::kReplace:
      return present ? Outcome::kStored : Outcome::kNotStored;
    case StoreMode::kCas:
      if (!present) {
        session.counters().cas_misses.add();
        return Outcome::kNotFound;
      }
      if (visible_cas(ItemView(slots_, found)) != request.expected_cas) {
        class_counters(session, found).cas_badval.add();
        return Outcome::kExists;
      }
      class_counters(session, found).cas_hits.add();
      return Outcome::kStored;
    case StoreMode::kSet:
    case StoreMode::kAppend:
    case StoreMode::kPrepend:
      break;
  }
  return Outcome::kStored;
}

Outcome StoreEngine::finish_concatenation(Session& session, PendingStore* pending, uint64_t* cas) {
  const StoreRequest& request = pending->request_;
  const size_t key_length = request.key.bytes.size();
  for (;;) {
    SlotReference slot = items_.find(request.key);
    if (slot == kNoSlot || !is_live(slot)) {
      return Outcome::kNotStored;
    }
    const uint32_t old_length = ItemView(slots_, slot).size();
    const uint64_t length = uint64_t{old_length} + request.length;
    if (!supply_.fits(key_length, length)) {
      session.counters().store_too_large.add();
      return Outcome::kTooLarge;
    }
    RecordPlace place;
    if (!supply_.reserve(session, key_length, static_cast<uint32_t>(length), &place)) {
      session.counters().store_no_memory.add();
      return Outcome::kOutOfMemory;
    }
    // Reserving may have ended the view, so the item is looked up again.
    slot = items_.find(request.key);
    if (slot == kNoSlot || ItemView(slots_, slot).size() != old_length) {
      supply_.abandon(place);
      continue;
    }
    const ItemView old(slots_, slot);
    RecordWriter writer = make_writer();
    writer.start(std::move(place), request.key.bytes, old.client_flags(),
                 static_cast<uint32_t>(length));
    if (request.mode == StoreMode::kPrepend) {
      writer.write(pending->staged_);
    }
    for (uint32_t i = 0; i < old.segment_count(); ++i) {
      writer.write(old.segment(i));
    }
    if (request.mode == StoreMode::kAppend) {
      writer.write(pending->staged_);
    }
    if (replace_unchanged(request.key, &writer, old.cas(), cas)) {
      class_counters(session, writer.place().slot).set_cmds.add();
      return Outcome::kStored;
    }
    supply_.abandon(writer.place());
  }
}

Arithmetic StoreEngine::add(Session& session, const HashedKey& key, uint64_t delta,
                            bool increment) {
  for (;;) {
    const SlotReference slot = items_.find(key);
    if (slot == kNoSlot || !is_live(slot)) {
      (increment ? session.counters().incr_misses : session.counters().decr_misses).add();
      return {.outcome = Outcome::kNotFound};
    }
    const ItemView old(slots_, slot);
    const auto number = old.chunked() ? std::nullopt : parse_number(old.segment(0));
    if (!number) {
      return {.outcome = Outcome::kNotANumber};
    }
    const uint64_t value = apply_delta(*number, delta, increment);
    const std::string text = format_number(value, old.size());
    const uint64_t client_flags = old.client_flags();
    const uint64_t old_cas = old.cas();

    RecordPlace place;
    const auto length = static_cast<uint32_t>(text.size());
    if (!supply_.reserve(session, key.bytes.size(), length, &place)) {
      session.counters().store_no_memory.add();
      return {.outcome = Outcome::kOutOfMemory};
    }
    RecordWriter writer = make_writer();
    writer.start(std::move(place), key.bytes, client_flags, length);
    writer.write(text);
    uint64_t cas = 0;
    if (replace_unchanged(key, &writer, old_cas, &cas)) {
      ClassCounters& counters = class_counters(session, writer.place().slot);
      (increment ? counters.incr_hits : counters.decr_hits).add();
      return {.outcome = Outcome::kChanged, .value = value, .cas = cas};
    }
    supply_.abandon(writer.place());
  }
}

bool StoreEngine::replace_unchanged(const HashedKey& key, RecordWriter* writer, uint64_t expected,
                                    uint64_t* cas) {
  SlotReference replaced = kNoSlot;
  {
    ItemIndex::Locked locked(items_, key);
    replaced = locked.find();
    const uint64_t number = cas_.next();
    if (replaced == kNoSlot || ItemView(slots_, replaced).cas() != expected ||
        !may_be_succeeded(replaced)) {
      return false;
    }
    // The expiry is read under the lock, since touch may have changed it.
    writer->seal(number, ItemView(slots_, replaced).exptime());
    locked.publish(writer->place().slot, clock_.now());
    if (cas != nullptr) {
      *cas = number;
    }
  }
  items_.reclaim(replaced);
  return true;
}

Outcome StoreEngine::remove(Session& session, const HashedKey& key) {
  const Removed removed = take_out(key);
  if (!removed.live) {
    session.counters().delete_misses.add();
    return Outcome::kNotFound;
  }
  class_counters(session, removed.slot).delete_hits.add();
  return Outcome::kDeleted;
}

Outcome StoreEngine::touch(Session& session, const HashedKey& key, uint32_t exptime,
                           ItemView* view) {
  session.counters().touch_cmds.add();
  ItemIndex::Locked locked(items_, key);
  const SlotReference slot = locked.find();
  if (slot == kNoSlot || !is_live(slot)) {
    session.counters().touch_misses.add();
    return Outcome::kNotFound;
  }
  locked.change_expiry(exptime);
  *view = ItemView(slots_, slot);
  class_counters(session, slot).touch_hits.add();
  return Outcome::kTouched;
}

Outcome StoreEngine::refuse(const StoreRequest& request, Outcome outcome) {
  if (request.mode == StoreMode::kSet) {
    take_out(request.key);
  }
  return outcome;
}

StoreEngine::Removed StoreEngine::take_out(const HashedKey& key) {
  Removed removed;
  {
    ItemIndex::Locked locked(items_, key);
    removed.slot = locked.find();
    if (removed.slot == kNoSlot) {
      return removed;
    }
    removed.live = is_live(removed.slot);
    locked.retire();
  }
  items_.reclaim(removed.slot);
  return removed;
}

}  // namespace pmcached::engine
