#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/cache.h"

namespace pmcached::tests {

/// What a get returned, as plain values.
struct Item {
  std::string value;
  uint64_t client_flags = 0;
  uint64_t cas = 0;
  uint32_t exptime = 0;

  friend bool operator==(const Item&, const Item&) = default;
};

/// The value of a view, its segments joined.
inline std::string value_of(const engine::ItemView& view) {
  std::string value;
  for (uint32_t i = 0; i < view.segment_count(); ++i) {
    value += view.segment(i);
  }
  return value;
}

/// The engine's calls in the shape that tests want: one call is one turn of one session. Each
/// thread makes its own.
class CacheClient {
 public:
  CacheClient() = default;
  explicit CacheClient(engine::Cache& cache) { attach(cache); }

  void attach(engine::Cache& cache) {
    cache_ = &cache;
    session_ = cache.open_session();
  }
  void detach() {
    session_.reset();
    cache_ = nullptr;
  }

  engine::Cache& cache() { return *cache_; }
  engine::Session& session() { return *session_; }

  /// `cas`, if not null, receives the new CAS number when kStored.
  engine::Outcome store(engine::StoreMode mode, std::string_view key, std::string_view value,
                        uint64_t client_flags = 0, int64_t exptime = 0, uint64_t expected_cas = 0,
                        uint64_t* cas = nullptr) {
    const engine::Session::Turn turn(*session_);
    engine::PendingStore pending;
    const engine::Outcome begun =
        cache_->begin_store(*session_,
                            {.mode = mode,
                             .key = engine::hash_key(key),
                             .client_flags = client_flags,
                             .exptime = cache_->clock().absolute_expiry(exptime),
                             .length = static_cast<uint32_t>(value.size()),
                             .expected_cas = expected_cas},
                            &pending);
    if (begun != engine::Outcome::kStored) {
      return begun;
    }
    pending.write(value);
    return cache_->finish_store(*session_, &pending, cas);
  }
  engine::Outcome set(std::string_view key, std::string_view value, uint64_t client_flags = 0,
                      int64_t exptime = 0) {
    return store(engine::StoreMode::kSet, key, value, client_flags, exptime);
  }
  std::optional<Item> get(std::string_view key) {
    const engine::Session::Turn turn(*session_);
    engine::ItemView view;
    if (!cache_->get(*session_, engine::hash_key(key), &view)) {
      return std::nullopt;
    }
    return Item{.value = value_of(view),
                .client_flags = view.client_flags(),
                .cas = view.cas(),
                .exptime = view.exptime()};
  }
  std::optional<std::string> value(std::string_view key) {
    auto item = get(key);
    return item ? std::optional(std::move(item->value)) : std::nullopt;
  }
  engine::Outcome remove(std::string_view key) {
    const engine::Session::Turn turn(*session_);
    return cache_->remove(*session_, engine::hash_key(key));
  }
  engine::Outcome touch(std::string_view key, int64_t exptime) {
    const engine::Session::Turn turn(*session_);
    return cache_->touch(*session_, engine::hash_key(key),
                         cache_->clock().absolute_expiry(exptime));
  }
  std::optional<std::string> get_and_touch(std::string_view key, int64_t exptime) {
    const engine::Session::Turn turn(*session_);
    engine::ItemView view;
    if (!cache_->get_and_touch(*session_, engine::hash_key(key),
                               cache_->clock().absolute_expiry(exptime), &view)) {
      return std::nullopt;
    }
    return value_of(view);
  }
  engine::Arithmetic add(std::string_view key, uint64_t delta, bool increment) {
    const engine::Session::Turn turn(*session_);
    return cache_->add(*session_, engine::hash_key(key), delta, increment);
  }
  void flush_all(int64_t delay = 0) {
    const engine::Session::Turn turn(*session_);
    cache_->flush_all(*session_, static_cast<uint32_t>(cache_->clock().now() + delay));
  }

 private:
  engine::Cache* cache_ = nullptr;
  std::unique_ptr<engine::Session> session_;
};

}  // namespace pmcached::tests
