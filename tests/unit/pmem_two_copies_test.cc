#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "pmem/run_state_store.h"
#include "pmem/two_copies.h"

namespace pmcached::pmem {
namespace {

using Copies = std::array<RunState, 2>;

CopyChoice<RunState> choose(const Copies& copies) {
  return choose_copy(std::span<const RunState, 2>(copies));
}

RunState state_with_cas(uint64_t after, uint64_t cas) {
  return seal_after(after, RunState{.cas_limit = cas});
}

TEST_CASE("of two intact copies the one with the higher sequence counts") {
  const RunState older = state_with_cas(4, 100);
  const RunState newer = state_with_cas(5, 200);
  CHECK(choose({older, newer}).newest->cas_limit == 200);
  CHECK(choose({newer, older}).newest->cas_limit == 200);
  CHECK_FALSE(choose({newer, older}).any_damaged);
}

TEMPLATE_TEST_CASE("every flipped byte of one copy leaves the other to count", "", RunState,
                   Superblock) {
  TestType value{};
  value = seal_after(9, value);
  for (size_t at = 0; at < sizeof(TestType); ++at) {
    std::array<TestType, 2> copies = {value, value};
    reinterpret_cast<unsigned char*>(copies.data())[at] ^= 0x40;
    const CopyChoice<TestType> choice = choose_copy(std::span<const TestType, 2>(copies));
    CHECK(choice.any_damaged);
    REQUIRE(choice.newest);
    CHECK(std::memcmp(&*choice.newest, &value, sizeof(value)) == 0);
  }
}

TEST_CASE("two damaged copies, or two of zeros, count as nothing") {
  RunState bad = state_with_cas(1, 1);
  bad.cas_limit = 2;
  CHECK_FALSE(choose({bad, bad}).newest);
  CHECK_FALSE(choose({RunState{}, RunState{}}).newest);
}

TEST_CASE("an update torn at any byte shows the state before or after it") {
  const RunState before = state_with_cas(10, 1000);
  const RunState after = state_with_cas(11, 2000);
  for (size_t copy = 0; copy < 2; ++copy) {
    for (size_t torn = 0; torn <= sizeof(RunState); ++torn) {
      Copies copies = {copy == 0 ? before : after, before};
      std::memcpy(&copies[copy], &after, torn);
      const CopyChoice<RunState> choice = choose(copies);
      REQUIRE(choice.newest);
      const uint64_t cas = choice.newest->cas_limit;
      CHECK((cas == 1000 || cas == 2000));
      // What the first copy made durable is never lost again.
      if (copy == 1) CHECK(cas == 2000);
    }
  }
}

TEST_CASE("equalising rewrites what differs") {
  const RunState good = state_with_cas(3, 30);
  Copies copies = {state_with_cas(2, 20), good};
  equalise_copies(std::span<RunState, 2>(copies), good, Persister(Medium::kAnonymous));
  CHECK(std::memcmp(&copies[0], &copies[1], sizeof(good)) == 0);
  CHECK(choose(copies).newest->cas_limit == 30);
}

TEST_CASE("a run state update reaches both copies with the next sequence") {
  const RunState initial = state_with_cas(0, 5);
  Copies copies = {initial, initial};
  const Persister dram(Medium::kAnonymous);
  RunStateStore store(copies, initial, dram);
  store.update([](RunState& state) { state.flush_cas = 77; });
  for (const RunState& copy : copies) {
    CHECK(is_intact(copy));
    CHECK(copy.sequence == 2);
    CHECK(copy.flush_cas == 77);
    CHECK(copy.cas_limit == 5);
  }
  CHECK(store.get().flush_cas == 77);
}

TEST_CASE("run state updates of several threads all count") {
  constexpr uint64_t kUpdates = 500;
  constexpr uint64_t kThreads = 3;
  Copies copies{};
  const Persister dram(Medium::kAnonymous);
  RunStateStore store(copies, RunState{}, dram);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&store] {
      for (uint64_t n = 0; n < kUpdates; ++n) {
        store.update([](RunState& state) { ++state.cas_limit; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(store.get().cas_limit == kThreads * kUpdates);
  CHECK(store.get().sequence == kThreads * kUpdates);
  CHECK(choose(copies).newest->cas_limit == kThreads * kUpdates);
}

}  // namespace
}  // namespace pmcached::pmem
