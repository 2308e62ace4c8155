#include "record/record.h"

#include <array>

#include "base/error.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr std::array<std::string_view, 11> kOutcomes = {"ok",      "unsteady",     "unsupported", "unavailable",
                                                        "skipped", "inconsistent", "nonfinite",   "oom",
                                                        "timeout", "failed",       "interrupted"};
constexpr std::array<std::string_view, 3> kStates = {"running", "complete", "interrupted"};

}  // namespace

std::string_view name(OutcomeKind kind) { return kOutcomes[static_cast<size_t>(kind)]; }

OutcomeKind outcome_from(std::string_view name) {
  for (size_t i = 0; i < kOutcomes.size(); ++i)
    if (kOutcomes[i] == name) return static_cast<OutcomeKind>(i);
  fail(ErrorKind::invalid, "unknown outcome '", name, "'");
}

std::string_view name(RunState state) { return kStates[static_cast<size_t>(state)]; }

RunState run_state_from(std::string_view name) {
  for (size_t i = 0; i < kStates.size(); ++i)
    if (kStates[i] == name) return static_cast<RunState>(i);
  fail(ErrorKind::invalid, "unknown state '", name, "'");
}

std::string LaunchInfo::folder_name() const { return cat(pass, "-", number); }

const Launch* last_launch(const Record& record, const Pass& pass) {
  const Launch* last = nullptr;
  for (const Launch& launch : record.launches)
    if (launch.info.pass == pass) last = &launch;
  return last;
}

std::filesystem::path launch_folder(const Record& record, const Launch& launch) {
  return record.folder / "launches" / launch.info.folder_name();
}

std::filesystem::path worker_folder(const Record& record, const Launch& launch, int64_t rank) {
  const std::filesystem::path folder = launch_folder(record, launch);
  return record.run.workload.workers == 1 ? folder : folder / cat(kRankFolder, rank);
}

}  // namespace tbd
