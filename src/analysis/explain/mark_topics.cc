// Marks of a row: flags (their sentence is in flags.cc), outcomes and grades.
#include "analysis/explain/topic.h"

namespace tbd {
namespace {

constexpr Topic kFlagTopics[] = {
    {"assumed-correlation", "", "", "half width = sqrt(3) t s / sqrt(n)", "", "",
     "AR(1) with phi = 0.5 (docs/statistics.md)",
     "Intervals are too narrow where steps hang together more strongly: measure longer."},
    {"bad-files", "", "", "", "", "From the worker's data report.", "", "Other machines must see the same data_hash."},
    {"cut-line-dropped", "", "", "", "", "By the reader of steps.csv.", "",
     "A kill or a full disk: the steps before stand."},
    {"disturbed-major-faults", "", "", "sum of major_faults > 0", "", "", "",
     "The data or the program did not fit into memory."},
    {"disturbed-other-work", "", "", "foreign_share > 0.05", "", "", "", "Measure again on a quiet machine."},
    {"disturbed-runqueue", "", "", "runqueue_share > 0.02", "", "", "", "Fewer threads, or a quiet machine."},
    {"disturbed-steal", "", "", "steal_share > 0.01", "", "", "", "Above 5 % the outcome is unsteady."},
    {"disturbed-throttled", "", "", "throttled_time_s > 0", "", "", "", "Raise the quota, or ask for fewer threads."},
    {"fitted-files", "", "", "", "", "From the worker's data report.", "",
     "The work of fitting is part of the input pipeline."},
    {"one-step", "", "", "", "", "", "", "A number for existence alone."},
    {"over-roof", "", "", "mfu > 1.02", "", "", "", "A wrong peak or a wrong count: shares of the peak are withheld."},
    {"peaks-drift", "", "", "|after / before - 1| > 0.03", "", "", "", "Above 10 % shares of the peak are withheld."},
    {"tuned", "", "", "", "", "", "", "Never ranked against rows of the default."},
    {"retired-upstream", "", "", "", "", "", "", "No fault of the number."},
    {"roof-beaten", "", "", "gemm_share > 1", "", "", "",
     "The sweep of matrix products missed a better one; mfu stands."},
    {"short", "", "", "stable steps < 100", "", "", "", "The interval is wide for that reason; it still covers."},
    {"slow-down", "", "", "", "", "", "", "The number is that of the slower end of the run: heat, memory, other work?"},
    {"threads-over-cores", "", "", "", "", "", "", "Threads wait for each other: not a machine's best."},
    {"unbounded", "", "", "half width >= mean step time", "", "", "", "Measure longer."},
    {"unpinned", "", "", "", "", "", "", "Others cannot fetch the same build by its hash."},
};

constexpr Topic kOutcomes[] = {
    {"ok", "", "The cell ran and no gate withheld its number.", "", "", "", "",
     "Says nothing about how good a number is: see the grade."},
    {"unsteady", "", "No stable phase was found, or it drifts, in some launch; or steal exceeds 5 %.",
     "suffix < 30 % of >= 50 steps, or |drift| > 1 % and beyond chance", "Not tested with effort smoke.", "",
     "docs/statistics.md", "Throughput and step times are withheld; raw steps stay in the record."},
    {"unsupported", "", "The back-end cannot do it; the reason names the op or option.", "", "", "", "", "No number."},
    {"unavailable", "", "The machine cannot do it: a missing instruction set, device or framework.", "", "", "", "",
     "No number."},
    {"skipped", "", "Predicted not to fit, or thinned out by a time budget.", "", "", "", "",
     "No number; the reason names the prediction or the budget."},
    {"inconsistent", "", "The record contradicts itself: a step time that is not positive, passes that disagree.", "",
     "", "", "", "The number is withheld."},
    {"nonfinite", "", "A loss is not finite; the reason names the step.", "",
     "An overflow that loss scaling handles is none.", "", "", "The number is withheld: the network did not train."},
    {"oom", "", "Memory ran out, of the machine or of an enforced budget.", "", "", "", "",
     "Steps before it keep their number."},
    {"timeout", "", "A deadline of load, first step or step passed.", "", "", "", "",
     "Steps before it keep their number."},
    {"failed", "", "The worker crashed, refused, measured no step, or saw another batch or network than planned.", "",
     "", "", "", "No number; the log is in the record."},
    {"interrupted", "", "The run's end was never written: stopped, killed, or still running.", "", "", "", "",
     "Steps before it keep their number."},
};

constexpr Topic kGrades[] = {
    {"published", "", "200 stable steps and 30 stable seconds in each of 5 launches.", "", "", "", "docs/statistics.md",
     "Fit to be cited with its interval and repro line."},
    {"development", "", "50 stable steps and 10 stable seconds in each launch.", "", "", "", "docs/statistics.md",
     "Fit to work with; one launch does not show how launches differ."},
    {"provisional", "", "Less than that, or effort smoke.", "", "", "", "docs/statistics.md",
     "Existence and order of magnitude; never ranked with effort smoke."},
};

}  // namespace

std::span<const Topic> flag_topics() { return kFlagTopics; }
std::span<const Topic> outcome_topics() { return kOutcomes; }
std::span<const Topic> grade_topics() { return kGrades; }

}  // namespace tbd
