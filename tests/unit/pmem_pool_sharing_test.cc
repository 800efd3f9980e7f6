#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/pmem_test_pool.h"

namespace pmcached::pmem {
namespace {

using Catch::Contains;
using test::kMib;
using test::open_or_fail;
using test::open_refused;
using test::pool_options;
using test::ScratchFolder;

/// A child process that opens a pool, reports whether it did, and holds it until it is killed.
class OtherServer {
 public:
  explicit OtherServer(const PoolOptions& options) {
    std::array<int, 2> pipe_ends{};
    REQUIRE(pipe(pipe_ends.data()) == 0);
    child_ = fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      std::unique_ptr<Region> region;
      const Status status = open_pool(options, &region);
      const char answer = status.ok() ? 'o' : status.code() == Status::Code::kBusy ? 'b' : 'f';
      if (write(pipe_ends[1], &answer, 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(pipe_ends[1]);
    answer_ = pipe_ends[0];
  }
  ~OtherServer() { kill_it(); }
  OtherServer(const OtherServer&) = delete;
  OtherServer& operator=(const OtherServer&) = delete;

  /// Waits until the child has tried. 'o': it has the pool; 'b': it was told the pool is in use.
  char answer() {
    char value = '?';
    CHECK(read(answer_, &value, 1) == 1);
    return value;
  }
  void kill_it() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    close(answer_);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
  int answer_ = -1;
};

TEST_CASE("a pool in use by another server is refused, and free again when that one dies") {
  ScratchFolder folder;
  const PoolOptions options = pool_options(folder.file("pool"));
  OtherServer other(options);
  REQUIRE(other.answer() == 'o');
  const Status status = open_refused(options);
  CHECK(status.code() == Status::Code::kBusy);
  CHECK_THAT(status.message(), Contains("pool " + options.path + " is in use by another server"));
  other.kill_it();
  CHECK(open_or_fail(options)->last_run() == LastRun::kProcessDied);
}

TEST_CASE("a pool this process has open is refused as well") {
  ScratchFolder folder;
  const PoolOptions options = pool_options(folder.file("pool"));
  auto region = open_or_fail(options);
  CHECK(open_refused(options).code() == Status::Code::kBusy);
  CHECK(open_refused(pool_options(options.path, 80)).code() == Status::Code::kBusy);
  CHECK(std::filesystem::file_size(options.path) == 64 * kMib);
}

TEST_CASE("of servers that create one pool at a time exactly one gets it") {
  ScratchFolder folder;
  const PoolOptions options = pool_options(folder.file("pool"));
  std::vector<std::unique_ptr<OtherServer>> servers;
  servers.reserve(5);
  for (int i = 0; i < 5; ++i) servers.push_back(std::make_unique<OtherServer>(options));
  std::string answers;
  for (auto& server : servers) answers += server->answer();
  std::sort(answers.begin(), answers.end());
  CHECK(answers == "bbbbo");
  CHECK_FALSE(std::filesystem::exists(options.path + ".creating"));
  servers.clear();
  CHECK(open_or_fail(options)->last_run() == LastRun::kProcessDied);
}

TEST_CASE("what a cut creation left behind is replaced") {
  ScratchFolder folder;
  const PoolOptions options = pool_options(folder.file("pool"));
  std::ofstream(options.path + ".creating") << "half a pool";
  auto region = open_or_fail(options);
  CHECK(region->last_run() == LastRun::kNone);
  CHECK_FALSE(std::filesystem::exists(options.path + ".creating"));
}

TEST_CASE("a creation that fails leaves no file") {
  ScratchFolder folder;
  const PoolOptions options = pool_options(folder.file("pool"));
  std::filesystem::create_directory(options.path + ".creating");
  const Status status = open_refused(options);
  CHECK(status.code() == Status::Code::kIo);
  CHECK_THAT(status.message(), Contains("cannot remove the unfinished pool " + options.path));
  CHECK_FALSE(std::filesystem::exists(options.path));
}

}  // namespace
}  // namespace pmcached::pmem
