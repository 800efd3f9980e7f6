#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "server/net/read_buffer.h"

namespace pmcached::server {
namespace {

void fill(ReadBuffer* buffer, const std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ReadBuffer::Room room = buffer->make_room(ReadBufferPool::kSmallBlock);
    const size_t size = std::min(room.size, bytes.size() - done);
    std::memcpy(room.begin, bytes.data() + done, size);
    buffer->commit(size);
    done += size;
  }
}

std::string pattern(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    text[i] = static_cast<char>('a' + i % 23);
  }
  return text;
}

TEST_CASE("a read buffer holds memory only while it holds input") {
  ReadBufferPool pool;
  ReadBuffer buffer(pool);
  CHECK(pool.blocks() == 0);
  fill(&buffer, "get a\r\n");
  CHECK(pool.blocks() == 1);
  CHECK(pool.bytes() == ReadBufferPool::kSmallBlock);
  buffer.consume(4);
  CHECK(buffer.input() == "a\r\n");
  CHECK(pool.blocks() == 1);
  buffer.consume(3);
  CHECK(buffer.empty());
  CHECK(pool.blocks() == 0);
  CHECK(pool.bytes() == 0);
}

TEST_CASE("a read that brought nothing leaves no memory behind") {
  ReadBufferPool pool;
  ReadBuffer buffer(pool);
  buffer.make_room(ReadBufferPool::kSmallBlock);
  buffer.release_if_empty();
  CHECK(pool.blocks() == 0);
}

TEST_CASE("a read buffer grows when unused input fills it, and keeps the bytes") {
  ReadBufferPool pool;
  ReadBuffer buffer(pool);
  const std::string bytes = pattern(10 * ReadBufferPool::kLargeBlock + 7);
  fill(&buffer, bytes);
  CHECK(buffer.input() == bytes);
  buffer.consume(bytes.size());
  CHECK(pool.bytes() == 0);
}

TEST_CASE("unused input moves to the front before a buffer grows") {
  ReadBufferPool pool;
  ReadBuffer buffer(pool);
  const std::string bytes = pattern(ReadBufferPool::kSmallBlock);
  fill(&buffer, bytes);
  buffer.consume(bytes.size() - 5);
  fill(&buffer, "tail");
  CHECK(buffer.input() == bytes.substr(bytes.size() - 5) + "tail");
  CHECK(pool.bytes() == ReadBufferPool::kSmallBlock);
}

TEST_CASE("room for a data block is large, and is reused") {
  ReadBufferPool pool;
  for (int round = 0; round < 3; ++round) {
    ReadBuffer buffer(pool);
    CHECK(buffer.make_room(ReadBufferPool::kLargeBlock).size == ReadBufferPool::kLargeBlock);
    CHECK(pool.blocks() == 1);
  }
  CHECK(pool.blocks() == 0);
}

}  // namespace
}  // namespace pmcached::server
