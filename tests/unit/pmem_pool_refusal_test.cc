#include <libpmemobj.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "pmem/two_copies.h"
#include "tests/unit/pmem_test_pool.h"

namespace pmcached::pmem {
namespace {

using Catch::Contains;
using Code = Status::Code;
using test::kMib;
using test::open_or_fail;
using test::open_refused;
using test::pool_options;
using test::RawFile;
using test::ScratchFolder;

/// A pool that was created and closed.
class ClosedPool {
 public:
  ClosedPool() { REQUIRE(open_or_fail(pool_options(path()))->close_cleanly().ok()); }
  std::string path() const { return folder_.file("pool"); }
  RawFile raw() const { return RawFile(path()); }

  /// Changes both superblock copies as a program would that writes valid ones.
  template <typename Change>
  void change_superblock(Change change) const {
    const RawFile file = raw();
    Superblock superblock = file.superblock();
    change(superblock);
    superblock = seal_after(superblock.sequence, superblock);
    file.write_as(file.superblock_offset(0), superblock);
    file.write_as(file.superblock_offset(1), superblock);
  }

 private:
  ScratchFolder folder_;
};

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

void check_refusal(const PoolOptions& options, Code code, const std::vector<std::string>& parts) {
  const Status status = open_refused(options);
  CHECK(status.code() == code);
  CHECK_THAT(status.message(), Contains(options.path));
  for (const std::string& part : parts) CHECK_THAT(status.message(), Contains(part));
  CHECK(status.message().find('\n') == std::string::npos);
}

TEST_CASE("a pool in a folder that is not there is refused") {
  ScratchFolder folder;
  check_refusal(pool_options(folder.file("missing/pool")), Code::kNotFound,
                {"cannot create pool", "missing does not exist; create it"});
}

TEST_CASE("a folder in place of a pool is refused with a proposal") {
  ScratchFolder folder;
  check_refusal(pool_options(folder.file(".")), Code::kInvalid, {"is a folder", "/pmcached.pool"});
}

TEST_CASE("a device in place of a pool is refused") {
  check_refusal(pool_options("/dev/null"), Code::kInvalid, {"is not a regular file"});
}

TEST_CASE("an empty file is refused with the remedy") {
  ScratchFolder folder;
  write_file(folder.file("pool"), "");
  check_refusal(pool_options(folder.file("pool")), Code::kCorrupt, {"is empty; delete it"});
}

TEST_CASE("a file shorter than a pool's headers is refused with its size") {
  ScratchFolder folder;
  write_file(folder.file("pool"), std::string(100, 'x'));
  check_refusal(pool_options(folder.file("pool")), Code::kCorrupt,
                {"is not a pool", "100 bytes", "8192"});
}

TEST_CASE("a file of another kind is refused with what it begins with") {
  ScratchFolder folder;
  write_file(folder.file("pool"), "SQLite f" + std::string(10000, '\0'));
  check_refusal(pool_options(folder.file("pool")), Code::kCorrupt,
                {"is not a pool", "\"SQLite f\"", "\"PMEMOBJ\""});
}

TEST_CASE("a pool set description is refused") {
  ScratchFolder folder;
  write_file(folder.file("pool"), "PMEMPOOLSET\n64M /a\n" + std::string(10000, '\n'));
  check_refusal(pool_options(folder.file("pool")), Code::kIncompatible, {"describes a pool set"});
}

TEST_CASE("another program's libpmemobj pool is refused with its layout name") {
  ScratchFolder folder;
  const std::string path = folder.file("pool");
  PMEMobjpool* pool = pmemobj_create(path.c_str(), "pmemkv", PMEMOBJ_MIN_POOL, 0600);
  REQUIRE(pool != nullptr);
  pmemobj_close(pool);
  check_refusal(pool_options(path), Code::kIncompatible,
                {"the pool of another program", "\"pmemkv\""});
}

TEST_CASE("a libpmemobj pool with our layout name but no root object is refused") {
  ScratchFolder folder;
  const std::string path = folder.file("pool");
  PMEMobjpool* pool = pmemobj_create(path.c_str(), kLayoutName, kMinPoolBytes, 0600);
  REQUIRE(pool != nullptr);
  pmemobj_close(pool);
  check_refusal(pool_options(path), Code::kCorrupt, {"no usable root object"});
}

TEST_CASE("a libpmemobj pool of another format version is refused by number") {
  ClosedPool pool;
  pool.raw().write_as<uint32_t>(8, 7);
  check_refusal(pool_options(pool.path()), Code::kIncompatible, {"version 7", "version 6"});
}

TEST_CASE("a truncated pool is refused with its two sizes") {
  ClosedPool pool;
  REQUIRE(truncate(pool.path().c_str(), 64 * kMib - 4096) == 0);
  check_refusal(pool_options(pool.path()), Code::kCorrupt,
                {"is truncated", "67104768", "67108864"});
}

TEST_CASE("a grown pool that lost its tail is refused with its two sizes") {
  ClosedPool pool;
  REQUIRE(open_or_fail(pool_options(pool.path(), 80))->close_cleanly().ok());
  REQUIRE(truncate(pool.path().c_str(), 72 * kMib) == 0);
  check_refusal(pool_options(pool.path()), Code::kCorrupt,
                {"is truncated", "75497472", "83886080"});
}

TEST_CASE("a pool with two damaged superblocks is refused") {
  ClosedPool pool;
  const RawFile raw = pool.raw();
  raw.flip(raw.superblock_offset(0) + 100);
  raw.flip(raw.superblock_offset(1) + 4000);
  check_refusal(pool_options(pool.path()), Code::kCorrupt,
                {"both copies of the superblock", "delete it to start with an empty cache"});
}

TEST_CASE("another layout version is refused by number") {
  ClosedPool pool;
  pool.change_superblock([](Superblock& superblock) { superblock.layout_version = 2; });
  check_refusal(pool_options(pool.path()), Code::kIncompatible,
                {"layout version 2", "reads version 1", "newer"});
  pool.change_superblock([](Superblock& superblock) { superblock.layout_version = 0; });
  check_refusal(pool_options(pool.path()), Code::kIncompatible, {"layout version 0", "older"});
}

TEST_CASE("unknown feature bits are refused by name, unless they are compatible") {
  ClosedPool pool;
  pool.change_superblock(
      [](Superblock& superblock) { superblock.features.incompatible = 1U << 5; });
  check_refusal(pool_options(pool.path()), Code::kIncompatible, {" incompatible feature bit 5"});
  pool.change_superblock([](Superblock& superblock) {
    superblock.features = {0, uint64_t{1} << 63, 0};
  });
  check_refusal(pool_options(pool.path()), Code::kIncompatible,
                {"read_only_compatible feature bit 63"});
  pool.change_superblock([](Superblock& superblock) { superblock.features = {3, 0, 0}; });
  open_or_fail(pool_options(pool.path()));
}

TEST_CASE("an intact superblock with impossible values is refused") {
  struct Impossible {
    const char* part;
    void (*change)(Superblock&);
  };
  const auto wrong = GENERATE(
      Impossible{"its magic is 0x1", [](Superblock& s) { s.magic = 1; }},
      Impossible{"slabs of 2097152 bytes", [](Superblock& s) { s.slab_bytes = 2 << 20; }},
      Impossible{"lines of 32", [](Superblock& s) { s.line_bytes = 32; }},
      Impossible{"a pool of 4096 bytes", [](Superblock& s) { s.pool_bytes = 4096; }},
      Impossible{"a pool of 18446744073709551615", [](Superblock& s) { s.pool_bytes = ~0UL; }},
      Impossible{"0 size classes", [](Superblock& s) { s.size_class_count = 0; }},
      Impossible{"64 size classes", [](Superblock& s) { s.size_class_count = 64; }},
      Impossible{"a size class of 0 lines", [](Superblock& s) { s.slot_lines[2] = 0; }},
      Impossible{"a size class of 8193 lines", [](Superblock& s) { s.slot_lines[4] = 8193; }},
      Impossible{"0 extents", [](Superblock& s) { s.extent_count = 0; }},
      Impossible{"97 extents", [](Superblock& s) { s.extent_count = 97; }},
      Impossible{"extent 0 is not within", [](Superblock& s) { s.extents[0].offset = 0; }},
      Impossible{"extent 1 is not within", [](Superblock& s) { s.extent_count = 2; }});
  ClosedPool pool;
  pool.change_superblock(wrong.change);
  check_refusal(pool_options(pool.path()), Code::kCorrupt, {"makes no sense", wrong.part});
}

TEST_CASE("a damaged libpmemobj header is refused with libpmemobj's reason") {
  ClosedPool pool;
  pool.raw().flip(24);  // within the pool set's uuid
  check_refusal(pool_options(pool.path()), Code::kCorrupt,
                {"libpmemobj's metadata in pool", "is damaged (", "checksum"});
}

TEST_CASE("a size below that of the pool is refused with what it needs") {
  ClosedPool pool;
  REQUIRE(open_or_fail(pool_options(pool.path(), 80))->close_cleanly().ok());
  check_refusal(pool_options(pool.path(), 64), Code::kInvalid,
                {"has 80 MiB; start with -m 80 or larger, or without -m"});
}

TEST_CASE("a size below 64 MiB is refused") {
  ScratchFolder folder;
  check_refusal(pool_options(folder.file("pool"), 63), Code::kInvalid,
                {"66060288 bytes", "-m 64 or larger"});
  PoolOptions tiny = pool_options(folder.file("pool"));
  tiny.bytes = 1;
  check_refusal(tiny, Code::kInvalid, {"1 bytes", "-m 64 or larger"});
}

TEST_CASE("a new pool needs a size") {
  ScratchFolder folder;
  check_refusal(pool_options(folder.file("pool"), 0), Code::kInvalid,
                {"does not exist", "start with -m 64 or larger"});
}

TEST_CASE("a new pool needs a table of size classes that ascend") {
  ScratchFolder folder;
  PoolOptions options = pool_options(folder.file("pool"));
  options.slot_lines = {};
  CHECK(open_refused(options).code() == Code::kInvalid);
  options.slot_lines = {4, 2};
  CHECK_THAT(open_refused(options).message(), Contains("a size class of 2 lines after one of 4"));
  options.slot_lines.assign(64, 1);
  CHECK_THAT(open_refused(options).message(), Contains("64 size classes"));
}

TEST_CASE("sizes that no file system has are refused and leave nothing behind") {
  ScratchFolder folder;
  const std::string path = folder.file("pool");
  check_refusal(pool_options(path, uint64_t{1} << 30), Code::kInvalid, {"-m 67108864 or smaller"});
  check_refusal(pool_options(path, 1 << 25), Code::kInvalid, {"-m 786432", "lets it grow"});
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a pool that does not fit is refused with what is missing, and nothing is created") {
  ScratchFolder folder;
  const std::string path = folder.file("pool");
  constexpr uint64_t kFarTooManyMib = 786432;  // the largest pool that can be created
  struct statvfs room {};
  REQUIRE(statvfs(folder.file(".").c_str(), &room) == 0);
  if (room.f_blocks == 0 || room.f_bavail * room.f_frsize >= kFarTooManyMib * kMib) return;
  check_refusal(
      pool_options(path, kFarTooManyMib), Code::kNoSpace,
      {"creating pool", "needs 786432 MiB", "(tmpfs) has ", " MiB free: ", " MiB are missing"});
  CHECK(std::filesystem::is_empty(folder.file(".")));

  REQUIRE(open_or_fail(pool_options(path))->close_cleanly().ok());
  check_refusal(pool_options(path, kFarTooManyMib), Code::kNoSpace,
                {"giving pool", " MiB are missing"});
  CHECK(std::filesystem::file_size(path) == 64 * kMib);
  CHECK(open_or_fail(pool_options(path))->findings().empty());
}

TEST_CASE("a pool file is for its owner only") {
  ClosedPool pool;
  struct stat facts {};
  REQUIRE(stat(pool.path().c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
  CHECK(static_cast<uint64_t>(facts.st_blocks) * 512 >= 64 * kMib);
}

}  // namespace
}  // namespace pmcached::pmem
