#include "backends/mxnet/statistics.h"

#include <cmath>
#include <limits>

#include "backends/mxnet/arithmetic.h"

namespace tbd::mxnet {
namespace {

using Stats = BatchNorm::Stats;

// n / (n - 1) of the elements per channel.
double unbiased_factor(const Graph& graph, const BoundNode& node) {
  const Shape& x = graph.value(node.inputs[0]).shape;
  const int64_t n = x.elements() / x[1];
  require(n > 1, "batch_norm '", node.name, "': one element per channel of ", x, " has no variance");
  return static_cast<double>(n) / static_cast<double>(n - 1);
}

Held& buffer(const Graph& graph, const BoundNode& node, size_t from_last, Weights& weights) {
  return weights.buffer(graph.value(node.inputs[node.inputs.size() - from_last]).name);
}

}  // namespace

bool updates_statistics(const BoundNode& node) {
  const auto* op = std::get_if<BatchNorm>(&node.op);
  return op && op->stats == Stats::running;
}

bool backward_updates(const BatchNorm& op, DType statistics) {
  constexpr double kBits = 4 * std::numeric_limits<float>::epsilon();
  const double taken = 1.0 - static_cast<double>(static_cast<float>(1 - op.momentum));
  return statistics == DType::f32 && std::abs(taken - op.momentum) <= kBits * op.momentum;
}

HeldVariances::HeldVariances(const Graph& graph, const std::function<bool(const BoundNode&)>& by_backward,
                             Weights& weights) {
  for (const BoundNode& node : graph.nodes) {
    const auto* op = std::get_if<BatchNorm>(&node.op);
    if (!op || op->stats == Stats::batch) continue;
    const bool updated = updates_statistics(node);
    const double factor = updated && by_backward(node) ? 1 / unbiased_factor(graph, node) : 1;
    const auto [held, fresh] = wanted_.emplace(&buffer(graph, node, 1, weights), Wanted{factor, updated});
    held->second.updated |= updated;
    if (!fresh && held->second.factor != factor)
      fail(ErrorKind::unsupported, "mxnet: batch_norm '", node.name, "' shares its running variance with another size");
  }
}

void HeldVariances::hold() const {
  for (const auto& [held, wanted] : wanted_)
    if (wanted.updated)
      held->hold(wanted.factor);
    else
      held->lend(wanted.factor);
}

ForwardStatistics::ForwardStatistics(const Graph& graph, const BoundNode& node, Weights& weights,
                                     std::vector<Array> moments)
    : mean_(&buffer(graph, node, 2, weights)),
      variance_(&buffer(graph, node, 1, weights)),
      moments_(std::move(moments)),
      momentum_(std::get<BatchNorm>(node.op).momentum),
      unbiased_(unbiased_factor(graph, node)) {}

void ForwardStatistics::update() const {
  const auto move = [&](const Held& running, const Array& batch, double factor) {
    scale(running.array(), 1 - momentum_);
    add(running.array(), momentum_ * factor, batch);
  };
  move(*mean_, moments_[0], 1);
  move(*variance_, moments_[1], unbiased_);
}

}  // namespace tbd::mxnet
