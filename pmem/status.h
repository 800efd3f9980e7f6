#pragma once

#include <memory>
#include <string>
#include <utility>

namespace pmcached {

/// The result of an operation that can fail for reasons outside the program: success is a null
/// pointer and costs nothing; a failure carries a code to decide by and one sentence to print,
/// which names the file, the value and the remedy. A cache miss is an outcome, not an error.
///
/// Thread safety: like a value; distinct objects are independent.
class [[nodiscard]] Status {
 public:
  enum class Code {
    kNotFound,      ///< the file or device is not there
    kExists,        ///< something is there already and would be overwritten
    kNoSpace,       ///< the medium or the address space is too small
    kBusy,          ///< another process holds it
    kCorrupt,       ///< what is stored does not verify
    kIncompatible,  ///< stored by a program or with an option this one does not understand
    kInvalid,       ///< the caller asked for something impossible
    kIo,            ///< the operating system refused
  };

  Status() = default;
  Status(Code code, std::string message)
      : failure_(std::make_unique<Failure>(Failure{code, std::move(message)})) {}

  bool ok() const { return failure_ == nullptr; }
  /// Precondition: !ok().
  Code code() const { return failure_->code; }
  /// Precondition: !ok(). One sentence without a final newline.
  const std::string& message() const { return failure_->message; }

 private:
  struct Failure {
    Code code;
    std::string message;
  };
  std::unique_ptr<Failure> failure_;
};

}  // namespace pmcached
