#include <libpmem.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/crash/crash_history.h"
#include "tests/crash/crash_image.h"
#include "tests/crash/persistence_recorder.h"
#include "tests/support/cache_fixture.h"
#include "tests/support/randomness.h"
#include "tests/support/slot_accounting.h"

using pmcached::tests::PersistenceRecorder;

// libpmem's functions as this program, libpmemobj included, sees them: on tmpfs nothing has to be
// flushed, so all they do besides the stores is to tell the recorder.
extern "C" {

void pmem_flush(const void* at, size_t size) {
  if (auto* recorder = PersistenceRecorder::active().load(std::memory_order_acquire)) {
    recorder->on_flush(at, size);
  }
}
void pmem_drain() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (auto* recorder = PersistenceRecorder::active().load(std::memory_order_acquire)) {
    recorder->on_drain();
  }
}
void pmem_persist(const void* at, size_t size) {
  pmem_flush(at, size);
  pmem_drain();
}
int pmem_is_pmem(const void* /*at*/, size_t /*size*/) {
  return 1;
}

/// What libpmem does after a copy, by the flags it was given.
static void finish_copy(const void* at, size_t size, unsigned flags) {
  auto* recorder = PersistenceRecorder::active().load(std::memory_order_acquire);
  if (recorder != nullptr && (flags & PMEM_F_MEM_NOFLUSH) == 0) {
    if ((flags & PMEM_F_MEM_NONTEMPORAL) != 0) {
      recorder->on_streamed(at, size);
    } else {
      recorder->on_flush(at, size);
    }
  }
  if ((flags & (PMEM_F_MEM_NODRAIN | PMEM_F_MEM_NOFLUSH)) == 0) {
    pmem_drain();
  }
}
void* pmem_memcpy(void* to, const void* from, size_t size, unsigned flags) {
  std::memcpy(to, from, size);
  finish_copy(to, size, flags);
  return to;
}
void* pmem_memmove(void* to, const void* from, size_t size, unsigned flags) {
  std::memmove(to, from, size);
  finish_copy(to, size, flags);
  return to;
}
void* pmem_memset(void* to, int value, size_t size, unsigned flags) {
  std::memset(to, value, size);
  finish_copy(to, size, flags);
  return to;
}

}  // extern "C"

namespace pmcached::tests {
namespace {

struct Scenario {
  const char* name;
  CrashHistory::Mix mix;
  bool evicts = false;  ///< items may be missing, but never wrong
  size_t operations = 300;
  double chance = 0.05;  ///< of a moment at each flush and drain
};

/// Runs a history on one pool under the recorder, then replays its crashes on another.
class CrashSimulation {
 public:
  CrashSimulation(Scenario scenario, uint64_t seed) : scenario_(scenario), random_(seed) {
    CacheFixture fixture(config(""));
    fixture.set("warm", "up");  // The base is a pool in use, not a new one.
    fixture.remove("warm");
    fixture.save_image();
    image_ = std::make_unique<CrashImage>(fixture.path() + ".crash", fixture.path() + ".image");
    std::filesystem::remove(fixture.path() + ".image");

    CrashHistory history(fixture, scenario.mix, seed);
    PersistenceRecorder recorder(fixture.region(), scenario.chance, seed);
    for (size_t i = 0; i < scenario.operations; ++i) {
      recorder.name_operation(i);
      history.run_one();
    }
    recorder.stop();
    moments_ = recorder.moments();
    blocks_ = recorder.blocks();
    effects_ = history.effects();
    keys_ = history.keys();
  }

  size_t moments() const { return moments_.size(); }

  /// Crashes at every moment in every way, recovers, and compares.
  void replay() {
    size_t operation = 0;
    for (const Moment& moment : moments_) {
      for (; operation < moment.operation; ++operation) {
        apply(effects_[operation], &before_);
      }
      image_->advance(moment.made_durable);
      for (const Cut cut : {Cut::kProcessKilled, Cut::kPowerAllArrived, Cut::kNothingArrived,
                            Cut::kSomeArrived, Cut::kSomeArrived}) {
        image_->write(blocks_, moment.pending, cut, random_);
        INFO("during operation " << operation << ", " << effects_[operation].name << " of "
                                 << effects_[operation].key);
        CAPTURE(static_cast<int>(cut), moment.pending.size());
        check(effects_[operation], cut);
      }
    }
  }

 private:
  using State = std::map<std::string, Item>;

  CacheFixture::Config config(const std::string& path) const {
    CacheFixture::Config config;
    config.path = path;
    config.options.item_size_max_bytes = uint64_t{4} << 20;
    config.options.salvage_after_power_loss = true;  // tmpfs cannot promise what PMEM would.
    return config;
  }
  static void apply(const OperationEffect& effect, State* state) {
    for (const auto& [key, item] : effect.changes) {
      if (item) {
        (*state)[key] = *item;
      } else {
        state->erase(key);
      }
    }
  }
  static std::optional<Item> find(const State& state, const std::string& key) {
    const auto it = state.find(key);
    return it == state.end() ? std::nullopt : std::optional(it->second);
  }

  void check(const OperationEffect& in_flight, Cut cut) {
    CacheFixture::Config recovered_config = config(image_->path());
    recovered_config.wall = in_flight.wall;
    CacheFixture recovered(recovered_config);
    REQUIRE(recovered.region().last_run() ==
            (cut == Cut::kProcessKilled ? pmem::LastRun::kProcessDied : pmem::LastRun::kPowerLost));
    const engine::RecoveryReport& report = recovered.cache().recovery();
    REQUIRE(report.damaged_slabs == 0);
    REQUIRE(report.damaged_records <= (cut == Cut::kProcessKilled ? 0 : 1));
    REQUIRE(report.superseded <= 1);

    const State found = contents(recovered, keys_);
    compare(found, in_flight);
    if (report.expired == 0) {
      require_slots_add_up(recovered, keys_);
    }
    uint64_t cas = 0;
    REQUIRE(recovered.store(engine::StoreMode::kSet, "after", "x", 0, 0, 0, &cas) ==
            engine::Outcome::kStored);
    REQUIRE(cas > in_flight.highest_cas);
    // Whatever recovery dropped, it dropped for good.
    if (!scenario_.evicts && random_() % 4 == 0) {
      recovered.restart_cleanly();
      REQUIRE(recovered.cache().recovery().damaged_records == 0);
      REQUIRE(recovered.cache().recovery().superseded == 0);
      REQUIRE(contents(recovered, keys_) == found);
    }
  }
  /// Holds what was found against the states before and after the operation in flight.
  void compare(const State& found, const OperationEffect& in_flight) {
    State after = before_;
    apply(in_flight, &after);
    // Time has passed whether or not the operation came to its end.
    const State& before = in_flight.is_time ? after : before_;
    // A flush has happened to all or to none.
    const bool is_all_or_nothing = in_flight.is_flush && !scenario_.evicts;
    REQUIRE((!is_all_or_nothing || found.empty() || found.size() == before.size()));
    for (const std::string& key : keys_) {
      const auto item = find(found, key);
      if (!item && (scenario_.evicts || (in_flight.key == key && in_flight.is_store))) {
        continue;
      }
      INFO(key);
      const bool is_old = item == find(before, key);
      const bool is_new = item == find(after, key);
      REQUIRE((is_old || is_new));
    }
  }

  Scenario scenario_;
  std::mt19937_64 random_;
  std::unique_ptr<CrashImage> image_;
  std::vector<Moment> moments_;
  std::set<size_t> blocks_;
  std::vector<OperationEffect> effects_;
  std::vector<std::string> keys_;
  State before_;
};

void run(const Scenario& scenario) {
  const uint64_t seed = test_seed();
  INFO(scenario.name << ", seed " << seed);
  CrashSimulation simulation(scenario, seed);
  REQUIRE(simulation.moments() > 0);
  simulation.replay();
}

TEST_CASE("after a crash at any moment every acknowledged operation is there, and nothing else") {
  run({.name = "all operations", .mix = {.large_share = 32}});
}

TEST_CASE("after a crash at any moment chunked values are whole or absent") {
  run({.name = "large values",
       .mix = {.large_share = 3, .keys = 8},
       .operations = 100,
       .chance = 0.1});
}

TEST_CASE("after a crash at any moment expired items stay away and flushes to come still come") {
  run({.name = "expiry", .mix = {.expiry = true, .large_share = 64}});
}

TEST_CASE("after a crash at any moment of a cache that evicts, items are right or absent") {
  run({.name = "eviction",
       .mix = {.large_share = 2, .large_bytes = 2'000'000, .keys = 60},
       .evicts = true,
       .operations = 150,
       .chance = 0.015});
}

TEST_CASE("the recorder guarantees a line once it was flushed and then drained, not before") {
  CacheFixture fixture;
  const pmem::Persister& persister = fixture.region().persister();
  const uint64_t slab = fixture.region().slab_ranges().front().first;
  std::byte* at = fixture.region().base() + slab * pmem::kSlabSize;
  const uint64_t number = slab * pmem::kLinesPerSlab;
  PersistenceRecorder recorder(fixture.region(), 1, 1);

  at[0] = std::byte{1};
  persister.flush(at, 1);  // Moment 0
  at[64] = std::byte{2};   // Never flushed.
  persister.copy(at + 128, at, 64);
  persister.fence();     // Moment 1
  at[0] = std::byte{3};  // Flushed before, but not since.
  persister.fence();     // Moment 2
  recorder.stop();

  const std::vector<Moment>& moments = recorder.moments();
  REQUIRE(moments.size() == 3);
  const auto pending_in = [&](size_t moment) {
    std::vector<uint64_t> numbers;
    for (const LineContent& line : moments[moment].pending) {
      numbers.push_back(line.number - number);
    }
    return numbers;
  };
  REQUIRE(pending_in(0) == std::vector<uint64_t>{0});
  REQUIRE(pending_in(1) == std::vector<uint64_t>{0, 1, 2});
  REQUIRE(pending_in(2) == std::vector<uint64_t>{0, 1});
  REQUIRE(moments[1].made_durable.empty());
  REQUIRE(moments[2].made_durable.size() == 2);
  REQUIRE(moments[2].made_durable[0].bytes[0] == std::byte{1});
  REQUIRE(moments[1].pending[2].streamed);
  REQUIRE_FALSE(moments[1].pending[0].streamed);
}

}  // namespace
}  // namespace pmcached::tests
