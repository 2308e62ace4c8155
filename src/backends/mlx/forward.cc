// An input_gradient asks MLX for the derivative of a function: the nodes from x to y once more, on their own. What they
// gave the first time is not computed unless something else reads it, since MLX computes what is read.
#include "backends/mlx/forward.h"

#include <mlx/random.h>
#include <mlx/transforms.h>

#include <algorithm>

#include "backends/mlx/guard.h"
#include "base/text.h"
#include "host/registry.h"

namespace tbd::mlx {
namespace {

bool reads_any(const BoundNode& node, const std::vector<bool>& marked) {
  return std::ranges::any_of(node.inputs, [&](ValueId id) { return marked[index(id)]; });
}

}  // namespace

Args::Args(Forward& forward, size_t node, Values& values)
    : forward_(forward), graph_(forward.graph_), index_(node), node_(graph_.nodes[node]), values_(values) {}

array Args::fixed(size_t i) const { return mx::stop_gradient(row(i)); }

Layout Args::common() const {
  for (size_t i = 0; i < size(); ++i)
    if ((*this)[i].layout == Layout::channels_last) return Layout::channels_last;
  return Layout::row;
}

void Args::assign(size_t i, const array& value) const {
  values_[index(node_.inputs[i])]->data = mx::stop_gradient(value);
}

array Args::key() const {
  const array keys = mx::random::split(*forward_.key_, static_cast<int>(graph_.nodes.size()));
  return mx::take(keys, static_cast<int>(index_), 0);
}

array Args::constant(size_t number, const std::function<HostTensor()>& make, DType dtype) const {
  auto& kept = forward_.constants_[index_];
  if (kept.size() <= number) kept.resize(number + 1);
  if (!kept[number]) kept[number] = to_array(make(), dtype);
  return *kept[number];
}

Operand Args::input_gradient() const { return forward_.input_gradient(index_, values_); }

std::vector<Operand> Args::call_host(const HostCall& op) const {
  std::vector<HostTensor> operands, results;
  for (size_t i = 0; i < size(); ++i) operands.push_back(to_host(fixed(i)));
  for (const ValueId id : node_.outputs) results.emplace_back(graph_.value(id).dtype, graph_.value(id).shape);
  find_host_function(op.function)(operands, op.numbers, results);
  if (op.rows >= 0) forward_.rows_ = results[static_cast<size_t>(op.rows)].as<int32_t>()[0];
  std::vector<Operand> out;
  for (const HostTensor& result : results) out.push_back({to_array(result, result.dtype())});
  return out;
}

Forward::Forward(const Graph& graph) : graph_(graph), constants_(graph.nodes.size()) {}

bool Forward::needs_values() const {
  return std::ranges::any_of(graph_.nodes, [](const BoundNode& node) {
    return std::holds_alternative<HostCall>(node.op) || std::holds_alternative<RoiAlign>(node.op);
  });
}

std::vector<ValueId> Forward::written() const {
  std::vector<ValueId> out;
  for (const BoundNode& node : graph_.nodes) {
    const auto* norm = std::get_if<BatchNorm>(&node.op);
    if (!norm || norm->stats != BatchNorm::Stats::running) continue;
    for (const ValueId id : {*(node.inputs.end() - 2), node.inputs.back()})
      if (std::ranges::find(out, id) == out.end()) out.push_back(id);
  }
  return out;
}

void Forward::run_node(size_t index_of_node, Values& values) {
  const BoundNode& node = graph_.nodes[index_of_node];
  const Args in(*this, index_of_node, values);
  const auto where = [&] { return cat("at ", kind(node.op), " '", node.name, "' of phase '", graph_.phase, "': "); };
  const auto lower_one = [&](const auto& op) {
    auto results = lower(op, in);
    if constexpr (std::same_as<decltype(results), Operand>)
      values[index(node.outputs[0])] = std::move(results);
    else
      for (size_t i = 0; i < results.size(); ++i) values[index(node.outputs[i])] = std::move(results[i]);
  };
  located([&] { std::visit(lower_one, node.op); }, where);
}

void Forward::run(Values& values, const array& key) {
  key_ = key;
  for (size_t i = 0; i < graph_.nodes.size(); ++i) run_node(i, values);
}

Operand Forward::input_gradient(size_t node, const Values& values) {
  const ValueId y = graph_.nodes[node].inputs[0], x = graph_.nodes[node].inputs[1];
  const Layout layout = values[index(x)]->layout;
  const auto function = [&](const std::vector<array>& in) {
    Values own = values;
    own[index(x)]->data = in[0];
    std::vector<bool> follows(values.size());
    follows[index(x)] = true;
    for (size_t i = 0; i < node; ++i) {
      if (!reads_any(graph_.nodes[i], follows)) continue;
      run_node(i, own);
      for (const ValueId id : graph_.nodes[i].outputs) follows[index(id)] = true;
    }
    return std::vector{own[index(y)]->data};
  };
  const array ones = mx::ones_like(values[index(y)]->data);
  return {mx::vjp(function, {values[index(x)]->data}, {ones}).second.front(), layout};
}

}  // namespace tbd::mlx
