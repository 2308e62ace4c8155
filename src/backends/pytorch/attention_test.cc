// What attention can get wrong in torch: which head reads which, masks together, what is drawn, and two kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/pytorch/identity.h"
#include "backends/pytorch/one_node.h"

namespace tbd::pytorch {
namespace {

constexpr double kMasked = -1e4;

struct Case {
  Attention op;
  int64_t samples = 2, queries = 5, keys = 5, width = 3;
  bool additive = false;
  Shape q() const { return {samples, queries, op.heads * width}; }
  Shape k() const { return {samples, keys, op.key_heads() * width}; }
  Shape scores() const { return {samples, op.heads, queries, keys}; }
};

// Sample n hides its last n keys.
HostTensor padding(const Case& c) {
  std::vector<double> mask(static_cast<size_t>(c.samples * c.keys));
  for (int64_t n = 0; n < c.samples; ++n)
    for (int64_t j = c.keys - n; j < c.keys; ++j) mask[static_cast<size_t>(n * c.keys + j)] = kMasked;
  return doubles({c.samples, c.keys}, mask);
}

HostTensor drops(const Case& c) { return converted(random_tensor("drops", c.scores(), DType::i32), DType::f64); }

std::vector<Operand> attention_operands(const Case& c) {
  std::vector<Operand> out = {{normal("q", c.q())}, {normal("k", c.k())}, {normal("v", c.k())}};
  if (c.additive) out.push_back(fixed(padding(c)));
  if (c.op.dropout > 0) out.push_back(fixed(drops(c)));
  return out;
}

// The formula of graph/ops/attention.h, one query and head at a time.
std::vector<double> by_formula(const Case& c, const std::vector<Operand>& in) {
  const auto q = in[0].value.as<double>(), k = in[1].value.as<double>(), v = in[2].value.as<double>();
  const HostTensor mask = padding(c), kept = drops(c);
  std::vector<double> y(q.size());
  const auto at = [&](int64_t n, int64_t t, int64_t steps, int64_t head, int64_t heads) {
    return static_cast<size_t>(((n * steps + t) * heads + head) * c.width);
  };
  for (int64_t n = 0; n < c.samples; ++n)
    for (int64_t h = 0; h < c.op.heads; ++h)
      for (int64_t i = 0; i < c.queries; ++i) {
        const int64_t group = h * c.op.key_heads() / c.op.heads;
        const size_t query = at(n, i, c.queries, h, c.op.heads);
        std::vector<double> weights(static_cast<size_t>(c.keys));
        double sum = 0;
        for (int64_t j = 0; j < c.keys; ++j) {
          const size_t key = at(n, j, c.keys, group, c.op.key_heads());
          double score = c.additive ? mask.as<double>()[static_cast<size_t>(n * c.keys + j)] : 0;
          for (size_t d = 0; d < static_cast<size_t>(c.width); ++d)
            score += q[query + d] * k[key + d] / std::sqrt(static_cast<double>(c.width));
          weights[static_cast<size_t>(j)] = c.op.causal && j > i ? 0 : std::exp(score);
          sum += weights[static_cast<size_t>(j)];
        }
        for (int64_t j = 0; j < c.keys; ++j) {
          double weight = weights[static_cast<size_t>(j)] / sum;
          const auto drop = static_cast<size_t>(((n * c.op.heads + h) * c.queries + i) * c.keys + j);
          if (c.op.dropout > 0) weight *= kept.as<double>()[drop] / (1 - c.op.dropout);
          const size_t value = at(n, j, c.keys, group, c.op.key_heads());
          for (size_t d = 0; d < static_cast<size_t>(c.width); ++d) y[query + d] += weight * v[value + d];
        }
      }
  return y;
}

const Case kCases[] = {{{.heads = 1}},
                       {{.heads = 3}, 2, 4, 7},
                       {{.heads = 6, .kv_heads = 2}, 2, 4, 7},
                       {{.heads = 4, .kv_heads = 1}, 3, 5, 5, 2, true},
                       {{.heads = 2}, 3, 4, 7, 3, true},
                       {{.heads = 2, .causal = true}, 2, 40, 40},
                       {{.heads = 4, .kv_heads = 2, .causal = true}, 3, 6, 6, 3, true}};

class AttentionOp : public testing::TestWithParam<size_t> {
 protected:
  // Without dropout torch's fused kernel answers, with it the composed form.
  static Case with(double dropout) {
    Case c = kCases[GetParam()];
    c.op.dropout = dropout;
    return c;
  }
};

TEST_P(AttentionOp, IsItsFormula) {
  for (const double dropout : {0.0, 0.25}) {
    const Case c = with(dropout);
    EXPECT_LT(relative_error(run_node(c.op, attention_operands(c)).results[0], by_formula(c, attention_operands(c))),
              1e-12)
        << dropout;
  }
}

// A mask of ones under dropout p leaves the plain result, 1 / (1 - p) times.
TEST_P(AttentionOp, FusedAndComposedFormsAgreeInResultsAndGradients) {
  const Case plain = with(0), dropping = with(0.5);
  std::vector<Operand> in = attention_operands(plain);
  NodeRun fused = run_node(plain.op, in);
  const auto count = static_cast<size_t>(dropping.scores().elements());
  in.push_back(fixed(doubles(dropping.scores(), std::vector<double>(count, 1))));
  const NodeRun composed = run_node(dropping.op, in);
  const auto twice = [](std::vector<double> values) {
    for (double& x : values) x *= 2;
    return values;
  };
  EXPECT_LT(relative_error(composed.results[0], twice(fused.results[0])), 1e-12);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_LT(relative_error(composed.gradients[i], twice(fused.gradients[i])), 1e-11) << i;
}

TEST_P(AttentionOp, LowTypesStayNearTheFormula) {
  for (const double dropout : {0.0, 0.25})
    for (const auto& [type, tolerance] : {std::pair(DType::f32, 1e-6), {DType::bf16, 2e-2}, {DType::f16, 3e-3}}) {
      const Case c = with(dropout);
      const NodeRun exact = run_node(c.op, attention_operands(c)),
                    low = run_node(c.op, attention_operands(c), {DType::f32, type});
      EXPECT_LT(relative_error(low.results[0], exact.results[0]), tolerance) << type;
      for (size_t i = 0; i < 3; ++i)
        EXPECT_LT(relative_error(low.gradients[i], exact.gradients[i]), 2 * tolerance) << type << " " << i;
    }
}

TEST_P(AttentionOp, ByOneDnnStaysNearTheFormula) {
  for (const double dropout : {0.0, 0.25}) {
    const Case c = with(dropout);
    const NodeRun exact = run_node(c.op, attention_operands(c)),
                  low = run_node(c.op, attention_operands(c), {DType::f32, DType::f32, Mode::kEagerOnednn});
    EXPECT_LT(relative_error(low.results[0], exact.results[0]), 1e-6);
    for (size_t i = 0; i < 3; ++i) EXPECT_LT(relative_error(low.gradients[i], exact.gradients[i]), 2e-6) << i;
  }
}
INSTANTIATE_TEST_SUITE_P(All, AttentionOp, testing::Range<size_t>(0, std::size(kCases)));

// Uniform probabilities over kKeys keys whose values are the rows of the identity: the result shows the mask.
TEST(DrawnAttention, DropsEachProbabilityAloneAndScalesTheRest) {
  constexpr int64_t kQueries = 30, kKeys = 40;
  std::vector<double> identity(kKeys * kKeys);
  for (size_t i = 0; i < identity.size(); i += kKeys + 1) identity[i] = 1;
  const std::vector<Operand> in = {{doubles({1, kQueries, kKeys}, std::vector<double>(kQueries * kKeys))},
                                   {normal("k", {1, kKeys, kKeys})},
                                   {doubles({1, kKeys, kKeys}, identity)}};
  const std::vector<double> y = run_node(Attention{.dropout = 0.25}, in).results[0];
  double kept = 0;
  for (const double x : y) {
    EXPECT_TRUE(x == 0 || std::abs(x - 1 / (0.75 * kKeys)) < 1e-12) << x;
    kept += x != 0;
  }
  const double draws = static_cast<double>(y.size());
  EXPECT_NEAR(kept, 0.75 * draws, 5 * std::sqrt(0.75 * 0.25 * draws));
  const std::vector<double> first(y.begin(), y.begin() + kKeys), second(y.begin() + kKeys, y.begin() + 2 * kKeys);
  EXPECT_NE(first, second);
}

TEST(AttentionOp, SaysWhichFormRuns) {
  const auto checked = [](Op op, size_t operands) {
    Program program;
    program.phases = {{.nodes = {{"node", std::move(op), std::vector<std::string>(operands, "x")}}}};
    return check_nodes(program).at(0);
  };
  constexpr auto kNative = NodeSupport::Level::native;
  EXPECT_EQ(checked(Attention{}, 4).detail, "scaled_dot_product_attention");
  EXPECT_EQ(checked(Attention{}, 4).level, kNative);
  EXPECT_NE(checked(Attention{.dropout = 0.1}, 3).level, kNative);
  EXPECT_EQ(checked(Lstm{.hidden = 2}, 5).level, kNative);
  EXPECT_NE(checked(Lstm{.hidden = 2}, 6).level, kNative);
}

}  // namespace
}  // namespace tbd::pytorch
