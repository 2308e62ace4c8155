#include "graph/passes.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "graph/graph.h"

namespace tbd {
namespace {

Program with_doubles(Program program) {
  for (Parameter& parameter : program.parameters) parameter.dtype = doubled(parameter.dtype);
  for (Parameter& buffer : program.buffers) buffer.dtype = doubled(buffer.dtype);
  for (Phase& phase : program.phases) {
    for (InputSpec& input : phase.inputs) input.dtype = doubled(input.dtype);
    for (Node& node : phase.nodes) make_double(node.op);
  }
  return program;
}

// Rewrites one phase, node by node, so that each op's operands have the types of its precision rule.
class Caster {
 public:
  Caster(const Program& program, Phase& phase, DType low) : phase_(phase), low_(low) {
    for (const Parameter& parameter : program.parameters) types_[parameter.name] = parameter.dtype;
    for (const Parameter& buffer : program.buffers) types_[buffer.name] = buffer.dtype;
    for (const InputSpec& input : phase.inputs) types_[input.name] = input.dtype;
  }

  void run() {
    std::vector<Node> nodes = std::move(phase_.nodes);
    phase_.nodes.clear();
    for (Node& node : nodes) {
      cast_operands(node);
      add(std::move(node));
    }
    for (LossTerm& term : phase_.loss) term.value = cast(term.value, DType::f32);
  }

 private:
  DType type(const std::string& name) const {
    const auto found = types_.find(name);
    require(found != types_.end(), "operand '", name, "' is not known");
    return found->second;
  }

  void add(Node node) {
    std::vector<DType> in;
    for (const std::string& name : node.inputs) in.push_back(type(name));
    for (size_t i = 0; i < result_count(node.op); ++i)
      types_[i == 0 ? node.name : cat(node.name, ":", i)] = output_dtype(node.op, i, in);
    phase_.nodes.push_back(std::move(node));
  }

  // The value in that type: itself, or a cast that all its users share.
  std::string cast(const std::string& name, DType to) {
    if (!is_float(type(name)) || type(name) == to) return name;
    std::string result = cat(name, "@", tbd::name(to));
    std::ranges::replace(result, ':', '.');
    if (!types_.contains(result)) add({.name = result, .op = Cast{to}, .inputs = {name}});
    return result;
  }

  void cast_operands(Node& node) {
    const PrecisionRule rule = traits(node.op).precision;
    if (rule == PrecisionRule::keep) return;
    const size_t data = rule == PrecisionRule::low ? node.inputs.size() : data_operands(node.op, node.inputs.size());
    const auto is_low = [&](const std::string& name) { return type(name) == low_; };
    if (rule == PrecisionRule::match && std::ranges::none_of(node.inputs, is_low)) return;
    const DType to = rule == PrecisionRule::full ? DType::f32 : low_;
    for (size_t i = 0; i < data && i < node.inputs.size(); ++i) node.inputs[i] = cast(node.inputs[i], to);
  }

  Phase& phase_;
  DType low_;
  std::map<std::string, DType> types_;
};

// A mask that has not the shape of x has that which the name of its node stands for (InputSpec::like).
void add_masks(Phase& phase) {
  for (Node& node : phase.nodes) {
    const std::string mask = cat("mask/", node.name);
    if (!dropout_rate(node.op) || node.inputs.back() == mask) continue;
    const auto* dropout = std::get_if<Dropout>(&node.op);
    const bool as_x = dropout && !dropout->per_sample;
    phase.inputs.push_back({.name = mask, .like = as_x ? node.inputs[0] : node.name});
    node.inputs.push_back(mask);
  }
}

void drop_dropout(Phase& phase) {
  std::map<std::string, std::string> stands_for;
  const auto follow = [&](std::string& name) {
    if (const auto found = stands_for.find(name); found != stands_for.end()) name = found->second;
  };
  std::vector<Node> nodes;
  for (Node& node : phase.nodes) {
    std::ranges::for_each(node.inputs, follow);
    if (auto* attention = std::get_if<Attention>(&node.op)) attention->dropout = 0;
    if (std::holds_alternative<Dropout>(node.op))
      stands_for[node.name] = node.inputs.at(0);
    else
      nodes.push_back(std::move(node));
  }
  phase.nodes = std::move(nodes);
  for (InputSpec& input : phase.inputs) follow(input.like);
  for (LossTerm& term : phase.loss) follow(term.value);
  for (auto& [name, value] : phase.outputs) follow(value);
}

// Running statistics are what a frozen norm reads; nothing moves them here.
Phase evaluation_form(Phase phase) {
  phase.name = evaluation_of(phase.name);
  phase.update = {};
  phase.accumulate = 1;
  drop_dropout(phase);
  for (Node& node : phase.nodes)
    if (auto* norm = std::get_if<BatchNorm>(&node.op); norm && norm->stats == BatchNorm::Stats::running)
      norm->stats = BatchNorm::Stats::frozen;
  return phase;
}

void require_known_weights(const Program& own, const Program& program) {
  const auto check = [](const std::vector<Parameter>& wanted, const std::vector<Parameter>& known) {
    for (const Parameter& each : wanted) {
      const auto found = std::ranges::find(known, each.name, &Parameter::name);
      require(found != known.end() && found->shape == each.shape, "evaluation reads '", each.name, "' ", each.shape,
              ", which the network has not");
    }
  };
  check(own.parameters, program.parameters);
  check(own.buffers, program.buffers);
}

// "conv1:1" is a result of the node "conv1".
std::string node_of(const std::string& value) { return value.substr(0, value.find(':')); }

void keep_what_outputs_need(Phase& phase) {
  std::set<std::string> needed;
  for (const auto& [name, value] : phase.outputs) needed.insert(node_of(value));
  std::vector<Node> kept;
  for (Node& node : std::views::reverse(phase.nodes)) {
    if (!needed.contains(node.name)) continue;
    for (const std::string& input : node.inputs) needed.insert(node_of(input));
    kept.push_back(std::move(node));
  }
  std::ranges::reverse(kept);
  phase.nodes = std::move(kept);
  std::erase_if(phase.inputs, [&](const InputSpec& input) { return !needed.contains(input.name); });
}

}  // namespace

Program with_precision(Program program, const Precision& precision) {
  require_known(precision);
  if (precision == Precision::kFp32 || precision == Precision::kTf32) return program;
  if (precision == Precision::kFp64) return with_doubles(std::move(program));
  const DType low = precision == Precision::kBf16 ? DType::bf16 : DType::f16;
  for (Phase& phase : program.phases) try {
      Caster(program, phase, low).run();
      phase.update.loss_scale = precision == Precision::kFp16;
    } catch (const Error& e) {
      throw e.within(cat("phase '", phase.name, "'"));
    }
  return program;
}

Program with_dropout(Program program, const DropoutMode& mode) {
  require_known(mode);
  for (Phase& phase : program.phases) {
    if (mode == DropoutMode::kMask) add_masks(phase);
    if (mode == DropoutMode::kOff) drop_dropout(phase);
  }
  return program;
}

std::string evaluation_of(std::string_view phase) { return cat(phase, ".evaluation"); }

Program with_evaluation(Program program, const Program& own) {
  std::vector<Phase> added = own.phases;
  require_known_weights(own, program);
  if (added.empty())
    for (const StepEntry& entry : program.step) added.push_back(evaluation_form(program.phase(entry.phase)));
  program.phases.insert(program.phases.end(), added.begin(), added.end());
  return program;
}

std::string answers_of(std::string_view phase) { return cat(phase, ".answers"); }

Program with_answers(Program program, std::string_view phase) {
  Phase answers = program.phase(phase);
  answers.name = answers_of(phase);
  answers.update = {};
  answers.loss.clear();
  keep_what_outputs_need(answers);
  program.phases.push_back(std::move(answers));
  return program;
}

}  // namespace tbd
