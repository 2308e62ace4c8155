// Where a cell's time went: the traced steps of a record, joined with the FLOPs and bytes of its nodes and the measured
// roofs (docs/metrics.md; the longest inefficient ops: Zhu et al. 2018, tables 5 and 6).
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/profile/counter_use.h"
#include "analysis/profile/exchange.h"
#include "analysis/profile/timeline.h"
#include "analysis/trace/host_timeline.h"
#include "analysis/trace/launch_queue.h"
#include "analysis/trace/sweep.h"
#include "record/record.h"
#include "stats/compare.h"

namespace tbd {

// A traced step over an untraced one: above, no share of time means anything.
inline constexpr double kUseless = 1.20;

// Rates of this machine with the cell's threads; absent where they were not measured.
struct Roofs {
  std::map<std::string, double> isa, gemm;  // FLOP/s by math type
  std::optional<double> bandwidth;          // B/s
  static Roofs of(const RunInfo& run);
};

// The work of nodes of one kind with equal costs, in one direction, over all steps looked at.
struct ProfileOp {
  std::string op;         // kind of the nodes: "Conv2d"; "update" and "other" where no node is said
  std::string direction;  // forward, backward, update or other
  std::string main_op;    // the framework's op that took longest: "aten::convolution_backward"
  std::string shapes;     // of its operands, as JSON; may be empty
  std::vector<std::string> nodes;
  int64_t runs = 0;  // of the main op
  int64_t total_ns = 0;
  int64_t layout_ns = 0;  // of it, in casts, transposes and copies (DeviceClass::layout)
  // Analytic, of all runs; 0 where nothing is counted.
  int64_t flop_model = 0, flop_simd = 0, bytes = 0;
  double ideal_ns = 0;                // max(sum of FLOPs over their roofs, bytes over bandwidth), at most total_ns
  std::string bound;                  // compute, memory or latency; empty where nothing is counted or no roof is known
  std::optional<double> utilization;  // FLOPs of the cell's math type over the ISA roof's in that time

  double seconds() const { return 1e-9 * static_cast<double>(total_ns); }
  double layout_loss_ns() const;            // of layout_ns, what ideal_ns does not hold
  std::optional<double> flop_rate() const;  // FLOP/s
  std::optional<double> intensity() const;  // FLOP/B
};

// The kernels of one name on a GPU, over all steps looked at. What a node needs is charged to the kernels that work for
// it together, in proportion to their time; casts, transposes and reorders are charged nothing where others work beside
// them. So a node's kernels have one utilization, and the charges add up to the FLOPs of the nodes.
struct ProfileKernel {
  std::string name;
  std::string direction;           // "forward", "forward and backward"; "other" where none is said
  std::vector<std::string> nodes;  // that it worked for; empty where the trace names none
  int64_t runs = 0, total_ns = 0;
  double flop_model = 0, flop_simd = 0;  // charged
  // Of the measured instruction peak in its time: on the units of the vector type (fp32, or fp64 in an fp64 network),
  // and on tensor cores where the network's math type runs on these. Absent without a node or a peak.
  std::optional<double> vector, tensor;
  std::optional<double> utilization;  // of the two that of the network's math type
};

// What tables 5 and 6 of the paper rank: kernels of a GPU, ops of a processor.
struct RankedWork {
  std::string name, direction;
  std::vector<std::string> nodes;
  int64_t total_ns = 0;
  std::optional<double> utilization;  // absent where nothing is counted: weighs in with 0
};

// A part of the window; all parts add up to it exactly.
struct LossPart {
  std::string cause;
  int64_t ns = 0;
};

struct FlopUse {  // of one math type
  std::string type;
  double flops = 0;                      // over the window
  std::optional<double> active, window;  // of the ISA roof, in busy time and in all time: window = active * busy share
  std::optional<double> active_of_product;  // of the best measured matrix product, in busy time
};

// One step that is looked at, to the begin of the next one of its window.
struct StepUse {
  double seconds = 0, busy_seconds = 0;  // busy: an op computed
};

struct Profile {
  int64_t steps = 0;  // looked at, of all traced launches, as is what is summed below
  int64_t window_ns = 0;
  MaskTimes masks;                                                    // sum to the window
  CauseTimes causes{};                                                // sum to masks.idle()
  std::optional<QueueUse> queue;                                      // of a GPU
  std::vector<ProfileOp> ops;                                         // longest first
  std::vector<ProfileKernel> kernels;                                 // of a GPU, longest first, without copies
  std::vector<LossPart> loss;                                         // sums to window_ns
  std::vector<FlopUse> flops;                                         // of the cell's math type first
  std::vector<std::vector<StepUse>> step_use;                         // by launch; sum to window and compute time
  std::optional<double> ideal_share;                                  // eta: ideal time over the window
  std::optional<double> cpu_utilization, system_share, minor_faults;  // of the traced steps; faults a step
  std::optional<double> cores;
  std::optional<CounterUse> counters;       // of the untraced steps; absent in records of workers that count nothing
  std::optional<Ratio> overhead;            // time of a traced step over that of the untraced ones beside it
  std::optional<double> agreement;          // median untraced step of these launches over that of the clean ones
  std::string off_cpu;                      // of how many threads scheduling is recorded, or why of none
  int64_t waiting_ns = 0;                   // the step loop's thread waited of its own will, inside ops and outside
  std::optional<ExchangeProfile> exchange;  // of several workers, in the last launch
  Timeline timeline;                        // of a step of the last launch
  std::vector<std::string> notes;           // what is withheld or doubtful, and why

  double compute_utilization() const;
  double mean_utilization() const;         // of the cell's math type, over all ranked work, weighted by time
  std::vector<RankedWork> ranked() const;  // longest first
};
std::filesystem::path trace_file(const Record& record, const Launch& launch, int64_t rank = 0);
// Of the record's launches of pass trace, of several workers by the traces of rank 0, with the FLOPs, the peaks and the
// processor time of all; nullopt without one that left a trace. Throws Error(invalid) when a trace is damaged or has
// none of the steps that were to be traced. Of a program of someone's own nobody knows what its ops need: a part
// "compute" of the loss holds the time in which they ran.
std::optional<Profile> profile_of(const Record& record);

// 95 % intervals (docs/statistics.md): of U and, for the cell's math type, of F in busy time and in all time. Of three
// traced launches or more from how launches differ, or from their steps where those say more, as of throughput; of
// fewer from their steps alone (ratios of totals, residuals of the steps). Absent with one step, and of F without its
// roof.
struct ProfileIntervals {
  std::optional<Interval> compute, active, window;
};
ProfileIntervals intervals_of(const Profile& profile);

}  // namespace tbd
