// Where a step's time went, said in words: the largest loss of a profile, and what to try against it.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/profile/profile.h"

namespace tbd {

// One thing that a set of rows or a profile answers.
struct Answer {
  std::string text;     // sentences
  std::string command;  // that decides it, or tries what the text names; may be empty
};

// The largest loss and the next one, with the ideal time where it is known; then what to try, and what tries all
// remedies where one fits. Empty without a loss.
std::vector<Answer> time_answers(const Profile& profile, const MeasuredWorkload& workload);

// The command with this option set, in the place of the one that it has or at its end; without it where `value` is
// empty.
std::string with_option(const std::string& command, std::string_view option, std::string_view value);
// "tbd profile resnet50 ...": the command that measures the workload, as another one; as `run` at an effort whose rows
// are compared. Of a foreign program "tbd profile --exec ...", empty where none of its frameworks has a profiler.
std::string as_command(const MeasuredWorkload& workload, std::string_view name);
// "tbd tune resnet50 ...": tries what may make the workload faster; empty of one that tbd did not train itself.
std::string tune_command(const MeasuredWorkload& workload);

}  // namespace tbd
