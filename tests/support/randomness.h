#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>

namespace pmcached::tests {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
/// How much less a test does where every access is checked.
inline constexpr int kSlowdown = 8;
#else
inline constexpr int kSlowdown = 1;
#endif
#else
inline constexpr int kSlowdown = 1;
#endif

/// The number that an environment variable holds; 0 without one.
inline uint64_t number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

/// The seed of a randomised test, which the test prints with INFO. PMCACHED_TEST_SEED replays one.
inline uint64_t test_seed() {
  const uint64_t replayed = number_in_environment("PMCACHED_TEST_SEED");
  return replayed != 0 ? replayed : std::random_device{}();
}

/// `count` rounds of a randomised test: fewer under a sanitizer, PMCACHED_SOAK times as many in a
/// soak.
inline int rounds(int count) {
  const auto soak = static_cast<int>(number_in_environment("PMCACHED_SOAK"));
  return std::max(1, count / kSlowdown * std::max(1, soak));
}

}  // namespace pmcached::tests
