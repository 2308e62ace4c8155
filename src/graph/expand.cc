#include "graph/expand.h"

#include <algorithm>
#include <set>

#include "graph/graph.h"
#include "graph/ops/gradient_writer.h"

namespace tbd {
namespace {

constexpr int64_t kBatch = 7;  // shapes are looked at for a batch that few other extents equal

// kept: the nodes keep what a framework keeps that differentiates twice itself. Their values are wrong.
enum class Form { exact, kept };

// Writes the nodes of one input_gradient. A value is known by its name and has its gradient in its own type; the graph
// gives shapes and types.
class NodeWriter final : public GradientWriter {
 public:
  NodeWriter(const Graph& graph, std::string prefix, std::vector<Node>& out, Form form)
      : graph_(graph), prefix_(std::move(prefix)), out_(out), form_(form) {}

  std::string gradient(const std::string& y, const std::string& x) {
    find_path(y, x);
    add_to(y, put(Affine{.factor = 0, .offset = 1}, {y}));
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      node_ = &*node;
      if (path_.contains(result()) && gradients_.contains(result()) &&
          !write_gradient(node->op, *this, std::string(gradients_.at(result()))))
        fail(ErrorKind::unsupported, cat(kind(node->op), " '", node->name,
                                         "' lies between both ends of an input_gradient and has no rule there"));
    }
    return gradients_.at(x);
  }

  const std::string& operand(size_t i) const override { return name(node_->inputs[i]); }
  const std::string& result() const override { return name(node_->outputs[0]); }
  const Shape& shape(size_t i) const override { return graph_.value(node_->inputs[i]).shape; }
  const Shape& result_shape() const override { return graph_.value(node_->outputs[0]).shape; }
  DType type(size_t i) const override { return graph_.value(node_->inputs[i]).dtype; }
  bool wants(size_t i) const override { return wanted_.contains(operand(i)); }
  bool wants_first_alone() const override {
    for (size_t i = 1; i < node_->inputs.size(); ++i)
      if (wants(i)) return false;
    return true;
  }
  bool counts_memory() const override { return form_ == Form::kept; }

  using GradientWriter::put;
  std::string put(Op op, std::vector<std::string> inputs) override {
    out_.push_back({cat(prefix_, ".", ++count_), std::move(op), std::move(inputs)});
    return out_.back().name;
  }
  void pass(size_t i, const std::string& gradient) override {
    if (wants(i)) add_to(operand(i), gradient);
  }

 private:
  const std::string& name(ValueId id) const { return graph_.value(id).name; }

  // Values that x reaches and that reach y, without x itself.
  void find_path(const std::string& y, const std::string& x) {
    std::set<std::string> from = {x};
    for (const BoundNode& node : graph_.nodes)
      if (std::ranges::any_of(node.inputs, [&](ValueId id) { return from.contains(name(id)); }))
        from.insert(name(node.outputs[0]));
    std::set<std::string> to = {y};
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node)
      if (to.contains(name(node->outputs[0])))
        for (const ValueId id : node->inputs) to.insert(name(id));
    wanted_ = {x};
    for (const std::string& each : from)
      if (to.contains(each)) {
        path_.insert(each);
        wanted_.insert(each);
      }
    path_.erase(x);
    require(wanted_.contains(y), "'", y, "' does not depend on '", x, "'");
  }

  void add_to(const std::string& value, const std::string& gradient) {
    const auto [found, first] = gradients_.emplace(value, gradient);
    if (!first) found->second = put(Binary::Function::add, found->second, gradient);
  }

  const Graph& graph_;
  const BoundNode* node_ = nullptr;  // whose gradient is being written
  std::string prefix_;
  std::vector<Node>& out_;
  Form form_;
  int count_ = 0;
  std::set<std::string> path_, wanted_;
  std::map<std::string, std::string> gradients_;
};

bool is_input_gradient(const Node& node) { return std::holds_alternative<InputGradient>(node.op); }

void expand(const Program& program, Phase& phase, Form form) {
  if (std::ranges::none_of(phase.nodes, is_input_gradient)) return;
  const Graph graph = bind(program, phase, {{"N", kBatch}});
  std::map<std::string, std::string> stands_for;
  const auto follow = [&](std::string& name) {
    if (const auto found = stands_for.find(name); found != stands_for.end()) name = found->second;
  };
  std::vector<Node> nodes;
  for (Node& node : phase.nodes) {
    if (is_input_gradient(node))
      stands_for[node.name] = NodeWriter(graph, node.name, nodes, form).gradient(node.inputs[0], node.inputs[1]);
    else
      nodes.push_back(std::move(node));
  }
  phase.nodes = std::move(nodes);
  for (Node& node : phase.nodes) std::ranges::for_each(node.inputs, follow);
  for (LossTerm& term : phase.loss) follow(term.value);
  for (auto& [name, value] : phase.outputs) follow(value);
}

Program expanded_as(Program program, Form form) {
  for (size_t i = 0; i < program.phases.size(); ++i) {
    Phase phase = program.phases[i];
    expand(program, phase, form);
    program.phases[i] = std::move(phase);
  }
  return program;
}

// Or as it is, with an op that has no rule.
Program counted_as(Program program, Form form) try { return expanded_as(program, form); } catch (const Error& e) {
  if (e.kind() != ErrorKind::unsupported) throw;
  return program;
}

}  // namespace

Program expanded(Program program) { return expanded_as(std::move(program), Form::exact); }

Program expanded_for_counts(Program program) { return counted_as(std::move(program), Form::exact); }
Program expanded_for_memory(Program program) { return counted_as(std::move(program), Form::kept); }

bool has_input_gradient(const Program& program) {
  return std::ranges::any_of(program.phases,
                             [](const Phase& phase) { return std::ranges::any_of(phase.nodes, is_input_gradient); });
}

}  // namespace tbd
