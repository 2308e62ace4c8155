#include "runner/equivalence/ranks.h"

#include <algorithm>
#include <map>

#include "base/files.h"
#include "base/philox.h"
#include "measure/clock.h"
#include "models/model.h"
#include "record/safetensors.h"
#include "runner/prepare.h"
#include "runner/team.h"

namespace tbd {
namespace {

constexpr double kBound = 1e-12;  // of the tensor's largest element; sums of W shares round differently from W in turn
constexpr double kRoundings = 10;

struct Trained {
  std::vector<TensorMap> ranks;          // loss, parameters and state after the last step
  std::map<std::string, double> losses;  // of the last step, by phase
};

// Averages of what each rank keeps for itself.
bool is_own(const std::string& name, const Program& program) {
  return std::ranges::any_of(
      program.buffers, [&](const Parameter& buffer) { return name.starts_with(cat("state/", buffer.name, "/")); });
}

// Each element up or down by one rounding.
void move_by_a_rounding(TensorMap& weights) {
  for (auto& [name, tensor] : weights) {
    if (tensor.dtype() != DType::f64) continue;
    const Philox random(0, cat("ranks/", name));
    uint64_t i = 0;
    for (double& value : tensor.as<double>()) value *= 1 + (random.uniform(i++) < 0.5 ? -0x1p-52 : 0x1p-52);
  }
}

void move_weights(Team& team, const std::string& file, double seconds) {
  team.rank(0).ask<protocol::ReadReply>(protocol::Read{{"param/"}, file}, "writing tensors", seconds);
  TensorMap weights = read_safetensors(file);
  move_by_a_rounding(weights);
  write_safetensors(file, weights);
  team.ask<protocol::WriteReply>(protocol::Write{file}, "taking tensors", seconds);
}

// Where workers leave their tensors: what the name of such a folder begins with.
std::string scratch_of(const CheckOptions& options, int64_t world, const RunnerSettings& settings) {
  if (run_on_one_machine(settings, world)) return "tbd-ranks";
  const std::filesystem::path shared = std::filesystem::absolute(options.reproduction);
  make_folder(shared);
  return (shared / "ranks").string();
}

enum class Weights { as_drawn, moved };
Trained trained(const PreparedCell& prepared, int64_t world, const RunnerSettings& settings,
                const std::string& scratch_name, Weights weights = Weights::as_drawn) {
  const TemporaryFolder scratch(scratch_name);
  Team team(prepared, settings, {.world = world, .folder = scratch.path()});
  team.hello();
  team.load(load_request(prepared, false));
  if (weights == Weights::moved) move_weights(team, (scratch.path() / "weights").string(), settings.deadlines.other);
  protocol::Run request{.steps = kRankSteps, .input = input_plan(prepared)};
  request.input.mode = InputMode::kPipeline;
  const auto replies = team.each([&](WorkerProcess& worker, int64_t) {
    return worker.run(request, [](std::span<const StepRow>) { return false; });
  });
  if (settings.interrupted())
    throw WorkerFault({.kind = OutcomeKind::interrupted, .reason = "interrupted", .repro = ""});
  if (replies[0].ended == "nonfinite")
    throw WorkerFault({.kind = OutcomeKind::nonfinite,
                       .reason = cat("a value is not finite, first in '", replies[0].nonfinite, "'"),
                       .repro = ""});
  Trained out{.losses = replies[0].losses};
  out.ranks = team.each([&](WorkerProcess& worker, int64_t rank) {
    const std::string file = (scratch.path() / cat("rank-", rank)).string();
    worker.ask<protocol::ReadReply>(protocol::Read{{"param/", "state/"}, file}, "writing tensors",
                                    settings.deadlines.other);
    TensorMap state = read_safetensors(file);
    std::erase_if(state, [&](const auto& entry) { return is_own(entry.first, prepared.program); });
    return state;
  });
  team.bye();
  return out;
}

Finding finding(const std::string& where, const std::string& what, double error, double spread) {
  const double bound = std::max(kBound, kRoundings * spread);
  return {.where = where,
          .what = what,
          .error = error,
          .bound = bound,
          .source = bound > kBound ? "10 times a rounding's effect" : "rounding of sums"};
}

double relative(const HostTensor& got, const HostTensor& expected) {
  return largest_difference(got, expected) / std::max(largest(expected), 1e-300);
}
double relative(double got, double expected) { return std::abs(got - expected) / std::max(std::abs(expected), 1e-300); }

// `moved`: the one worker from weights that are moved by a rounding each; nullptr: as if that made no difference.
GateResult compared(const Trained& together, const Trained& alone, const Trained* moved) {
  GateResult gate{.gate = Gate::ranks};
  for (const auto& [phase, loss] : alone.losses)
    gate.add(finding(cat("loss of ", phase), "loss", relative(together.losses.at(phase), loss),
                     moved ? relative(moved->losses.at(phase), loss) : 0));
  const std::string after = cat("after ", kRankSteps, " steps");
  for (const auto& [name, expected] : alone.ranks[0]) {
    const HostTensor& got = together.ranks[0].at(name);
    gate.add(finding(name, after, relative(got, expected), moved ? relative(moved->ranks[0].at(name), expected) : 0));
    for (size_t rank = 1; rank < together.ranks.size(); ++rank)
      gate.add({.where = name,
                .what = cat("on rank ", rank, " against rank 0"),
                .error = largest_difference(together.ranks[rank].at(name), got),
                .bound = 0,
                .source = "replicas are equal"});
  }
  return gate;
}

// The same step by one worker: each phase takes the micro-batches of all ranks.
PreparedCell by_one(PreparedCell prepared, int64_t world) {
  for (const StepEntry& entry : prepared.program.step)
    for (Phase& phase : prepared.program.phases)
      if (phase.name == entry.phase) phase.accumulate *= world;
  return prepared;
}

FrameworkVerdict judged(const PreparedCell& prepared, int64_t world, const RunnerSettings& settings,
                        const std::string& scratch) {
  FrameworkVerdict verdict{.framework = prepared.worker->key, .version = prepared.worker->version};
  const int64_t began = now_ns();
  try {
    const PreparedCell whole = by_one(prepared, world);
    const Trained together = trained(prepared, world, settings, scratch), alone = trained(whole, 1, settings, scratch);
    GateResult gate = compared(together, alone, nullptr);
    if (!gate.failed.empty()) {
      const Trained moved = trained(whole, 1, settings, scratch, Weights::moved);
      gate = compared(together, alone, &moved);
    }
    verdict.gates.push_back(std::move(gate));
  } catch (const WorkerFault& fault) {
    if (fault.outcome().kind == OutcomeKind::interrupted) throw;
    verdict.fault = fault.what();
    if (verdict.fault.find(scratch) != std::string::npos) verdict.fault += ": all hosts must see the folder of --out";
  }
  verdict.seconds = 1e-9 * static_cast<double>(now_ns() - began);
  return verdict;
}

}  // namespace

CheckResult check_ranks(const CheckOptions& options, int64_t world, const RunnerSettings& settings) {
  require(world >= 2, "ranks to compare: ", world);
  Workload cell{.model = options.model,
                .config = options.config.empty() ? tiny_config_of(options.model, "") : options.config,
                .batch = options.batch > 0 ? options.batch : 2,
                .precision = Precision::kFp64,
                .exchange = options.exchange,
                .layout = options.layout,
                .mode = options.mode,
                .dropout = DropoutMode::kMask,
                .seed = options.seed};
  const LoadedProgram loaded = load_program(cell.model, cell.config);
  CheckResult result{
      .model = loaded.program.model,
      .config = loaded.program.config,
      .model_hash = program_hash(loaded.program),
      .batch = cell.batch,
      .against = cat("one worker that accumulates ", world, " micro-batches, in float64",
                     options.exchange == ExchangeMode::kAllReduce ? "" : cat(", by exchange ", options.exchange))};
  const std::string scratch = scratch_of(options, world, settings);
  for (const WorkerEntry* entry : checked_workers(options, settings)) {
    if (options.progress) options.progress(cat(entry->key, ", ", world, " workers"));
    cell.framework = entry->key;
    const PreparedCell prepared = prepare(cell, Effort::smoke, settings);
    if (prepared.refused)
      result.verdicts.push_back(
          {.framework = entry->key, .version = entry->version, .fault = prepared.refused->reason});
    else
      result.verdicts.push_back(judged(prepared, world, settings, scratch));
  }
  return result;
}

}  // namespace tbd
