#include "pmem/object_pool_header.h"

#include <fmt/format.h>
#include <libpmemobj.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

#include "pmem/alignment.h"
#include "pmem/checksum.h"
#include "pmem/pool_layout.h"

namespace pmcached::pmem {
namespace {

constexpr std::string_view kSignature("PMEMOBJ\0", 8);
constexpr std::string_view kPoolSetSignature("PMEMPOOLSET");
constexpr uint32_t kMajorVersion = 6;
constexpr size_t kMajorVersionOffset = 8;
constexpr size_t kLayoutNameOffset = 4096;
constexpr size_t kRootOffsetOffset = 6144;
constexpr size_t kRunIdOffset = 6152;
constexpr size_t kRootSizeOffset = 6160;
constexpr size_t kProcessStateOffset = 6688;
// The root object is the first allocation, so it is near the front of the heap.
constexpr uint64_t kHighestRootOffset = kMinPoolBytes - kRootObjectBytes;

template <typename T>
T read_at(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

std::string_view text_at(std::span<const std::byte> bytes, size_t offset, size_t size) {
  return {reinterpret_cast<const char*>(bytes.data()) + offset, size};
}

/// `text` up to its first NUL, with what cannot be printed as question marks.
std::string printable(std::string_view text) {
  std::string result(text.substr(0, text.find('\0')));
  std::replace_if(
      result.begin(), result.end(),
      [](char c) { return std::isprint(static_cast<unsigned char>(c)) == 0; }, '?');
  return result;
}

Status check_identity(const std::string& path, std::span<const std::byte> header) {
  if (text_at(header, 0, kPoolSetSignature.size()) == kPoolSetSignature) {
    return {Status::Code::kIncompatible,
            fmt::format("{} describes a pool set; name a plain pool file instead", path)};
  }
  if (text_at(header, 0, kSignature.size()) != kSignature) {
    return {Status::Code::kCorrupt,
            fmt::format("{} is not a pool: it begins with \"{}\", not with \"PMEMOBJ\"; name "
                        "another file, or delete it to start with an empty cache",
                        path, printable(text_at(header, 0, kSignature.size())))};
  }
  const auto major = read_at<uint32_t>(header, kMajorVersionOffset);
  if (major != kMajorVersion) {
    return {Status::Code::kIncompatible,
            fmt::format("{} is a libpmemobj pool of version {}, this program reads version {}; "
                        "name another file, or delete it to start with an empty cache",
                        path, major, kMajorVersion)};
  }
  const std::string_view layout = text_at(header, kLayoutNameOffset, PMEMOBJ_MAX_LAYOUT);
  if (layout.substr(0, layout.find('\0')) != kLayoutName) {
    return {Status::Code::kIncompatible,
            fmt::format("{} is the pool of another program: its layout name is \"{}\", not "
                        "\"{}\"; name another file",
                        path, printable(layout).substr(0, 80), kLayoutName)};
  }
  return {};
}

}  // namespace

Status find_pool_root(const std::string& path, std::span<const std::byte> header,
                      uint64_t file_bytes, uint64_t* root_page) {
  if (Status status = check_identity(path, header); !status.ok()) return status;
  if (file_bytes < kMinPoolBytes) {
    return {Status::Code::kCorrupt,
            fmt::format("pool {} is truncated: it has {} bytes, the smallest pool has {}; restore "
                        "it from a copy, or delete it to start with an empty cache",
                        path, file_bytes, kMinPoolBytes)};
  }
  const auto root_offset = read_at<uint64_t>(header, kRootOffsetOffset);
  const auto root_bytes = read_at<uint64_t>(header, kRootSizeOffset);
  if (root_offset < kObjectPoolHeaderBytes || root_offset > kHighestRootOffset ||
      root_bytes < kRootObjectBytes) {
    return {
        Status::Code::kCorrupt,
        fmt::format("pool {} has no usable root object: libpmemobj's header says {} bytes at "
                    "byte {}; restore it from a copy, or delete it to start with an empty cache",
                    path, root_bytes, root_offset)};
  }
  *root_page = align_up(root_offset, kPageSize);
  return {};
}

uint32_t checksum_allocator(std::span<const std::byte> head) {
  uint32_t crc = kCrc32cStart;
  const auto extend = [&](size_t from, size_t to) {
    crc = extend_crc32c(crc, head.data() + from, to - from);
  };
  extend(kLayoutNameOffset, kRunIdOffset);
  extend(kRootSizeOffset, kProcessStateOffset);
  extend(kObjectPoolHeaderBytes, head.size());
  return ~crc;
}

}  // namespace pmcached::pmem
