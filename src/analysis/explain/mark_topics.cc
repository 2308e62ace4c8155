// Marks of a row: flags (their sentence is in flags.cc), outcomes, grades, and how a framework runs the ops.
#include "analysis/explain/topic.h"

namespace tbd {
namespace {

constexpr Topic kFlagTopics[] = {
    {"assumed-correlation", "", "", "half width = sqrt(3) t s / sqrt(n)", "", "",
     "AR(1) with phi = 0.5 (docs/statistics.md)",
     "Intervals are too narrow where steps hang together more strongly: measure longer."},
    {"bad-files", "", "", "", "", "From the worker's data report.", "", "Other machines must see the same data_hash."},
    {"bunched-steps", "", "", "steps told at once with others > 0.1 of all", "",
     "By tbd exec, which stamps a step when the program tells of it (docs/exec.md).", "",
     "The throughput stands; a program that writes its lines by the block hides how its steps differ."},
    {"clock-drift", "", "", "|mean SM clock of the last third / of the first third - 1| > 0.03", "",
     "Samples of the driver during the steps in which the GPU had work.", "docs/measurement-host.md",
     "Cool the GPU, or lower its power limit so that its clock holds."},
    {"cut-line-dropped", "", "", "", "", "By the reader of steps.csv.", "",
     "A kill or a full disk: the steps before stand."},
    {"disturbed-major-faults", "", "", "sum of major_faults > 0", "", "", "",
     "The data or the program did not fit into memory."},
    {"disturbed-other-work", "", "", "foreign_share > 0.05", "", "", "", "Measure again on a quiet machine."},
    {"disturbed-runqueue", "", "", "runqueue_share > 0.02 and foreign_share > 0.02 or unknown", "", "", "",
     "Fewer threads, or a quiet machine."},
    {"disturbed-steal", "", "", "steal_share > 0.01", "", "", "",
     "Blocks of steps above it are no part of the undisturbed level."},
    {"disturbed-throttled", "", "", "throttled_time_s > 0", "", "", "", "Raise the quota, or ask for fewer threads."},
    {"fitted-files", "", "", "", "", "From the worker's data report.", "",
     "The work of fitting is part of the input pipeline."},
    {"level-shift", "", "", "|drift| > 0.05, or slowest / fastest level > 1.05", "", "", "docs/statistics.md",
     "Heat, memory, other work? The grade is disturbed where the steps of the headline shift so."},
    {"one-step", "", "", "", "", "", "", "A number for existence alone."},
    {"over-roof", "", "", "mfu > 1.02", "", "", "", "A wrong peak or a wrong count: shares of the peak are withheld."},
    {"oversubscribed", "", "", "workers of a machine > its usable cores", "", "", "docs/command-line.md",
     "Says that they train together, not how fast: the grade is disturbed. A core for each worker is needed."},
    {"peaks-drift", "", "", "|after / before - 1| > 0.03", "", "", "",
     "Of the arithmetic kernels of the workload's precision. Above 10 % shares of the peak are withheld."},
    {"tuned", "", "", "", "", "", "", "Never ranked against rows of the default."},
    {"retired-upstream", "", "", "", "", "", "", "No fault of the number."},
    {"roof-beaten", "", "", "gemm_share > 1", "", "", "",
     "The sweep of matrix products missed a better one; mfu stands."},
    {"shared-device", "", "", "", "", "The driver's list of processes with a CUDA context, during the steps.",
     "docs/measurement-host.md", "Measure again when the other process has ended."},
    {"short", "", "", "steps of a launch that the throughput is taken from < 100", "", "", "",
     "The interval is wide for that reason; it still covers."},
    {"threads-over-cores", "", "", "", "", "", "", "Threads wait for each other: not a machine's best."},
    {"throttled", "", "", "samples with a throttle reason > 0", "", "Throttle reasons of the driver during the steps.",
     "docs/measurement-host.md", "The cause is heat, power or the board: the speed of a cool GPU may be higher."},
    {"unbounded", "", "", "half width >= mean step time", "", "", "", "Measure longer."},
    {"unpinned", "", "", "", "", "", "", "Others cannot fetch the same build by its hash."},
};

constexpr Topic kOutcomes[] = {
    {"ok", "", "The workload ran and no gate withheld its number.", "", "", "", "",
     "Says nothing about how good a number is: see the grade."},
    {"unsteady", "", "Records of earlier versions of the program: their series drifted or had no stable phase.", "",
     "Such records are judged anew; no new one carries it.", "", "docs/statistics.md", "See the grade."},
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
    {"published", "", "Effort publish, 5 launches, an interval of at most 2 % to either side.", "", "", "",
     "docs/statistics.md", "Fit to be cited with its interval and repro line."},
    {"development", "", "3 launches, an interval of at most 5 % to either side.", "", "", "", "docs/statistics.md",
     "Fit to work with."},
    {"provisional", "", "A wider interval, fewer launches, or effort smoke.", "", "", "", "docs/statistics.md",
     "To be read with its interval; one launch does not show how launches differ."},
    {"disturbed", "", "Other work moved the number.",
     "under 20 % of the time undisturbed; or the launches drift by more than 5 % in the mean, or one drifts or has "
     "levels "
     "of more than 5 % * sqrt(launches), in the steps of the headline; or the cores compute over 3 % less than earlier "
     "since the boot",
     "", "", "docs/statistics.md",
     "Shown; ranks nothing and is no evidence by itself, only by launches in turns: tbd ab measures so."},
};

// What the framework cannot run at all is the outcome `unsupported`.
constexpr Topic kLevels[] = {
    {"runs", "", "In the matrix of tbd list: the framework runs the network, every op by one of its own.", "", "", "",
     "", "Says nothing about speed or equality: tbd run and tbd check do."},
    {"native", "", "The framework has the op itself: one of its own ops does the work.", "", "",
     "By the worker's check.", "docs/protocol.md", ""},
    {"composed", "", "The framework runs the op as several of its own: 'sigmoid, mul' in place of 'silu'.", "", "",
     "By the worker's check; the record keeps which nodes, and of what.", "docs/protocol.md",
     "The values are the same; more kernels may take more time and memory than a native op. tbd list MODEL shows what "
     "is composed."},
};

}  // namespace

std::span<const Topic> flag_topics() { return kFlagTopics; }
std::span<const Topic> outcome_topics() { return kOutcomes; }
std::span<const Topic> grade_topics() { return kGrades; }
std::span<const Topic> level_topics() { return kLevels; }

}  // namespace tbd
