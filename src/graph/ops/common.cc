#include "graph/ops/common.h"

#include <algorithm>

namespace tbd {

size_t count_of(std::span<const OperandRule> rules, size_t given) {
  const auto least = std::ranges::count_if(rules, [](const OperandRule& r) { return r.count != Count::optional; });
  const bool many = std::ranges::find(rules, Count::many, &OperandRule::count) != rules.end();
  return std::max(static_cast<size_t>(least), many ? given : std::min(given, rules.size()));
}

const OperandRule& rule_of(std::span<const OperandRule> rules, size_t operand, size_t data) {
  const auto many = std::ranges::find(rules, Count::many, &OperandRule::count);
  const auto before = static_cast<size_t>(many - rules.begin());
  if (many == rules.end() || operand <= before) return rules[operand];
  const size_t behind = rules.size() - before - 1;
  return operand + behind < data ? *many : rules[operand + rules.size() - data];
}

std::ostream& operator<<(std::ostream& out, const Cost& c) {
  return out << "{model " << c.model << ", valid " << c.valid << ", simd " << c.simd << ", trans " << c.trans
             << ", bytes " << c.bytes << '}';
}

int64_t bytes_touched_forward(const Operands& o) {
  int64_t bytes = 0;
  for (size_t i = 0; i < o.in.size(); ++i) bytes += o.in_bytes(i);
  for (size_t i = 0; i < o.out.size(); ++i) bytes += o.out_bytes(i);
  return bytes;
}

int64_t elements_needing_gradient(const Operands& o) {
  int64_t elements = 0;
  for (size_t i = 0; i < o.in.size(); ++i)
    if (o.needs(i)) elements += o.in[i].elements();
  return elements;
}

int64_t per_channel(const Shape& x) { return x.elements() / std::max<int64_t>(1, x[1]); }

void require_leading(std::string_view name, const Shape& weights, const Shape& x) {
  const auto some = weights.extents(), all = x.extents();
  const bool leads = !some.empty() && some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
  require(leads, name, " are ", weights, ", expected ", x, " or its leading axes");
}

Shape spread_weights(const Shape& weights, const Shape& x) {
  std::vector<int64_t> extents(static_cast<size_t>(x.rank()), 1);
  std::ranges::copy(weights.extents(), extents.begin());
  return Shape(std::move(extents));
}

}  // namespace tbd
