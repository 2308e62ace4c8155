#include "runner/prediction.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "graph/expand.h"
#include "graph/keeping.h"
#include "graph/least_batch.h"
#include "graph/passes.h"
#include "models/model.h"
#include "record/frameworks.h"
#include "runner/largest_batch.h"
#include "runner/launch_schedule.h"
#include "runner/prepare.h"
#include "runner/trace_windows.h"

namespace tbd {
namespace {

constexpr double kShare = 0.6, kGpuShare = 0.4;   // of the roof that matrix products reach
constexpr double kNodeSeconds = 100e-6;           // calls, waking threads and update, however small the nodes
constexpr double kProbes = 8;                     // workers that a search for the largest batch starts, as seen
constexpr double kRecurrentRows = 16;             // at this batch a recurrent layer reaches half of that share
constexpr double kGpuNodeSeconds = 80e-6;         // of the host, which launches the kernels of forward and backward
constexpr double kGraphNodeSeconds = 5e-6;        // of the device, which starts them by itself
constexpr int64_t kFrameworkBytes = 400ll << 20;  // a worker's own, in its data segment
constexpr int64_t kContextBytes = 600ll << 20;    // CUDA's context, modules and workspaces, in the device's memory
constexpr double kMemoryFactor = 1.1;             // allocators and workspaces
constexpr int64_t kPair = 2;                      // samples: batch statistics of one value are none
constexpr double kPeaksSeconds = 6;               // before and after, as quick runs measure them

double rate_of(const Rates& rates, const Precision& precision) {
  const auto found = rates.flop_rate.find(precision.text());
  if (found != rates.flop_rate.end()) return found->second;
  const double fp32 = rates.flop_rate.at("fp32");
  return precision == Precision::kFp64 ? fp32 / 2 : fp32;
}

bool trains_on_gpu(const Workload& cell) { return !cell.device.empty() && cell.device != Device::kCpu; }

double node_seconds(const Workload& cell) {
  if (!trains_on_gpu(cell)) return kNodeSeconds;
  return cell.mode == Mode::kCudaGraph ? kGraphNodeSeconds : kGpuNodeSeconds;
}

// What the nodes of a step run at.
struct NodeRoof {
  double flop_rate = 0, bandwidth = 0, node_seconds = 0;  // the rate that is reached
};

double roof_seconds(const Cost& cost, double flop_rate, double bandwidth) {
  return std::max(static_cast<double>(cost.model) / flop_rate, static_cast<double>(cost.bytes) / bandwidth);
}

bool recurrent(const Op& op) { return std::holds_alternative<Lstm>(op) || std::holds_alternative<Gru>(op); }

// A network as its cells share it.
struct Network {
  Program program, for_counts;
  const Model* model = nullptr;
  NetworkKind kind;
};

double step_seconds(const Program& program, const Bindings& bindings, const NodeRoof& roof) {
  double total = 0;
  const auto batch = static_cast<double>(bindings.at("N"));
  for (const StepEntry& entry : program.step) {
    const Phase& phase = program.phase(entry.phase);
    double once = 0;
    const Graph graph = bind(program, phase, bindings);
    const std::vector<NodeCost> costs = node_costs(graph);
    for (size_t i = 0; i < costs.size(); ++i) {
      const double share = recurrent(graph.nodes[i].op) ? batch / (batch + kRecurrentRows) : 1;
      once += roof_seconds(costs[i].forward, share * roof.flop_rate, roof.bandwidth) +
              roof_seconds(costs[i].backward, share * roof.flop_rate, roof.bandwidth);
    }
    once = std::max(once, roof.node_seconds * static_cast<double>(graph.nodes.size()));
    total += static_cast<double>(entry.repeat * phase.accumulate) * once;
  }
  return total;
}

double launch_seconds(const Pass& pass, double step, Effort effort, double limit) {
  const EffortLevel& wants = level(effort);
  const double begin = 2 * step;
  if (pass == Pass::kMemory) return begin + std::min(limit, static_cast<double>(memory_steps(effort)) * step);
  if (pass == Pass::kTrace) {
    const double times[] = {step};
    const TraceWindows windows = trace_windows(times, effort, limit * 2 / 3);
    const auto window = static_cast<double>(windows.steps) * step;
    return begin + std::min(limit / 3 + step, 1.5 * window) + 2 * static_cast<double>(windows.count) * window;
  }
  const double wanted = std::max(1.2 * static_cast<double>(wants.steps) * step, 1.2 * wants.seconds);
  return begin + std::min(limit + step, wanted);
}

class Predictor {
 public:
  Predictor(const RunOptions& options, const Hardware& hardware) : options_(options), hardware_(hardware) {}

  CellPrediction predict(const Workload& cell) {
    const Network& network = network_of(cell);
    CellPrediction out{.cell = cell};
    out.cell.config = network.program.config;
    if (cell.batch == 0) out.cell.batch = default_batch(network.model ? network.model->sweep : std::vector<int64_t>{});
    out.batch = out.cell.batch == kLargestThatFits ? largest(out.cell, network) : out.cell.batch;
    Workload sized = out.cell;
    sized.batch = out.batch;
    std::tie(out.memory_bytes, out.step_seconds) = sizes(sized, network);
    out.kind = network.kind;
    out.fits = fits(out);
    out.seconds = launches_seconds(out, options_);
    return out;
  }

 private:
  const Network& network_of(const Workload& cell) {
    const auto key = std::tuple(cell.model, cell.config, cell.precision, cell.dropout);
    const auto found = networks_.find(key);
    if (found != networks_.end()) return found->second;
    LoadedProgram loaded = load_program(cell.model, cell.config);
    Network network{.program = with_precision(with_dropout(std::move(loaded.program), cell.dropout), cell.precision),
                    .for_counts = {},
                    .model = loaded.model,
                    .kind = {}};
    network.for_counts = expanded_for_counts(network.program);
    network.kind = network_kind(op_rows(network.for_counts, {{"N", kPair}}), loaded.model ? loaded.model->domain : "");
    return networks_.emplace(key, std::move(network)).first->second;
  }

  NodeRoof roof_of(const Workload& cell) const {
    if (trains_on_gpu(cell)) {
      const Rates& rates = hardware_.gpu.rates;
      return {kGpuShare * rate_of(rates, cell.precision), rates.bandwidth, node_seconds(cell)};
    }
    const Rates& rates = hardware_.rates;
    const double share =
        static_cast<double>(threads_of(cell)) / static_cast<double>(std::max<int64_t>(1, rates.threads));
    return {kShare * share * rate_of(rates, cell.precision), rates.bandwidth / static_cast<double>(cell.workers),
            node_seconds(cell)};
  }

  int64_t threads_of(const Workload& cell) const {
    const int64_t cores = std::max<int64_t>(1, hardware_.machine.cores / cell.workers);
    return cell.threads > 0 ? std::min(cell.threads, cores) : cores;
  }

  // Bytes and seconds, which frameworks of one keeper and passes share.
  std::pair<int64_t, double> sizes(const Workload& cell, const Network& network) {
    const NodeRoof roof = roof_of(cell);
    const auto key = std::tuple(cell.model, cell.config, cell.precision, cell.dropout, cell.batch,
                                keeper_of(cell.framework), roof.flop_rate, roof.bandwidth, roof.node_seconds);
    const auto found = sizes_.find(key);
    if (found != sizes_.end()) return found->second;
    const Bindings bindings = {{"N", cell.batch}};
    const std::pair<int64_t, double> both = {bytes_of_step(network.program, cell.framework)(cell.batch),
                                             step_seconds(network.for_counts, bindings, roof)};
    return sizes_.emplace(key, both).first->second;
  }

  // The batch whose memory fills the budget, as far as memory is a line through that of two batches.
  int64_t largest(const Workload& cell, const Network& network) const {
    const PredictBytes bytes = bytes_of_step(network.program, cell.framework);
    const int64_t pair = bytes(kPair), each = std::max<int64_t>(1, bytes(kPair + 1) - pair);
    const double room = static_cast<double>(cell.memory_budget_bytes.value_or(0) - own_bytes(cell)) / kMemoryFactor;
    const double more = std::floor((room - static_cast<double>(pair)) / static_cast<double>(each));
    return std::max(least_batch(network.program, {}), kPair + static_cast<int64_t>(more));
  }

  static int64_t own_bytes(const Workload& cell) { return trains_on_gpu(cell) ? kContextBytes : kFrameworkBytes; }

  bool fits(const CellPrediction& p) const {
    const double needed = kMemoryFactor * static_cast<double>(p.memory_bytes) + static_cast<double>(own_bytes(p.cell));
    const auto within = [&](const std::optional<int64_t>& limit) {
      return !limit || needed <= static_cast<double>(*limit);
    };
    const double of_all = needed * static_cast<double>(p.cell.workers);
    const std::optional<int64_t> all = trains_on_gpu(p.cell) ? hardware_.gpu.memory_bytes : hardware_.machine.memory;
    return within(p.cell.memory_budget_bytes) && (!all || of_all <= static_cast<double>(*all));
  }

  const RunOptions& options_;
  const Hardware& hardware_;
  std::map<std::tuple<std::string, std::string, Precision, DropoutMode>, Network> networks_;
  std::map<std::tuple<std::string, std::string, Precision, DropoutMode, int64_t, Keeper, double, double, double>,
           std::pair<int64_t, double>>
      sizes_;
};

}  // namespace

std::vector<CellPrediction> predict(const std::vector<Workload>& cells, const RunOptions& options,
                                    const Hardware& hardware) {
  Predictor predictor(options, hardware);
  std::vector<CellPrediction> out;
  for (const Workload& cell : cells) out.push_back(predictor.predict(cell));
  return out;
}

double launches_seconds(const CellPrediction& p, const RunOptions& options) {
  const double start = usual_start_seconds(p.cell.framework);
  if (!p.fits) return start + p.step_seconds;
  const double limit = options.limit_seconds.value_or(level(options.effort).limit_seconds);
  const double probe = start + 2 * p.step_seconds + std::min(2.0, 11 * p.step_seconds);
  double total = p.cell.batch == kLargestThatFits ? kProbes * probe : 0;
  for (const Pass& pass : options.passes) {
    const int64_t clean = options.launches.value_or(level(options.effort).launches);
    const double longest = launch_limit(pass, options.effort, clean, limit);
    total += static_cast<double>(pass == Pass::kClean ? clean : 1) *
             (start + launch_seconds(pass, p.step_seconds, options.effort, longest));
  }
  return total;
}

double total_seconds(const std::vector<CellPrediction>& cells) {
  double total = 0;
  for (const CellPrediction& cell : cells) total += cell.seconds;
  return total;
}

double seconds_beside(const RunOptions& options) { return options.peaks ? kPeaksSeconds : 0; }

}  // namespace tbd
