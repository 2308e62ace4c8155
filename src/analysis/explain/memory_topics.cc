// Figures of the memory pass (docs/profile.md); classes as in record/memory_log.h.
#include "analysis/explain/topic.h"

namespace tbd {
namespace {

constexpr std::string_view kLedger =
    "Memory pass: a ledger of every allocation and release, with the role that the executor gave the block.";
constexpr std::string_view kAtPeak =
    "Bytes asked for of blocks of this class that live at the instant of memory.peak; classes add up to it.";
constexpr std::string_view kPaperOnMemory = "Zhu et al. 2018, IISWC, 3.4.3 and figure 9";

constexpr Topic kMemoryTopics[] = {
    {"memory.peak", "B", "Greatest sum of the bytes asked for of all live blocks; the first instant where it occurs.",
     "max over events of sum over live blocks", "Tensors of all classes. Out: code, heap of the framework.", kLedger,
     kPaperOnMemory, "Its level of evidence differs by framework: see memory.evidence."},
    {"memory.weight", "B", "Parameters.", "", kAtPeak, kLedger, kPaperOnMemory, "Sum of the parameters' sizes."},
    {"memory.weight_grad", "B", "Gradients of parameters.", "", kAtPeak, kLedger, kPaperOnMemory,
     "At most the weights' bytes."},
    {"memory.feature_map", "B", "Made in forward and kept for backward: masks and saved statistics too.", "", kAtPeak,
     kLedger, kPaperOnMemory, "Grows with the batch."},
    {"memory.activation_grad", "B", "Made in backward, no gradient of a parameter.", "", kAtPeak, kLedger,
     "In the paper part of: dynamic", ""},
    {"memory.optimizer_state", "B", "Momentum and other slots of the update.", "", kAtPeak, kLedger,
     "In the paper part of: dynamic", "fp32: 4 bytes a parameter with momentum, 8 with Adam."},
    {"memory.workspace", "B", "Made and freed inside one op.", "", kAtPeak, kLedger, kPaperOnMemory,
     "Scratch that a library takes past the framework's allocator is not seen."},
    {"memory.temporary", "B", "Other tensors.", "", kAtPeak, kLedger, "In the paper part of: dynamic",
     "With unexplained above 5 % of the peak: a note."},
    {"memory.input", "B", "Batches and labels.", "", kAtPeak, kLedger, "In the paper part of: dynamic", ""},
    {"memory.auxiliary", "B", "Running statistics, averages.", "", kAtPeak, kLedger, "In the paper part of: dynamic",
     ""},
    {"memory.comm", "B", "Buckets and staging of communication.", "", kAtPeak, kLedger, "In the paper part of: dynamic",
     "0 with one worker."},
    {"memory.runtime", "B", "Of the framework itself.", "", kAtPeak, kLedger, "In the paper part of: dynamic", ""},
    {"memory.tool", "B", "Of the measurement.", "", kAtPeak, kLedger, "", "Not there without it."},
    {"memory.planned", "B",
     "Feature maps, gradients of activations, workspace and temporaries in one, where a framework plans them as a "
     "whole.",
     "", kAtPeak, kLedger, "", "Never compare with one of the classes that it holds."},
    {"memory.unexplained", "B", "Blocks of which no rule says what they are.", "", kAtPeak, kLedger, "",
     "With temporary above 5 % of the peak: a note."},
    {"memory.library_workspace", "B", "Scratch of libraries and kernels on a GPU: no tensor lies there.", "", kAtPeak,
     kLedger, kPaperOnMemory, "PyTorch on a GPU alone tells it apart; elsewhere such scratch is workspace."},
    {"memory.class_peak", "B", "A class's own greatest, at an instant of its own.",
     "max over events of the class's sum", "", kLedger, "", "Peaks of classes do not add up: never stack them."},
    {"memory.held", "B", "Greatest sum as the allocator rounds.", "max over events of sum of held", "", kLedger, "",
     "Asked for <= held."},
    {"memory.steady", "B", "Live at the end of the last step, by class.", "", "", kLedger, "",
     "What stays between steps."},
    {"memory.growth", "B", "Growth of live memory from the end of step 2 to the last.", "sum at last - sum at step 2",
     "", kLedger, "", "Not 0 over many steps: a leak."},
    {"memory.allocator_difference", "B", "The allocator's own count less the ledger's, at the end.",
     "allocator_live_bytes - ledger_held_bytes", "", "The framework's counter against the ledger.", "",
     "0 where evidence is exact; absent where the framework does not count."},
    {"memory.closure", "B",
     "Resident memory that no part explains, at the end of the last step; on a GPU the process's device memory that "
     "none does.",
     "resident - touched blocks - runtime - files - kept by malloc - code made at run time - kept by MKL - tool; on a "
     "GPU: by the driver - asked for - rounding - kept by the allocator - context - libraries",
     "",
     "Pages that are there, by the kernel's account of the process; on a GPU what NVML says is used, less what was "
     "before.",
     "",
     "Closed: at most 1 % of it or 16 MiB (GPU: 64 MiB), the larger; open otherwise. On a GPU the rest came after "
     "the first step."},
    {"memory.evidence", "", "How much a framework lets be known: exact, partial or plan.", "",
     "exact: every block as it comes and goes. partial: most blocks, the rest is a residual. plan: what is planned is "
     "one sum.",
     kLedger, "", "Never split a merged class to compare it."},
};
constexpr Topic kSweep[] = {
    {"sweep.knee", "samples", "Smallest batch from which on throughput reaches 95 % of the sweep's best.",
     "min b: X(b') >= 0.95 max X for all b' >= b",
     "Workloads that differ in the batch alone. Its interval: the same rule with upper ends of X against lower ends, "
     "and "
     "the other way round.",
     "Clean pass of each workload.", "",
     "Absent with fewer than three batches that ran. A knee at the largest batch means: not saturated."},
    {"sweep.largest_batch", "samples", "The largest batch that ran.", "b* = max b with a throughput",
     "Memory-limited when the next point ended in oom or was skipped as not fitting, on the machine or against an "
     "enforced budget.",
     "Clean pass of each workload; the budget limits the worker's data.", "",
     "Not memory-limited: says only what was tried. Two budgets are two sweeps."},
};
constexpr Topic kWorkers[] = {
    {"scaling_efficiency", "", "Units per second of n workers that train together over n times those of one.",
     "X(n) / (n X(1)); intervals: in quadrature on a log scale",
     "Weak: each worker has the batch of the one. Strong: the workers share its batch. Both rows alike in all but "
     "workers, batch and how they exchange, with as many threads for each worker as for the one.",
     "Clean pass of both rows; the units of all workers over the stamps of rank 0.",
     "Constant batch per worker and constant batch of all: the words of the field for weak and strong.",
     "Holds what sharing memory and caches costs as well as the exchange. Undecided where cores per worker differ: one "
     "worker takes all cores unless --threads says otherwise."},
    {"contention", "", "What workers lose by sharing the machine: their efficiency when nothing is exchanged.",
     "X(n, exchange none) / (n X(1)); intervals: in quadrature on a log scale",
     "The workers of the second row train beside each other; they still take each step together.",
     "Clean pass of both rows.", "",
     "A few numbers a step are summed (losses, votes to end): the time of one small message, and of waiting for the "
     "slowest, is in it."},
    {"exchange_factor", "", "What workers lose by the exchange of gradients.",
     "X(n) / X(n, exchange none); intervals: in quadrature on a log scale",
     "Both rows alike in all but how they exchange; scaling_efficiency is contention times this.",
     "Clean pass of both rows.", "", "Above 1 where both are alike within their noise."},
    {"exchange_bytes", "B", "Bytes that a rank gives to sums over the ranks in a step, as they travel.",
     "sum of the sizes of its sums", "Gradients, and the few numbers of losses, norms and votes.",
     "Trace pass of several workers: the engine's own ops in the trace of each rank.", "",
     "What a link carries is 2 (n - 1) / n of it in a ring, all of it each way in a key-value store, and what "
     "protocols add."},
    {"exposed_exchange", "s", "Time of a step in which a sum was under way and nothing computed on that rank.",
     "communicating - both at once", "Overlap is the rest: hidden communication over communication.",
     "Trace pass, per rank.", "Overlap as in HTA (communication_analysis).", "Waiting for a late rank is part of it."},
    {"peer_wait", "s", "Time of a step that a rank waited in sums for the last one to begin.",
     "union over sums of [own begin, last rank's begin]", "", "Trace pass of all ranks, by one machine's clock.", "",
     "Withheld where sums end before the last rank began: clocks or orders disagree."},
    {"transfer", "s", "Time of a step in which all ranks were in a sum.", "union over sums of [last begin, first end]",
     "", "Trace pass of all ranks.", "", "Holds the adding as well."},
    {"straggler", "", "The rank that others waited for.",
     "begins most sums last: 60 % at least, and 1.2 times its share",
     "With how long it computed, over the median of the others.", "Trace pass of all ranks.", "",
     "Not named where nobody stands out."},
    {"bus_bandwidth", "B/s", "What each link carries, whatever the number of ranks.",
     "bytes wire(n) / transfer, of sums of 64 KiB and more",
     "wire(n): 2 (n - 1) / n in the ring of Gloo and TensorFlow, 1 in MXNet's key-value store.",
     "Trace pass of all ranks.", "busbw of an all-reduce in nccl-tests (doc/PERFORMANCE.md).", ""},
};

}  // namespace

std::span<const Topic> worker_topics() { return kWorkers; }
std::span<const Topic> memory_topics() { return kMemoryTopics; }
std::span<const Topic> sweep_topics() { return kSweep; }

}  // namespace tbd
