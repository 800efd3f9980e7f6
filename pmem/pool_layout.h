#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// The bytes of a pool file that belong to us: layout only, no logic. docs/pool_format.md tells the
/// same story with a worked example. All integers are little-endian. Every size and offset is
/// asserted below; changing one means a new kLayoutVersion or a feature bit.
///
/// Addressing. Everything is named by its offset from the start of the pool file (which is the
/// base of the mapping):
///   slab number    = offset / 1 MiB     slabs are aligned to 1 MiB within the file
///   slot reference = offset / 64        the 64-byte line at which a slot starts
/// so neither needs a translation table, and numbers have holes where extents meet.
namespace pmcached::pmem {

static_assert(std::endian::native == std::endian::little);

inline constexpr uint64_t kPoolMagic = 0x6465686361636d70;  // "pmcached"
inline constexpr uint32_t kLayoutVersion = 1;
inline constexpr char kLayoutName[] = "pmcached";

inline constexpr uint64_t kLineSize = 64;
inline constexpr uint64_t kPageSize = 4096;
inline constexpr uint64_t kSlabSize = uint64_t{1} << 20;
inline constexpr uint64_t kLinesPerSlab = kSlabSize / kLineSize;
inline constexpr uint64_t kMaxSlotLines = kLinesPerSlab / 2;
/// The largest object libpmemobj can allocate.
inline constexpr uint64_t kMaxExtentBytes = 17'177'771'968;
inline constexpr uint32_t kMaxExtents = 96;
inline constexpr uint32_t kMaxSizeClasses = 63;
inline constexpr uint64_t kMinPoolBytes = uint64_t{64} << 20;
/// What slot references of 40 bits can address: 64 TiB.
inline constexpr uint64_t kMaxPoolBytes = uint64_t{1} << 46;

/// A contiguous run of slabs together with the directory that describes them.
struct Extent {
  uint64_t offset;            ///< of the extent's first byte
  uint64_t bytes;             ///< whole extent, directory and alignment included
  uint64_t directory_offset;  ///< of the primary words; the mirror words start at the first page
                              ///< boundary behind them, so that no page holds both of a slab
  uint32_t first_slab;
  uint32_t slab_count;
};
static_assert(sizeof(Extent) == 32);
static_assert(offsetof(Extent, directory_offset) == 16 && offsetof(Extent, first_slab) == 24 &&
              offsetof(Extent, slab_count) == 28);

/// Which formats a program must understand, as ext4 words it: an unknown `compatible` bit may be
/// ignored, an unknown `read_only_compatible` bit allows reading, an unknown `incompatible` bit
/// forbids opening.
struct FeatureWords {
  uint64_t compatible;
  uint64_t read_only_compatible;
  uint64_t incompatible;
};
static_assert(sizeof(FeatureWords) == 24);

/// What a pool is. Written at creation and growth. Two copies; the valid one with the higher
/// sequence counts.
struct Superblock {
  uint64_t magic;
  uint64_t sequence;
  uint32_t layout_version;
  uint32_t checksum;  ///< CRC32C of the whole struct with this field as 0
  FeatureWords features;
  std::array<uint8_t, 16> uuid;
  uint64_t created_at;  ///< Unix seconds
  uint64_t pool_bytes;  ///< of the file, as of the last growth
  uint32_t slab_bytes;  ///< kSlabSize
  uint32_t line_bytes;  ///< kLineSize
  uint32_t extent_count;
  uint32_t size_class_count;
  std::array<uint32_t, 64> slot_lines;      ///< slot size in lines, by size class; 0 past the last
  std::array<Extent, kMaxExtents> extents;  ///< ascending; zero past the last
  uint32_t allocator_checksum;  ///< CRC32C of libpmemobj's own metadata, which never changes
  std::array<uint8_t, 668> reserved;
};
static_assert(sizeof(Superblock) == 4096);
static_assert(offsetof(Superblock, layout_version) == 16 && offsetof(Superblock, checksum) == 20 &&
              offsetof(Superblock, features) == 24 && offsetof(Superblock, uuid) == 48 &&
              offsetof(Superblock, created_at) == 64 && offsetof(Superblock, pool_bytes) == 72 &&
              offsetof(Superblock, slab_bytes) == 80 && offsetof(Superblock, slot_lines) == 96 &&
              offsetof(Superblock, extents) == 352 &&
              offsetof(Superblock, allocator_checksum) == 3424);
static_assert(std::is_trivially_copyable_v<Superblock>);

/// What the last run left behind. Rewritten as a whole, in two copies, whenever one of its fields
/// changes: about once a second and at every flush_all. 256 bytes, the unit in which PMEM modules
/// write and fail, so that the copies share none.
struct RunState {
  uint64_t sequence;
  uint32_t checksum;             ///< CRC32C of the whole struct with this field as 0
  uint32_t clean;                ///< 1 after a clean stop, 0 while a server runs
  std::array<char, 40> boot_id;  ///< /proc/sys/kernel/random/boot_id of the run, NUL-padded
  uint64_t cas_limit;            ///< every CAS number ever issued is below it
  uint64_t wall_clock;           ///< Unix seconds: no earlier time was ever observed after this one
  uint64_t flush_cas;            ///< records with cas <= flush_cas were flushed
  uint64_t flush_at;             ///< a flush_all is due at this Unix second; 0 = none
  std::array<uint8_t, 168> reserved;
};
static_assert(sizeof(RunState) == 256);
static_assert(offsetof(RunState, checksum) == 8 && offsetof(RunState, clean) == 12 &&
              offsetof(RunState, boot_id) == 16 && offsetof(RunState, cas_limit) == 56 &&
              offsetof(RunState, wall_clock) == 64 && offsetof(RunState, flush_cas) == 72 &&
              offsetof(RunState, flush_at) == 80);
static_assert(std::is_trivially_copyable_v<RunState>);

/// What we keep in the libpmemobj root object, from the object's first page boundary on: libpmemobj
/// aligns objects to 16 bytes only, so the object is one page larger than this.
struct PoolRoot {
  std::array<Superblock, 2> superblock;
  std::array<RunState, 2> run_state;
};
static_assert(sizeof(PoolRoot) == 2 * 4096 + 2 * 256);
static_assert(offsetof(PoolRoot, run_state) == 8192);
inline constexpr uint64_t kRootObjectBytes = sizeof(PoolRoot) + kPageSize;

/// A directory word: 8 bytes a slab, changed by one atomic store.
///
///   63                32 31          16 15     8 7      0
///   +-------------------+--------------+--------+--------+
///   | check (CRC32C)    | generation   | class  | state  |
///   +-------------------+--------------+--------+--------+
///
/// The check covers the slab number (4 bytes) and then the low half, so a flipped bit or a word at
/// the wrong place is noticed. Each word stands twice: primary and mirror.
enum class SlabState : uint8_t {
  kFree = 0x5a,      ///< holds no records
  kAssigned = 0xa5,  ///< carved into slots of `class`
};

}  // namespace pmcached::pmem
