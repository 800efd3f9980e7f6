#include "server/runtime/recovery_summary.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace pmcached::server {
namespace {

std::string_view circumstance(pmem::LastRun last_run) {
  switch (last_run) {
    case pmem::LastRun::kNone:
      return "in a new pool";
    case pmem::LastRun::kClean:
      return "after a clean stop";
    case pmem::LastRun::kProcessDied:
      return "after a crash";
    case pmem::LastRun::kPowerLost:
      return "after a power cut or reboot without a clean stop";
  }
  return "";
}

std::string losses(const engine::RecoveryReport& report) {
  struct Loss {
    uint64_t count;
    std::string_view what;
  };
  const Loss losses[] = {
      {report.damaged_records, "damaged records"},
      {report.damaged_slabs, "damaged slabs"},
      {report.flushed, "flushed items"},
      {report.superseded, "superseded records"},
  };
  std::string text;
  for (const Loss& loss : losses) {
    if (loss.count > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "; dropped " : ", ", loss.count, loss.what);
    }
  }
  return text;
}

}  // namespace

std::string summarize_recovery(pmem::LastRun last_run, const engine::RecoveryReport& report) {
  if (report.discarded) {
    return fmt::format(
        "recovered nothing {}: without DAX nobody knows which pages reached the disk; "
        "-o salvage_after_power_loss keeps what verifies",
        circumstance(last_run));
  }
  const double mebibytes = static_cast<double>(report.bytes) / (1 << 20);
  return fmt::format("recovered {} items ({:.1f} MiB) in {:.3f} s with {} threads {}{}",
                     report.items, mebibytes, report.seconds, report.threads,
                     circumstance(last_run), losses(report));
}

std::string name_of(pmem::LastRun last_run) {
  switch (last_run) {
    case pmem::LastRun::kNone:
      return "none";
    case pmem::LastRun::kClean:
      return "clean";
    case pmem::LastRun::kProcessDied:
      return "crash";
    case pmem::LastRun::kPowerLost:
      return "power loss";
  }
  return "none";
}

}  // namespace pmcached::server
