#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "pmem/alignment.h"
#include "pmem/region.h"

namespace pmcached::pmem {
namespace {

// Slabs start at number 1: slot reference 0 means "no slot", so the first MiB holds none.
constexpr uint32_t kFirstSlab = 1;
// The base is aligned to it, so that the kernel can back slabs with huge pages.
constexpr uint64_t kHugePageSize = uint64_t{2} << 20;

/// Anonymous memory, unmapped with the object.
class AnonymousMapping {
 public:
  explicit AnonymousMapping(size_t bytes)
      : bytes_(bytes),
        start_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~AnonymousMapping() {
    if (valid()) munmap(start_, bytes_);
  }
  AnonymousMapping(AnonymousMapping&& other) noexcept
      : bytes_(other.bytes_), start_(std::exchange(other.start_, MAP_FAILED)) {}
  AnonymousMapping& operator=(AnonymousMapping&&) = delete;

  bool valid() const { return start_ != MAP_FAILED; }
  std::byte* start() const { return static_cast<std::byte*>(start_); }

 private:
  size_t bytes_;
  void* start_;
};

class DramRegion final : public Region {
 public:
  DramRegion(AnonymousMapping mapping, uint32_t slab_count, std::vector<uint32_t> slot_lines)
      : Region(Medium::kAnonymous),
        mapping_(std::move(mapping)),
        primary_(slab_count),
        mirror_(slab_count) {
    const auto start = reinterpret_cast<uintptr_t>(mapping_.start());
    base_ = mapping_.start() + (align_up(start, kHugePageSize) - start);
    slab_ranges_ = {{.first = kFirstSlab, .count = slab_count}};
    bytes_ = uint64_t{slab_count} * kSlabSize;
    slot_lines_ = std::move(slot_lines);
    description_ =
        fmt::format("{} MiB of DRAM; no item survives the end of the server", slab_count);
    directory_ = std::make_unique<SlabDirectory>(
        std::vector<SlabDirectory::Section>{
            {.first_slab = kFirstSlab, .primary = primary_, .mirror = mirror_}},
        persister_);
    directory_->format();
    run_state_ = std::make_unique<RunStateStore>(copies_, RunState{}, persister_);
  }

  Status close_cleanly() override { return {}; }

 private:
  AnonymousMapping mapping_;
  std::vector<uint64_t> primary_;
  std::vector<uint64_t> mirror_;
  std::array<RunState, 2> copies_{};
};

}  // namespace

Status make_dram_region(uint64_t bytes, std::vector<uint32_t> slot_lines,
                        std::unique_ptr<Region>* region) {
  const uint64_t slab_count = bytes / kSlabSize;
  if (slab_count == 0) {
    return {
        Status::Code::kInvalid,
        fmt::format("{} bytes are too little memory for a cache: give it 1 MiB or more", bytes)};
  }
  if (slab_count > kMaxPoolBytes / kSlabSize - kFirstSlab) {
    return {Status::Code::kInvalid,
            fmt::format("a cache cannot address {} MiB of memory: give it less than {} MiB",
                        slab_count, kMaxPoolBytes / kSlabSize)};
  }
  AnonymousMapping mapping((kFirstSlab + slab_count) * kSlabSize + kHugePageSize);
  if (!mapping.valid()) {
    return {Status::Code::kNoSpace,
            fmt::format("cannot reserve {} MiB of memory: {}; ask for less, or raise the limit of "
                        "the address space (ulimit -v)",
                        slab_count, std::strerror(errno))};
  }
  *region = std::make_unique<DramRegion>(std::move(mapping), static_cast<uint32_t>(slab_count),
                                         std::move(slot_lines));
  return {};
}

}  // namespace pmcached::pmem
