#pragma once

#include <cstddef>
#include <cstdint>

/// What memcached's protocol allows a client to send.
namespace pmcached::server {

inline constexpr size_t kMaxKeyBytes = 250;

/// The largest data block a store may announce; what may be stored is the cache's decision.
inline constexpr uint32_t kMaxValueBytes = 0x7fffffff - 2;

/// Bytes that may arrive without a line feed before the client is taken for something else than a
/// memcached client. Lines that arrive whole may be longer.
inline constexpr size_t kMaxUnfinishedLine = 2048;

/// The same for get and gets, whose number of keys memcached leaves open. A bound of our own, so
/// that a client cannot make us buffer without end: 8000 of the longest keys.
inline constexpr size_t kMaxUnfinishedRetrieval = size_t{2} << 20;

/// Spaces in front of get and gets before memcached no longer looks for them.
inline constexpr size_t kMaxLeadingSpaces = 100;

/// Words memcached splits a command line into at once; words behind belong to keys of a get alone.
inline constexpr size_t kMaxTokens = 23;

}  // namespace pmcached::server
