#include "server/commands/conversation.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <sstream>

#include "tests/support/randomness.h"
#include "tests/wire/conversation_fixture.h"
#include "tests/wire/dialogue.h"

namespace pmcached::tests {
namespace {

const std::vector<Dialogue>& all_dialogues() {
  static const std::vector<Dialogue> dialogues =
      read_dialogues(std::filesystem::path(PMCACHED_TEST_DATA_DIR) / "wire" / "cases");
  REQUIRE(!dialogues.empty());
  return dialogues;
}

ConversationFixture::Config config_for(const std::string& options) {
  ConversationFixture::Config config;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    if (word == "-F") {
      config.settings.flush_enabled = false;
    } else if (word == "-A") {
      config.settings.shutdown_command = true;
    } else if (word == "-C") {
      config.settings.cas_enabled = config.engine.cas_enabled = false;
    } else if (word == "-I") {
      words >> word;
      config.engine.item_size_max_bytes = std::stoull(word) << 20;
    } else {
      throw std::runtime_error("the test does not know the option " + word);
    }
  }
  return config;
}

/// Cuts a piece that is sent into what arrives: returns the size of the next fragment of `left`.
using Fragmentation = std::function<size_t(size_t left)>;

size_t whole(size_t left) {
  return left;
}

/// Lets a dialogue take place; fails the running test at the first reply that is not as expected.
class Replay {
 public:
  explicit Replay(const Dialogue& dialogue)
      : dialogue_(dialogue), fixture_(config_for(dialogue.options)) {}

  void run(const Fragmentation& fragmentation) {
    for (const Step& step : dialogue_.steps) {
      take(step, fragmentation);
    }
    CHECK(received_.empty());
  }

  /// Sends everything up to the next point where the client has to wait at once.
  void run_pipelined() {
    std::vector<Step> expected;
    std::string requests;
    for (const Step& step : dialogue_.steps) {
      if (step.kind == Step::Kind::kSend && step.text.find("{$") == std::string::npos) {
        requests += step.text;
        continue;
      }
      if (step.kind == Step::Kind::kExpect) {
        expected.push_back(step);
        continue;
      }
      exchange(&requests, &expected);
      take(step, whole);
    }
    exchange(&requests, &expected);
    CHECK(received_.empty());
  }

 private:
  void exchange(std::string* requests, std::vector<Step>* expected) {
    take({Step::Kind::kSend, std::exchange(*requests, {})}, whole);
    for (const Step& step : std::exchange(*expected, {})) {
      take(step, whole);
    }
  }

  void take(const Step& step, const Fragmentation& fragmentation) {
    switch (step.kind) {
      case Step::Kind::kSend:
        send(expand_bytes(step.text, numbers_), fragmentation);
        break;
      case Step::Kind::kExpect: {
        INFO("expected " << step.text << " received " << received_.substr(0, 300));
        const auto matched = match(expand(step.text, numbers_), received_, &numbers_);
        REQUIRE(matched.has_value());
        received_.erase(0, *matched);
        break;
      }
      case Step::Kind::kClose:
        REQUIRE(fixture_.conversation().should_close());
        break;
      case Step::Kind::kWait:
        fixture_.cache().advance(step.seconds);
        break;
    }
  }

  void send(std::string_view bytes, const Fragmentation& fragmentation) {
    while (!bytes.empty()) {
      const size_t size = fragmentation(bytes.size());
      received_ += fixture_.send(bytes.substr(0, size));
      bytes.remove_prefix(size);
    }
  }

  const Dialogue& dialogue_;
  ConversationFixture fixture_;
  Numbers numbers_;
  std::string received_;
};

size_t bytes_sent(const Dialogue& dialogue) {
  size_t size = 0;
  for (const Step& step : dialogue.steps) {
    size += step.kind == Step::Kind::kSend ? step.text.size() : 0;
  }
  return size;
}

bool has_runs(const Dialogue& dialogue) {
  return std::any_of(dialogue.steps.begin(), dialogue.steps.end(), [](const Step& step) {
    return step.kind == Step::Kind::kSend && step.text.find('*') != std::string::npos;
  });
}

}  // namespace

TEST_CASE("every wire case holds when each line arrives whole") {
  for (const Dialogue& dialogue : all_dialogues()) {
    DYNAMIC_SECTION(dialogue.title()) {
      Replay(dialogue).run(whole);
    }
  }
}

TEST_CASE("every wire case holds when all its requests arrive at once") {
  for (const Dialogue& dialogue : all_dialogues()) {
    DYNAMIC_SECTION(dialogue.title()) {
      Replay(dialogue).run_pipelined();
    }
  }
}

TEST_CASE("every wire case holds when bytes arrive one by one") {
  for (const Dialogue& dialogue : all_dialogues()) {
    if (!dialogue.whole) {
      DYNAMIC_SECTION(dialogue.title()) {
        Replay(dialogue).run([](size_t) -> size_t { return 1; });
      }
    }
  }
}

TEST_CASE("short wire cases hold when split in two at any place") {
  constexpr size_t kShort = 150;
  for (const Dialogue& dialogue : all_dialogues()) {
    const size_t size = bytes_sent(dialogue);
    if (dialogue.whole || has_runs(dialogue) || size > kShort) {
      continue;
    }
    DYNAMIC_SECTION(dialogue.title()) {
      for (size_t split = 1; split < size; ++split) {
        size_t sent = 0;
        Replay(dialogue).run([&sent, split](size_t left) {
          const size_t fragment = sent < split ? std::min(left, split - sent) : left;
          sent += fragment;
          return fragment;
        });
      }
    }
  }
}

TEST_CASE("every wire case holds in random fragments") {
  const auto seed = test_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const Dialogue& dialogue : all_dialogues()) {
    if (!dialogue.whole) {
      DYNAMIC_SECTION(dialogue.title()) {
        Replay(dialogue).run([&random](size_t left) {
          const size_t scale = size_t{1} << random() % 20;
          return std::min<size_t>(left, 1 + random() % scale);
        });
      }
    }
  }
}

}  // namespace pmcached::tests
