#include "runner/equivalence/equivalence.h"

#include <algorithm>
#include <functional>
#include <future>
#include <mutex>

#include "graph/passes.h"
#include "graph/schedule.h"
#include "runner/equivalence/reproduction.h"
#include "runner/equivalence/update_rule.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

// Runs with moved weights and inputs. The worst of four says little of a tensor that is a small difference of large
// terms: where steps are quick, more are made (docs/equivalence.md).
constexpr int64_t kMovedRuns = 4, kQuickMovedRuns = 12, kQuickParameters = 1'000'000;
const std::vector<std::string> kFirst = {"loss", "term/", "output/", "grad/"}, kLast = {"param/", "buffer/", "state/"};
const std::vector<std::string> kNodes = {"output/", "grad/", "buffer/n", "param/rule.", "state/rule."};
const std::vector<std::string> kRule = {"grad/rule.", "param/rule.", "state/rule."};
const Bindings kOne = {{"N", 1}};

// At most two at a time: a launch is mostly the loading of one framework by one thread.
void in_pairs(const std::vector<std::function<void()>>& work) {
  for (size_t i = 0; i < work.size(); i += 2) {
    std::future<void> beside;
    if (i + 1 < work.size()) beside = std::async(std::launch::async, work[i + 1]);
    work[i]();
    if (beside.valid()) beside.get();
  }
}

bool has_dropout(const Program& program) {
  for (const Phase& phase : program.phases)
    for (const Node& node : phase.nodes)
      if (dropout_rate(node.op)) return true;
  return false;
}

int64_t moved_runs(const Program& program) {
  int64_t parameters = 0;
  for (const Parameter& parameter : program.parameters) parameters += parameter.shape.elements();
  return parameters <= kQuickParameters ? kQuickMovedRuns : kMovedRuns;
}

// Steps from the same weights and inputs.
StepRun whole_run(const TensorMap& weights, const TensorMap& inputs) {
  return {.weights = weights, .inputs = inputs, .stops = {{1, kFirst}, {kWholeSteps, kLast}}};
}

WholeStep whole_step(StepRunResult&& result, const Padding& padding) {
  padding.clear(result.at.front());
  return {std::move(result.at.front()), std::move(result.at.back())};
}

void keep_rule(TensorMap& tensors) {
  std::erase_if(tensors, [](const auto& each) {
    return std::ranges::none_of(kRule, [&](const std::string& prefix) { return each.first.starts_with(prefix); });
  });
}

// The first number of a region names its picture: it is never moved.
void keep_pictures(const Program& program, const TensorMap& exact, TensorMap& moved) {
  for (const Node& node : program.phases.front().nodes) {
    const auto* align = std::get_if<RoiAlign>(&node.op);
    if (!align) continue;
    const std::string& rois = node.inputs[align->scales.size()];
    for (auto& [name, tensor] : moved) {
      if (name != rois && !name.ends_with(cat("/", rois))) continue;
      const std::span<const float> from = exact.at(name).as<float>();
      for (size_t i = 0; i < from.size(); i += 5) tensor.as<float>()[i] = from[i];
    }
  }
}

TensorMap moved_inputs(const Program& program, int ulps, const TensorMap& inputs, uint64_t seed) {
  TensorMap out = moved_by(ulps, inputs, seed);
  keep_pictures(program, inputs, out);
  return out;
}

// By one unit in the last place: weights, upstream gradients and the corners of regions, whose places in a map are
// rounded. Masks and weights of rows are what they are.
StepRun moved_node_run(const NodeProgram& nodes) {
  TensorMap inputs = moved_inputs(nodes.program, 1, nodes.inputs, 2);
  for (const NodeCase& node : nodes.cases)
    for (const std::string& name : node.names) {
      const auto given = nodes.inputs.find(name);
      if (given != nodes.inputs.end() && !std::holds_alternative<RoiAlign>(node.op)) inputs[name] = given->second;
    }
  return {.weights = moved_by(1, nodes.weights, 1), .inputs = std::move(inputs), .stops = {{1, kNodes}}};
}

StepRun node_run(const TensorMap& weights, const TensorMap& inputs) {
  return {.weights = weights, .inputs = inputs, .stops = {{1, kNodes}, {2, kRule}, {kRuleSteps, kRule}}};
}

}  // namespace

double peak_rate(const Schedule& schedule, int64_t batch) {
  double peak = 0;
  for (int64_t step = 1; step < int64_t{1} << 40; step += std::max<int64_t>(1, step / 64)) {
    peak = std::max(peak, learning_rate(schedule, step, batch));
    if (schedule.kind == Schedule::Kind::constant && step > 1000 && schedule.warmup < static_cast<double>(step)) break;
  }
  return peak;
}

Equivalence::Equivalence(const Program& program, const EquivalenceOptions& options, const Stepper& reference)
    : options_(options) {
  if (options.precision != Precision::kFp32 && options.precision != Precision::kFp64)
    fail(ErrorKind::usage, "frameworks are compared in fp32 or fp64, not in ", options.precision);
  validate(program, {{"N", options.batch}});
  for (const StepEntry& entry : program.step) {
    const Program phase = alone(program, entry.phase);
    cases_.push_back(make_case(with_dropout(phase, DropoutMode::kOff), entry.phase, reference));
    if (has_dropout(phase))
      cases_.push_back(make_case(with_dropout(phase, DropoutMode::kMask), entry.phase + ", masks given", reference));
  }
  if (has_step_list(program)) list_.emplace(program, Bindings{{"N", options.batch}}, options.seed, reference);
}

// Weights and inputs as tbd's generators give them, in float32. Norms are for every worker to compute.
void Equivalence::draw(Case& made, const Stepper& reference) const {
  StepJob job{.program = made.program, .bindings = made.bindings, .seed = options_.seed};
  job.runs = {{.stops = {{1, {"loss"}}}}};
  StepRunResult drawn = std::move(reference(job).front());
  made.weights = std::move(drawn.weights);
  made.inputs = std::move(drawn.inputs);
  std::erase_if(made.inputs, [](const auto& input) { return input.first.find("norm/") != std::string::npos; });
}

// Every value of the first micro-batch, its upstream gradients, and the host results of all, which are injected.
TensorMap Equivalence::tap(Case& made, const Stepper& reference) const {
  const Program program = tapped(made.program, made.bindings);
  StepJob job{.program = with_precision(program, Precision::kFp64),
              .bindings = made.bindings,
              .precision = Precision::kFp64,
              .lr = 0.0};
  const int64_t runs = has_host_calls(made.program) ? made.program.phases.front().accumulate : 1;
  TensorMap weights = made.weights;
  for (const Parameter& probe : program.parameters)
    if (probe.name.starts_with("probe/")) weights["param/" + probe.name] = HostTensor(DType::f32, probe.shape);
  for (int64_t run = 0; run < runs; ++run)
    job.runs.push_back({.weights = weights,
                        .inputs = inputs_of_run(made.program, made.inputs, run),
                        .stops = {{1, {"output/tap/", "grad/probe/"}}}});
  std::vector<TensorMap> values;
  for (StepRunResult& result : reference(job)) {
    TensorMap& named = values.emplace_back();
    for (auto& [name, tensor] : result.at.front())
      named[name.starts_with("output/") ? name.substr(7) : name] = std::move(tensor);
  }
  if (has_host_calls(made.program)) {
    Injected injected = with_host_results(made.program, made.bindings, values);
    made.program = std::move(injected.program);
    made.inputs.merge(injected.inputs);
  }
  TensorMap all = std::move(values.front());
  for (const auto& [name, tensor] : made.weights) all[name.substr(name.find('/') + 1)] = tensor;
  all.merge(inputs_of_run(made.program, made.inputs, 0));
  return all;
}

Equivalence::Case Equivalence::make_case(const Program& program, const std::string& label,
                                         const Stepper& reference) const {
  Case made{.label = label, .program = program, .bindings = {{"N", options_.batch}}};
  const Phase& phase = program.phases.front();
  made.lr = peak_rate(phase.update.schedule, options_.batch * phase.accumulate);
  draw(made, reference);
  TensorMap values = tap(made, reference);
  made.nodes = node_program(made.program, made.bindings, values);
  made.padding.emplace(made.program, made.bindings, made.inputs);
  values.clear();

  const auto job = [&](const Precision& precision, const ImageLayout& layout, int64_t threads) {
    return StepJob{.program = with_precision(made.program, precision),
                   .bindings = made.bindings,
                   .precision = precision,
                   .layout = layout,
                   .threads = threads,
                   .seed = options_.seed,
                   .lr = made.lr};
  };
  std::mutex guard;
  const auto spread = [&](const ImageLayout& layout, int64_t threads, int64_t moved) {
    StepJob each = job(Precision::kFp32, layout, threads);
    each.runs = {whole_run(made.weights, made.inputs)};
    for (int64_t i = 0; i < moved; ++i)
      each.runs.push_back(whole_run(moved_by(2, made.weights, 2 * static_cast<uint64_t>(i)),
                                    moved_inputs(made.program, 2, made.inputs, 2 * static_cast<uint64_t>(i) + 1)));
    for (StepRunResult& result : reference(each)) {
      const WholeStep step = whole_step(std::move(result), *made.padding);
      const std::lock_guard lock(guard);
      made.whole->add_float32_run(step);
    }
  };
  // The float32 runs are held against the float64 one, which the first pair brings.
  in_pairs({[&] {
              StepJob exact = job(Precision::kFp64, ImageLayout::kNchw, 0);
              exact.runs = {whole_run(made.weights, made.inputs)};
              made.whole.emplace(whole_step(std::move(reference(exact).front()), *made.padding));
            },
            [&] {
              StepJob exact{.program = with_precision(made.nodes.program, Precision::kFp64),
                            .bindings = kOne,
                            .precision = Precision::kFp64,
                            .layout = ImageLayout::kNchw,
                            .lr = kRuleRate};
              exact.runs = {node_run(made.nodes.weights, made.nodes.inputs), moved_node_run(made.nodes)};
              std::vector<StepRunResult> results = reference(exact);
              made.node_reference.moved = std::move(results[1].at.front());
              made.node_reference.exact = results[0].at.front();
              made.rule = std::move(results[0].at);
              keep_rule(made.rule.front());
            },
            [&] { spread(ImageLayout::kNchw, 1, moved_runs(made.program)); }, [&] { spread(ImageLayout::kNhwc, 2, 0); },
            [&] { spread(ImageLayout::kNchw, 2, 0); }, [&] { spread(ImageLayout::kNhwc, 1, 0); }});
  return made;
}

void Equivalence::judge_case(const Case& each, const Subject& subject, const std::filesystem::path& reproduction,
                             FrameworkVerdict& verdict) const {
  const DType dtype = options_.precision == Precision::kFp64 ? DType::f64 : DType::f32;
  WholeStep whole;
  std::vector<TensorMap> nodes;
  std::string no_nodes;  // why nodes and rule cannot be judged: their program needs what the worker has not
  in_pairs({[&] {
              StepJob job{.program = with_precision(each.nodes.program, options_.precision),
                          .bindings = kOne,
                          .precision = options_.precision,
                          .layout = subject.layout,
                          .mode = subject.mode,
                          .lr = kRuleRate};
              job.runs = {node_run(each.nodes.weights, each.nodes.inputs)};
              try {
                nodes = std::move(subject.step(job).front().at);
              } catch (const WorkerFault& fault) {
                if (fault.outcome().kind != OutcomeKind::unsupported) throw;
                no_nodes = fault.outcome().reason;
              }
            },
            [&] {
              StepJob job{.program = with_precision(each.program, options_.precision),
                          .bindings = each.bindings,
                          .precision = options_.precision,
                          .layout = subject.layout,
                          .mode = subject.mode,
                          .seed = options_.seed,
                          .lr = each.lr};
              job.runs = {whole_run(each.weights, each.inputs)};
              whole = whole_step(std::move(subject.step(job).front()), *each.padding);
            }});
  const Update& update = each.program.phases.front().update;
  std::map<std::string, double> rounded;
  if (subject.rounds_betas) rounded = rounded_decays(each.program, whole.last);
  std::vector<GateResult> gates = {{.gate = Gate::node, .worst = {}, .failed = {}},
                                   {.gate = Gate::rule, .worst = {}, .failed = {}},
                                   each.whole->judge(whole, rounded)};
  if (no_nodes.empty()) {
    gates[0] = judge_nodes(each.nodes, each.node_reference, nodes.front(), dtype);
    gates[1] = judge_rule(update, each.nodes, each.rule, nodes, dtype, subject.rounds_betas);
  } else {
    gates[0].skipped = gates[1].skipped = no_nodes;
  }
  if (verdict.gates.empty())
    for (const GateResult& gate : gates) verdict.gates.push_back({.gate = gate.gate, .worst = {}, .failed = {}});
  for (size_t i = 0; i < verdict.gates.size(); ++i) verdict.gates[i].merge(gates[i], each.label);
  for (const std::string& node : each.nodes.left_out) verdict.left_out.push_back(cat(each.label, ": ", node));
  if (reproduction.empty() || !verdict.reproduction.empty() || gates[0].failed.empty()) return;
  verdict.reproduction = write_reproduction(reproduction, subject, each.nodes, gates[0].failed.front(),
                                            each.node_reference, nodes.front());
}

FrameworkVerdict Equivalence::judge(const Subject& subject, const std::filesystem::path& reproduction) const {
  FrameworkVerdict verdict{.framework = subject.framework, .version = subject.version};
  try {
    for (const Case& each : cases_) judge_case(each, subject, reproduction, verdict);
    if (list_) {
      const StepJob like{.precision = options_.precision, .layout = subject.layout, .mode = subject.mode};
      verdict.gates.back().merge(list_->judge(like, subject.step, subject.rounds_betas), "all phases");
    }
  } catch (const WorkerFault& fault) {
    if (fault.outcome().kind == OutcomeKind::interrupted) throw;
    verdict.fault = fault.what();
  }
  return verdict;
}

}  // namespace tbd
