#include "server/config/exit_reason.h"

#include <cstdio>

namespace pmcached::server {
namespace {

int exit_code_of(Status::Code code) {
  switch (code) {
    case Status::Code::kNotFound:
      return EX_NOINPUT;
    case Status::Code::kExists:
    case Status::Code::kNoSpace:
      return EX_CANTCREAT;
    case Status::Code::kBusy:
      return EX_TEMPFAIL;
    case Status::Code::kCorrupt:
    case Status::Code::kIncompatible:
      return EX_DATAERR;
    case Status::Code::kInvalid:
      return EX_USAGE;
    case Status::Code::kIo:
      return EX_OSERR;
  }
  return EX_SOFTWARE;
}

}  // namespace

ExitReason exit_reason_of(const Status& status) {
  return {exit_code_of(status.code()), status.message()};
}

int leave(const ExitReason& reason) {
  std::FILE* const output = reason.code == EX_OK ? stdout : stderr;
  std::fputs(reason.text.c_str(), output);
  if (!reason.text.ends_with('\n')) {
    std::fputc('\n', output);
  }
  return reason.code;
}

}  // namespace pmcached::server
