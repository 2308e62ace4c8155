// Beside the rows of metrics.cc: what is counted, how, by whose formula, and what the number cannot say.
#include "analysis/explain/topic.h"

namespace tbd {
namespace {

constexpr std::string_view kColumns =
    "Columns of steps.csv over the stable steps where every one has them; otherwise what the launch measured as a "
    "whole (host in launch.json), launches weighted by the length of their stable phases.";
constexpr std::string_view kStamps =
    "Clean pass: a stamp of the monotonic raw clock after each step; nothing else runs.";
constexpr std::string_view kQuantile =
    "Interval between two order statistics whose ranks follow from the binomial distribution; it takes steps as "
    "independent. Absent where so few steps have no such ranks.";
constexpr std::string_view kRoofs =
    "FLOPs are analytic (docs/flops.md); the peak is measured before and after with the run's threads.";

constexpr Topic kMetricTopics[] = {
    {"throughput", "units/s", "", "X = sum of units / sum of step times; launches: geometric mean",
     "In: input wait, forward, backward, update, communication. Out: warm-up, evaluation, checkpoints, padding.",
     kStamps,
     "Ratio of totals by definition. Interval: Geyer 1992, Statistical Science 7(4), 3.3; batch means: Schmeiser 1982, "
     "Operations Research 30(3). Between launches: Student's t on ln X, for as many launches again (Hahn and Meeker "
     "1991, Statistical Intervals, 4.8).",
     "Which steps: the undisturbed blocks where they are a fifth of the time in most launches, else all after warming "
     "up "
     "(basis). Units differ between models (images, tokens, seconds of audio): never compare "
     "across units, nor resident with pipeline input."},
    {"throughput_undisturbed", "units/s", "", "as throughput, over undisturbed blocks",
     "A block: steps of half a second or more. Undisturbed: run-queue wait at most 2 %, steal 1 %, other work 5 %; at "
     "both "
     "ends multiply-adds within 3 % and reads within 15 % of the record's best.",
     "The kernel's counts in steps.csv and the speed probe between blocks; never the steps' own times.", "",
     "Absent without an undisturbed block. A record that was disturbed from its first step to its last has a best that "
     "is none."},
    {"throughput_total", "units/s", "", "as throughput, over all steps after warming up",
     "What was got, disturbed or not.", kStamps, "", "Another run on a busier or quieter machine gets another."},
    {"undisturbed_share", "fraction", "", "time of undisturbed blocks / time of all steps after warming up",
     "All launches.", "As throughput_undisturbed.", "", "Absent where neither kernel nor probe tells anything."},
    {"samples_per_second", "samples/s", "", "sum of samples / sum of step times", "Rows of all batches of a step.",
     kStamps, "", "Absent where the record does not count samples. Samples of unequal length are unlike work."},
    {"valid_per_second", "tokens/s", "", "sum of valid / sum of step times", "In: inputs and targets. Out: padding.",
     kStamps, "", "Absent where the data count no tokens."},
    {"padded_per_second", "slots/s", "", "sum of padded / sum of step times", "All places, padding included.", kStamps,
     "", "What the arithmetic paid for, never a unit of throughput."},
    {"padding_share", "fraction", "", "1 - sum of valid / sum of padded", "All inputs and targets of stable steps.",
     "From the counts that the worker keeps of its batches.", "", "Absent where the data count no tokens."},
    {"step_time_mean", "s", "", "sum of step times / steps", "Raw times: outliers stay.", kStamps, "",
     "Throughput times this is the mean number of units of a step."},
    {"step_time_min", "s", "", "least step time", "Raw times after warming up, launches pooled.", kStamps, "",
     "One lucky step; for what lasts see step_time_floor."},
    {"step_time_floor", "s", "", "mean of the fastest tenth of stretches of a second or more",
     "Launches: geometric mean. Steps of unlike work are ordered by their time per unit.", kStamps, "",
     "What the machine gives when nothing else asks, if that lasted a second: biased low by the choice."},
    {"step_time_q1", "s", "", "quantile 0.25 at rank (n - 1) q", "Raw times: outliers stay.", kStamps,
     "David and Nagaraja 2003, Order Statistics, 7.1 (interval).", kQuantile},
    {"step_time_q3", "s", "", "quantile 0.75 at rank (n - 1) q", "Raw times: outliers stay.", kStamps,
     "David and Nagaraja 2003, Order Statistics, 7.1 (interval).", kQuantile},
    {"step_time_median", "s", "", "quantile 0.5 at rank (n - 1) q", "Raw times: outliers stay.", kStamps,
     "David and Nagaraja 2003, Order Statistics, 7.1 (interval).", kQuantile},
    {"step_time_p95", "s", "", "quantile 0.95 at rank (n - 1) q", "Raw times: outliers stay.", kStamps,
     "David and Nagaraja 2003, Order Statistics, 7.1 (interval).", kQuantile},
    {"step_time_p99", "s", "", "quantile 0.99 at rank (n - 1) q", "Raw times: outliers stay.", kStamps,
     "David and Nagaraja 2003, Order Statistics, 7.1 (interval).", kQuantile},
    {"stable_from_step", "", "", "end of the first segments that are slower than what follows them",
     "Never before step 5, nor before what the worker's own events allow; never cuts more than a third for its times.",
     "From the series of step times alone.",
     "Change points: Jackson et al. 2005, IEEE SPL 12(2); Killick et al. 2012, JASA 107(500). Outliers: Hampel 1974, "
     "JASA 69(346). Rules: docs/statistics.md.",
     "With effort smoke nothing is tested: all steps but the first."},
    {"cpu_utilization", "fraction", "", "(user + system CPU time) / (cores * sum of step times)",
     "All threads of the worker. Cores: the affinity mask or the control group's quota, the smaller.", kColumns,
     "Zhu et al. 2018, IISWC, 3.4.2 (there of the whole machine).",
     "Threads that spin count as busy: a full processor is not a useful one."},
    {"busy_cores", "cores", "", "(user + system CPU time) / sum of step times", "All threads of the worker.", kColumns,
     "", "As cpu_utilization."},
    {"cpu_time_per_step", "s", "", "(user + system CPU time) / steps; launches: geometric mean",
     "All threads of the worker.", kColumns, "",
     "Not immune to neighbours: a core that shares its units with another computes less in the same CPU time."},
    {"peak_rss_bytes", "B", "", "max over launches of the resident set",
     "The whole process: framework, code, tensors, freed memory that malloc keeps.",
     "The kernel's high-water mark, and rss_bytes of each step.", "",
     "Says what must fit, not what the network needs: for that see memory.peak."},
    {"allocator_peak_bytes", "B", "", "max over launches of the allocator's own peak", "Live tensors.",
     "The framework's counter.", "",
     "Absent where the framework does not tell. Counters of frameworks differ in what "
     "they round: never compare across frameworks."},
    {"flop_rate", "FLOP/s", "", "FLOPs of a step * stable steps / sum of step times",
     "In: matrix-like operations forward and backward, dense, a multiply-add as 2. Out: elementwise work, "
     "recomputation, updates.",
     "FLOPs of a step: train_flops * samples_per_step, else the sum of the op table. Time from the clean pass.",
     "Counting rules: docs/flops.md.", "Analytic: a fast algorithm that does less work still counts in full."},
    {"mfu", "fraction", "", "flop_rate / peak of the math type by instructions", "As flop_rate.", kRoofs,
     "Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, appendix B.",
     "Absent without a measured peak of the math type: no table stands in. Withheld when peaks drifted by more than "
     "10 % or the share exceeds 1.02. Shares of different math types have different denominators."},
    {"gemm_share", "fraction", "", "flop_rate / best measured matrix product", "As flop_rate.", kRoofs, "",
     "Above 1 is flagged roof-beaten: the sweep of products missed a better one."},
    {"flop_utilization", "fraction", "",
     "(model FLOPs + elementwise FLOPs) of a step * stable steps / (peak * sum of step times)",
     "fp32 and fp64: model and elementwise FLOPs. bf16, fp16: model FLOPs alone, their elementwise work runs in fp32 "
     "vectors. Exponentials and roots are left out.",
     kRoofs, "Zhu et al. 2018, IISWC, 3.4.1 (there from hardware counters, over kernel time).",
     "Over all time of the clean pass; flop_utilization.active is over busy time and is larger."},
    {"input_wait", "fraction", "", "sum of input_wait_ns / sum of step times",
     "In: the step loop stood still for a batch. Out: work of loader threads beside it.",
     "Stamped by the step loop around the fetch.", "",
     "Small with an expensive loader that takes cores: see \"Is the input the limit?\" in docs/metrics.md."},
    {"steal_share", "fraction", "", "steal ticks / 100 / (cores * sum of step times)", "All processors of the machine.",
     kColumns, "", "Only what the hypervisor tells. Above 1 % flagged."},
    {"runqueue_share", "fraction", "", "run-queue wait / (run-queue wait + CPU time)", "All threads of the worker.",
     kColumns, "", "High also when more threads than cores were asked for. Above 2 % flagged."},
    {"foreign_share", "fraction", "", "CPU time of other processes / usable CPU time", "All that is not the worker.",
     "The launch's host sample: the machine's CPU time less the worker's.", "", "Above 5 % flagged."},
    {"energy_joules", "J", "", "sum over launches of the meter's difference",
     "All steps, and everything in the meter's scope.", "Package and memory meters through the kernel's powercap.", "",
     "Absent without a readable meter (most virtual machines) or with a launch shorter than 10 s."},
    {"energy_per_unit", "J/unit", "", "energy_joules / units of the same steps", "As energy_joules.",
     "As energy_joules.", "", "Idle power is in it."},
    {"load_seconds", "s", "", "median over launches", "Process start, libraries, building the network, weights.",
     "Stamps of the runner and the worker.", "", "The file cache decides much of it."},
    {"first_step_seconds", "s", "", "median over launches", "load_seconds and the first step: tuning, compiling.",
     "Stamps of the runner and the worker.", "", "The file cache decides much of it."},
};

}  // namespace

std::span<const Topic> metric_topics() { return kMetricTopics; }

}  // namespace tbd
