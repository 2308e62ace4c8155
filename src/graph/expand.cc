#include "graph/expand.h"

#include <algorithm>
#include <set>

#include "graph/graph.h"

namespace tbd {
namespace {

constexpr int64_t kBatch = 7;  // shapes are looked at for a batch that few other extents equal

// kept: the nodes keep what a framework keeps that differentiates twice itself. Their values are wrong.
enum class Form { exact, kept };

// Writes the nodes of one input_gradient. A value is known by its name and has its gradient in its own type; the graph
// gives shapes and types.
class NodeWriter {
 public:
  NodeWriter(const Graph& graph, std::string prefix, std::vector<Node>& out, Form form)
      : graph_(graph), prefix_(std::move(prefix)), out_(out), form_(form) {}

  std::string gradient(const std::string& y, const std::string& x) {
    find_path(y, x);
    add_to(y, put(Affine{.factor = 0, .offset = 1}, {y}));
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node)
      if (const std::string& result = name(node->outputs[0]); path_.contains(result) && gradients_.contains(result))
        std::visit([&](const auto& op) { pull(op, *node, gradients_.at(result)); }, node->op);
    return gradients_.at(x);
  }

 private:
  const std::string& name(ValueId id) const { return graph_.value(id).name; }
  const Shape& shape(ValueId id) const { return graph_.value(id).shape; }
  DType type(ValueId id) const { return graph_.value(id).dtype; }

  std::string put(Op op, std::vector<std::string> inputs) {
    out_.push_back({cat(prefix_, ".", ++count_), std::move(op), std::move(inputs)});
    return out_.back().name;
  }
  std::string put(Binary::Function f, const std::string& a, const std::string& b) { return put(Binary{f}, {a, b}); }
  std::string mul(const std::string& a, const std::string& b) { return put(Binary::Function::mul, a, b); }

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
      if (to.contains(each)) path_.insert(each), wanted_.insert(each);
    path_.erase(x);
    require(wanted_.contains(y), "'", y, "' does not depend on '", x, "'");
  }

  void add_to(const std::string& value, const std::string& gradient) {
    const auto [found, first] = gradients_.emplace(value, gradient);
    if (!first) found->second = put(Binary::Function::add, found->second, gradient);
  }
  bool wants(const BoundNode& node, size_t operand) const { return wanted_.contains(name(node.inputs[operand])); }
  void pass(const BoundNode& node, size_t operand, const std::string& gradient) {
    if (wants(node, operand)) add_to(name(node.inputs[operand]), gradient);
  }
  // Only operand 0 may lie on the path.
  void only_first(const BoundNode& node) const {
    for (size_t i = 1; i < node.inputs.size(); ++i)
      if (wants(node, i)) refuse(node);
  }
  [[noreturn]] static void refuse(const BoundNode& node) {
    fail(ErrorKind::unsupported,
         cat(kind(node.op), " '", node.name, "' lies between both ends of an input_gradient and has no rule there"));
  }

  // The operand's shape for any batch: 0 keeps that of the gradient.
  static std::vector<int64_t> with_any_batch(const Shape& shape) {
    std::vector<int64_t> extents(shape.extents().begin(), shape.extents().end());
    extents.at(0) = 0;
    return extents;
  }

  template <class Other>
  void pull(const Other&, const BoundNode& node, const std::string&) {
    refuse(node);
  }
  void pull(const Binary& op, const BoundNode& node, const std::string& g) {
    const bool added = op.function == Binary::Function::add, taken = op.function == Binary::Function::sub;
    if (!(added || taken) || shape(node.inputs[0]) != shape(node.inputs[1])) refuse(node);
    pass(node, 0, g);
    if (wants(node, 1)) pass(node, 1, added ? g : put(Affine{.factor = -1}, {g}));
  }
  void pull(const Affine& op, const BoundNode& node, const std::string& g) {
    pass(node, 0, op.factor == 1 ? g : put(Affine{.factor = op.factor}, {g}));
  }
  // relu: the mask; leaky_relu: slope + (1 - slope) mask; tanh: 1 - y^2.
  void pull(const Unary& op, const BoundNode& node, const std::string& g) {
    using F = Unary::Function;
    if (op.function == F::tanh) {
      const std::string square = put(Unary{F::square}, {name(node.outputs[0])});
      return pass(node, 0, mul(g, put(Affine{.factor = -1, .offset = 1}, {square})));
    }
    if (op.function != F::relu && op.function != F::leaky_relu) refuse(node);
    if (form_ == Form::kept) return pass(node, 0, put(op, {g}));  // the mask is told by what forward kept
    const std::string mask = put(Greater{}, {name(node.inputs[0])});
    const bool leaks = op.function == F::leaky_relu;
    pass(node, 0, mul(g, leaks ? put(Affine{.factor = 1 - op.slope, .offset = op.slope}, {mask}) : mask));
  }
  // Every element gets the gradient of its sum, or its share of it.
  void pull(const Reduce& op, const BoundNode& node, const std::string& g) {
    const Shape &x = shape(node.inputs[0]), &y = shape(node.outputs[0]);
    std::vector<int64_t> kept(x.extents().begin(), x.extents().end());
    for (const int64_t axis : op.axes) kept.at(static_cast<size_t>(axis)) = 1;
    if (op.axes.empty() || kept[0] == 1) refuse(node);  // over samples
    kept[0] = 0;
    const double share = op.function == Reduce::Function::mean
                             ? static_cast<double>(y.elements()) / static_cast<double>(x.elements())
                             : 1;
    const std::string level = put(Affine{.factor = 0, .offset = share}, {name(node.inputs[0])});
    pass(node, 0, mul(level, op.keep ? g : put(Reshape{kept}, {g})));
  }
  void pull(const Cast&, const BoundNode& node, const std::string& g) {
    pass(node, 0, put(Cast{type(node.inputs[0])}, {g}));
  }
  void pull(const Reshape&, const BoundNode& node, const std::string& g) {
    if (shape(node.inputs[0])[0] != shape(node.outputs[0])[0]) refuse(node);  // samples are taken apart
    pass(node, 0, put(Reshape{with_any_batch(shape(node.inputs[0]))}, {g}));
  }
  void pull(const Conv2d& op, const BoundNode& node, const std::string& g) {
    only_first(node);
    const Shape& x = shape(node.inputs[0]);
    const ConvTranspose2d back = {.out = x[1], .kernel = op.kernel, .stride = op.stride, .pads = op.pads};
    if (op.groups != 1 || op.dilation != Extent2(1)) refuse(node);
    if (output_shapes(back, std::vector{shape(node.outputs[0])})[0] != x) refuse(node);  // the stride leaves a rest
    pass(node, 0, put(back, {g, name(node.inputs[1])}));
  }
  void pull(const Linear&, const BoundNode& node, const std::string& g) {
    only_first(node);
    if (shape(node.inputs[0]).rank() != 2) refuse(node);
    pass(node, 0, put(Matmul{}, {g, name(node.inputs[1])}));
  }
  void pull(const AvgPool& op, const BoundNode& node, const std::string& g) {
    const Shape &x = shape(node.inputs[0]), &y = shape(node.outputs[0]);
    const int64_t side = op.kernel.h;
    const bool tiles = op.kernel == Extent2(side) && op.stride == op.kernel && op.pads == Pads{};
    if (!tiles || y[2] * side != x[2] || y[3] * side != x[3]) refuse(node);
    const double share = 1 / static_cast<double>(side * side);
    pass(node, 0, put(Affine{.factor = share}, {put(UpsampleNearest{side}, {g})}));
  }

  std::string mean(const std::string& x) { return put(Reduce{Reduce::Function::mean, {2}, true}, {x}); }
  // As norms do, it computes in the type of its weight, which is that of x or a wider one.
  void pull(const GroupNorm& op, const BoundNode& node, const std::string& g) {
    only_first(node);
    if (form_ == Form::kept)  // one kernel, whose own gradient is made from g and forward's operand
      return pass(node, 0, put(op, {g, name(node.inputs[1]), name(node.inputs[2])}));
    const DType narrow = type(node.inputs[0]), wide = type(node.inputs[1]);
    const auto cast = [&](const std::string& value, DType to) {
      return narrow == wide ? value : put(Cast{to}, {value});
    };
    const std::string operand = cast(name(node.inputs[0]), wide);
    pass(node, 0, cast(norm_gradient(op, node, operand, cast(g, wide)), narrow));
  }
  // In rows (N, groups, rest), with u = g weight, s = 1 / sqrt(var + eps), n = (x - mean) s:
  // s (u - mean u - n mean(u n)).
  std::string norm_gradient(const GroupNorm& op, const BoundNode& node, const std::string& operand,
                            const std::string& g) {
    using B = Binary::Function;
    const Shape& x = shape(node.inputs[0]);
    std::vector<int64_t> channel(static_cast<size_t>(x.rank()), 1);
    channel[1] = x[1];
    const auto in_rows = [&](const std::string& value) { return put(Reshape{{0, op.groups, -1}}, {value}); };
    const std::string rows = in_rows(operand);
    const std::string centred = put(B::sub, rows, mean(rows));
    const std::string variance = mean(put(Unary{Unary::Function::square}, {centred}));
    const std::string root =
        put(Unary{Unary::Function::sqrt}, {put(Affine{.factor = 1, .offset = op.eps}, {variance})});
    const std::string n = put(B::div, centred, root);
    const std::string u = in_rows(mul(g, put(Reshape{channel}, {name(node.inputs[1])})));
    const std::string level = put(B::sub, u, mean(u));
    const std::string slope = put(B::div, put(B::sub, level, mul(n, mean(mul(u, n)))), root);
    return put(Reshape{with_any_batch(x)}, {slope});
  }

  const Graph& graph_;
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
