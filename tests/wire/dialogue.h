#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Reads the cases that README.md describes.
namespace pmcached::tests {

struct Step {
  enum class Kind { kSend, kExpect, kClose, kWait };
  Kind kind = Kind::kSend;
  std::string text;  ///< with escapes and braces as in the file
  int seconds = 0;
};

struct Dialogue {
  std::string file;
  std::string name;
  std::string options;
  bool whole = false;
  std::vector<Step> steps;

  std::string title() const { return file + ": " + name; }
};

/// Numbers remembered by `{#name}`.
using Numbers = std::map<std::string, std::string, std::less<>>;

/// A text of a case, piece by piece: plain bytes, or something to match.
struct Piece {
  enum class Kind { kBytes, kNumber, kAnything };
  Kind kind = Kind::kBytes;
  std::string text;  ///< the bytes, or the name to remember the number by
};

inline char unescape(std::string_view* text) {
  const char kind = text->at(1);
  text->remove_prefix(2);
  switch (kind) {
    case 'r':
      return '\r';
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '0':
      return '\0';
    case '\\':
      return '\\';
    case 'x': {
      unsigned value = 0;
      std::from_chars(text->data(), text->data() + 2, value, 16);
      text->remove_prefix(2);
      return static_cast<char>(value);
    }
    default:
      throw std::runtime_error("unknown escape");
  }
}

/// Splits a text into pieces; runs and remembered numbers are written out.
inline std::vector<Piece> expand(std::string_view text, const Numbers& numbers) {
  std::vector<Piece> pieces;
  const auto bytes = [&pieces]() -> std::string& {
    if (pieces.empty() || pieces.back().kind != Piece::Kind::kBytes) {
      pieces.push_back({Piece::Kind::kBytes, {}});
    }
    return pieces.back().text;
  };
  while (!text.empty()) {
    if (text.front() == '\\') {
      bytes() += unescape(&text);
      continue;
    }
    if (text.front() != '{') {
      bytes() += text.front();
      text.remove_prefix(1);
      continue;
    }
    const size_t end = text.find('}');
    const std::string_view inside = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    const size_t star = inside.rfind('*');
    if (inside == "*") {
      pieces.push_back({Piece::Kind::kAnything, {}});
    } else if (inside.front() == '#') {
      pieces.push_back({Piece::Kind::kNumber, std::string(inside.substr(1))});
    } else if (inside.front() == '$') {
      bytes() += numbers.at(std::string(inside.substr(1)));
    } else {
      const std::string repeated = expand(inside.substr(0, star), numbers).at(0).text;
      for (int left = std::stoi(std::string(inside.substr(star + 1))); left > 0; --left) {
        bytes() += repeated;
      }
    }
  }
  return pieces;
}

inline std::string expand_bytes(std::string_view text, const Numbers& numbers) {
  std::string bytes;
  for (const Piece& piece : expand(text, numbers)) {
    bytes += piece.text;
  }
  return bytes;
}

/// Matches the front of `received`; returns how many bytes matched, or nothing.
inline std::optional<size_t> match(const std::vector<Piece>& pieces, std::string_view received,
                                   Numbers* numbers) {
  size_t at = 0;
  for (const Piece& piece : pieces) {
    const size_t begin = at;
    switch (piece.kind) {
      case Piece::Kind::kBytes:
        if (received.substr(at, piece.text.size()) != piece.text) {
          return std::nullopt;
        }
        at += piece.text.size();
        break;
      case Piece::Kind::kNumber:
        while (at < received.size() && std::isdigit(static_cast<unsigned char>(received[at]))) {
          ++at;
        }
        if (at == begin) {
          return std::nullopt;
        }
        if (!piece.text.empty()) {
          (*numbers)[piece.text] = received.substr(begin, at - begin);
        }
        break;
      case Piece::Kind::kAnything:
        at = std::min(received.find_first_of("\r\n", at), received.size());
        break;
    }
  }
  return at;
}

inline void parse_line(const std::string& line, const std::string& file,
                       std::vector<Dialogue>* dialogues) {
  const size_t space = line.find(' ');
  const std::string mark = line.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
  if (mark.empty() || mark.front() == '#') {
    return;
  }
  if (mark == "==") {
    dialogues->push_back({.file = file, .name = rest, .options = {}, .steps = {}});
    return;
  }
  Dialogue& dialogue = dialogues->back();
  std::vector<Step>& steps = dialogue.steps;
  if (mark == "@options") {
    dialogue.options = rest;
  } else if (mark == "@whole") {
    dialogue.whole = true;
  } else if (mark == ">") {
    steps.push_back({Step::Kind::kSend, rest + "\\r\\n"});
  } else if (mark == ">>") {
    steps.push_back({Step::Kind::kSend, rest});
  } else if (mark == "<" || mark == "<pmcached") {
    steps.push_back({Step::Kind::kExpect, rest + "\\r\\n"});
  } else if (mark == "<<") {
    steps.push_back({Step::Kind::kExpect, rest});
  } else if (mark == "<close") {
    steps.push_back({Step::Kind::kClose, {}});
  } else if (mark == "+") {
    steps.push_back({Step::Kind::kWait, {}, std::stoi(rest)});
  } else if (mark != "@differs" && mark != "@fresh" && mark != "<memcached") {
    throw std::runtime_error(file + ": unknown mark: " + line);
  }
}

/// All cases of all files in `folder`, in the order of their names.
inline std::vector<Dialogue> read_dialogues(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".wire") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Dialogue> dialogues;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      parse_line(line, path.filename().string(), &dialogues);
    }
  }
  return dialogues;
}

}  // namespace pmcached::tests
