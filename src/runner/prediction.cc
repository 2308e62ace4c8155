#include "runner/prediction.h"

#include <algorithm>
#include <tuple>

#include "base/json.h"
#include "graph/expand.h"
#include "graph/memory.h"
#include "graph/passes.h"
#include "measure/core_clock.h"
#include "models/model.h"
#include "record/frameworks.h"
#include "runner/prepare.h"
#include "runner/trace_windows.h"

namespace tbd {
namespace {

constexpr double kShare = 0.6;                    // of the roof that matrix products reach
constexpr double kNodeSeconds = 100e-6;           // calls, waking threads and update, however small the nodes
constexpr double kProbes = 8;                     // workers that a search for the largest batch starts, as seen
constexpr double kRecurrentRows = 16;             // at this batch a recurrent layer reaches half of that share
constexpr int64_t kFrameworkBytes = 400ll << 20;  // a worker's own, in its data segment
constexpr double kMemoryFactor = 1.1;             // allocators and workspaces
constexpr double kAssumedClock = 3e9;             // Hz, where it cannot be measured
constexpr double kAssumedBandwidth = 10e9;        // B/s
constexpr double kPeaksSeconds = 6;               // before and after, as quick runs measure them

double rate_of(const Rates& rates, const Precision& precision) {
  const auto found = rates.flop_rate.find(precision.text());
  if (found != rates.flop_rate.end()) return found->second;
  const double fp32 = rates.flop_rate.at("fp32");
  return precision == Precision::kFp64 ? fp32 / 2 : fp32;
}

double roof_seconds(const Cost& cost, double flop_rate, double bandwidth) {
  return std::max(static_cast<double>(cost.model) / (kShare * flop_rate), static_cast<double>(cost.bytes) / bandwidth);
}

bool recurrent(const Op& op) { return std::holds_alternative<Lstm>(op) || std::holds_alternative<Gru>(op); }

// A network as its cells share it.
struct Network {
  Program program, for_counts;
  const Model* model = nullptr;
  NetworkKind kind;
};

double step_seconds(const Program& program, const Bindings& bindings, double flop_rate, double bandwidth) {
  double total = 0;
  const auto batch = static_cast<double>(bindings.at("N"));
  for (const StepEntry& entry : program.step) {
    const Phase& phase = program.phase(entry.phase);
    double once = 0;
    const Graph graph = bind(program, phase, bindings);
    const std::vector<NodeCost> costs = node_costs(graph);
    for (size_t i = 0; i < costs.size(); ++i) {
      const double rate = recurrent(graph.nodes[i].op) ? flop_rate * batch / (batch + kRecurrentRows) : flop_rate;
      once += roof_seconds(costs[i].forward, rate, bandwidth) + roof_seconds(costs[i].backward, rate, bandwidth);
    }
    once = std::max(once, kNodeSeconds * static_cast<double>(graph.nodes.size()));
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
  Predictor(const RunOptions& options, const Rates& rates, const Machine& machine)
      : options_(options), rates_(rates), machine_(machine) {}

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
    out.seconds = cell_seconds(out);
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
    network.kind = network_kind(op_rows(network.for_counts, {{"N", 1}}), loaded.model ? loaded.model->domain : "");
    return networks_.emplace(key, std::move(network)).first->second;
  }

  // Bytes and seconds, which frameworks and passes share.
  std::pair<int64_t, double> sizes(const Workload& cell, const Network& network) {
    const int64_t threads = cell.threads > 0 ? std::min(cell.threads, machine_.cores) : machine_.cores;
    const double share = static_cast<double>(threads) / static_cast<double>(std::max<int64_t>(1, rates_.threads));
    const auto key = std::tuple(cell.model, cell.config, cell.precision, cell.dropout, cell.batch, threads);
    const auto found = sizes_.find(key);
    if (found != sizes_.end()) return found->second;
    const Bindings bindings = {{"N", cell.batch}};
    const std::pair<int64_t, double> both = {
        predict_memory(network.program, bindings).peak().value,
        step_seconds(network.for_counts, bindings, share * rate_of(rates_, cell.precision), rates_.bandwidth)};
    return sizes_.emplace(key, both).first->second;
  }

  // The batch whose memory fills the budget, as far as memory is a line through that of two batches.
  int64_t largest(const Workload& cell, const Network& network) const {
    const auto bytes = [&](int64_t n) { return predict_memory(network.program, {{"N", n}}).peak().value; };
    const int64_t one = bytes(1), each = std::max<int64_t>(1, bytes(2) - one);
    const double room = static_cast<double>(cell.memory_budget_bytes.value_or(0) - kFrameworkBytes) / kMemoryFactor;
    return std::max<int64_t>(1, 1 + static_cast<int64_t>(room - static_cast<double>(one)) / each);
  }

  bool fits(const CellPrediction& p) const {
    const double needed = kMemoryFactor * static_cast<double>(p.memory_bytes) + static_cast<double>(kFrameworkBytes);
    const auto within = [&](int64_t limit) { return needed <= static_cast<double>(limit); };
    if (p.cell.memory_budget_bytes && !within(*p.cell.memory_budget_bytes)) return false;
    return p.cell.device != Device::kCpu || !machine_.memory || within(*machine_.memory);
  }

  double cell_seconds(const CellPrediction& p) const {
    const double start = usual_start_seconds(p.cell.framework);
    if (!p.fits) return start + p.step_seconds;
    const double limit = options_.limit_seconds.value_or(level(options_.effort).limit_seconds);
    const double probe = start + 2 * p.step_seconds + std::min(2.0, 11 * p.step_seconds);
    double total = p.cell.batch == kLargestThatFits ? kProbes * probe : 0;
    for (const Pass& pass : options_.passes) {
      const int64_t launches = pass == Pass::kClean ? options_.launches.value_or(level(options_.effort).launches) : 1;
      total += static_cast<double>(launches) * (start + launch_seconds(pass, p.step_seconds, options_.effort, limit));
    }
    return total;
  }

  const RunOptions& options_;
  const Rates& rates_;
  const Machine& machine_;
  std::map<std::tuple<std::string, std::string, Precision, DropoutMode>, Network> networks_;
  std::map<std::tuple<std::string, std::string, Precision, DropoutMode, int64_t, int64_t>, std::pair<int64_t, double>>
      sizes_;
};

// FLOPs of one core in one cycle, fp32: two multiply-adds of eight numbers, or what is left without them.
double flops_a_cycle() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") ? 32 : 8;
#else
  return 16;
#endif
}

}  // namespace

Rates assumed_rates(int64_t threads) {
  const std::optional<double> clock = measure_core_clock();
  const double fp32 = clock.value_or(kAssumedClock) * flops_a_cycle() * static_cast<double>(threads);
  return {.flop_rate = {{"fp32", fp32}},
          .bandwidth = kAssumedBandwidth,
          .threads = threads,
          .source = cat("assumed: ", significant(flops_a_cycle()), " FLOPs a core and cycle at ",
                        clock ? "the measured clock of " : "", format_rate(clock.value_or(kAssumedClock)), "Hz, ",
                        format_rate(kAssumedBandwidth), "B/s of memory; no record with peaks was found")};
}

std::optional<Rates> rates_of(const Json& peaks, const std::string& source) {
  const auto isa = maybe<Json>(peaks, "isa");
  const auto bandwidth = maybe<double>(peaks, "bandwidth");
  const auto before = maybe<Json>(peaks, "before");
  if (before && before->contains("gpu")) return std::nullopt;
  if (!isa || !isa->is_object() || !maybe<double>(*isa, "fp32") || !bandwidth) return std::nullopt;
  Rates rates{.flop_rate = {},
              .bandwidth = *bandwidth,
              .threads = maybe<int64_t>(peaks, "threads").value_or(1),
              .source = cat("measured: the peaks of ", source)};
  for (const auto& [type, rate] : isa->items())
    if (rate.is_number() && rate.get<double>() > 0) rates.flop_rate[type] = rate.get<double>();
  if (!rates.flop_rate.contains("fp32") || !(rates.bandwidth > 0)) return std::nullopt;
  return rates;
}

std::vector<CellPrediction> predict(const std::vector<Workload>& cells, const RunOptions& options, const Rates& rates,
                                    const Machine& machine) {
  Predictor predictor(options, rates, machine);
  std::vector<CellPrediction> out;
  for (const Workload& cell : cells) out.push_back(predictor.predict(cell));
  return out;
}

double total_seconds(const std::vector<CellPrediction>& cells) {
  double total = 0;
  for (const CellPrediction& cell : cells) total += cell.seconds;
  return total;
}

double seconds_beside(const RunOptions& options) { return options.peaks ? kPeaksSeconds : 0; }

}  // namespace tbd
