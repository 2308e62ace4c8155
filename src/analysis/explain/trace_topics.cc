// Figures of the trace pass (docs/profile.md).
#include "analysis/explain/topic.h"

namespace tbd {
namespace {

constexpr std::string_view kWindow =
    "Trace pass: ops of windows of traced steps, without the first and the last step of each window.";
constexpr std::string_view kNoTrace = "Absent without a traced launch.";

constexpr Topic kTraceTopics[] = {
    {"compute_utilization", "fraction", "Part of the traced window in which an op computed.", "U = P / W",
     "P: the union of the times in which ops on all threads compute, so that ops at once count once; copies and "
     "communication are out. W: the traced window.",
     kWindow, "Zhu et al. 2018, IISWC, 3.4.1 (GPU compute utilization).",
     "Says that something computed, not how well: one busy thread is enough. Biased by about overhead.trace."},
    {"flop_utilization.active", "fraction", "FLOPs of a math type over its measured peak, while an op computed.",
     "F_act = FLOPs / (R P)",
     "R: peak by instructions of the workload's math type. fp32, fp64: model and elementwise FLOPs; half types: model "
     "FLOPs, their elementwise ones count as fp32.",
     kWindow, "Zhu et al. 2018, IISWC, 3.4.1.", "Hides idle time: always beside flop_utilization.window."},
    {"flop_utilization.window", "fraction", "The same FLOPs over the peak, in all time of the window.",
     "F_win = FLOPs / (R W) = F_act * U", "As flop_utilization.active.", kWindow, "", kNoTrace},
    {"flop_utilization.active_of_product", "fraction", "The same FLOPs over the best measured matrix product.",
     "FLOPs / (R_gemm P)", "As flop_utilization.active.", kWindow, "",
     "What a library reaches on this machine is a fairer roof than instructions, and a measured one."},
    {"mean_op_utilization", "fraction", "Mean of the ops' own utilization, weighted by their time.",
     "sum(u_k t_k) / sum(t_k)", "Ops without counted FLOPs weigh in with 0.", kWindow,
     "Zhu et al. 2018, IISWC, tables 5 and 6: ops below it are the inefficient ones.", kNoTrace},
    {"ideal_share", "fraction", "Time that the ops would take at their roofs, over the window.",
     "eta = sum over ops of max(FLOPs / R, bytes / B) / W",
     "An op's ideal time is at most its own; where ops overlap, in proportion.", kWindow,
     "Roofline: Williams et al. 2009, CACM 52(4).", "The one figure that makes sense for mixed math types."},
    {"roof.isa", "FLOP/s", "Measured peak of a math type: independent multiply-adds in registers, all threads.", "",
     "No memory traffic. Random data.", "Micro-kernel of the peaks pass, before and after the workload.", "",
     "Absent where the processor lacks the instructions: then every share of it is absent."},
    {"roof.gemm", "FLOP/s", "Best measured matrix product of a math type.", "2 M N K / time, the best of several sizes",
     "With the library's own threads.", "Peaks pass.", "", "A lower bound of what a library can do."},
    {"roof.bandwidth", "B/s", "Measured memory bandwidth.", "bytes / time of a triad larger than the caches",
     "Bytes read and written.", "Peaks pass.", "McCalpin 1995, IEEE TCCA newsletter (STREAM triad).",
     "Of main memory: an op whose operands lie in caches may exceed it."},
    {"bound.compute", "", "The op's FLOPs at their peak fill at least 60 % of its time, and no less than its bytes.",
     "FLOPs / R >= 0.6 t", "Analytic FLOPs and bytes.", kWindow, "Roofline: Williams et al. 2009, CACM 52(4).",
     "Empty without a measured peak."},
    {"bound.memory", "", "The op's bytes at the measured bandwidth fill at least 60 % of its time.",
     "bytes / B >= 0.6 t", "Each distinct operand read once, each result written once.", kWindow,
     "Roofline: Williams et al. 2009, CACM 52(4).", "Empty without a measured peak."},
    {"bound.latency", "", "Neither FLOPs nor bytes explain 60 % of the op's time.", "",
     "Small operands, waiting, layout changes, slow kernels.", kWindow, "", "The op to look at first."},
    {"overhead.trace", "ratio", "Time of a traced step over that of the untraced steps beside it.",
     "exp(mean ln t_traced - mean ln t_untraced)", "Steps of the traced launches, without those next to a border.",
     "Stamps of the trace pass. Interval by Welch's t.",
     "Welch 1947, Biometrika 34; Satterthwaite 1946, Biometrics Bulletin 2(6).",
     "Above 1.02 a note says that shares are biased, above 1.20 that they are not to be trusted."},
    {"agreement", "ratio", "Median untraced step of the trace pass over the median of the clean pass.",
     "median / median", "Stable steps of clean launches.", "Stamps.", "",
     "Off by more than 5 %: the passes measured different states of the machine, and a note says so."},
    {"system_share", "fraction", "System time over CPU time of the traced steps.", "system / (user + system)",
     "Page faults above all.", "Columns of steps.csv.", "", "Absent where steps.csv lacks the columns."},
    {"minor_faults_per_step", "", "Page faults without disk, a traced step.", "sum of minor_faults / steps", "",
     "Columns of steps.csv.", "", "Thousands a step: an allocator gives memory back and takes it again."},
};

}  // namespace

std::span<const Topic> trace_topics() { return kTraceTopics; }

}  // namespace tbd
