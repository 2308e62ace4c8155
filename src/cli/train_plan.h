// tbd train --plan: the trainings of a plan, one after another.
#pragma once
#include <functional>
#include <string>

#include "analysis/table.h"
#include "cli/command.h"
#include "runner/training.h"

namespace tbd::cli {

// Each training's record goes into a folder of `out`. One that is there and ended is kept as it is, one that was
// interrupted goes on from its last checkpoint. One that fails, or whose folder holds another training, is told and the
// next begins. Prints what each came to and the time to quality. Returns kVerdictFailed where a goal was not reached,
// kCellFailed where a training failed or was interrupted. Throws Error as read_plan and planned_trainings do.
int train_plan(Context& context, const std::string& plan, const std::filesystem::path& out, Format format,
               const std::function<TrainSink()>& sink);

}  // namespace tbd::cli
