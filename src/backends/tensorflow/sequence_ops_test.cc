// Ops on sequences against loops in double.
#include "backends/tensorflow/gradient_registry.h"
#include "backends/tensorflow/recurrent_trial.h"

namespace tbd::tensorflow {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Element (i, j, ...) of row-major numbers.
double& element_at(Vector& v, const Shape& shape, std::initializer_list<int64_t> index) {
  int64_t flat = 0, axis = 0;
  for (const int64_t i : index) flat = flat * shape[axis++] + i;
  return v[static_cast<size_t>(flat)];
}

struct LstmLayer : LayerWeights {  // of an LSTM
  using LayerWeights::LayerWeights;
  void step(const double* x, Vector& h, Vector& c) const {
    Vector z(4 * hidden);
    for (size_t row = 0; row < z.size(); ++row) {
      z[row] = b_ih[row] + b_hh[row];
      for (size_t i = 0; i < in; ++i) z[row] += ih[row * in + i] * x[i];
      for (size_t i = 0; i < h.size(); ++i) z[row] += hh[row * h.size() + i] * h[i];
    }
    const size_t n = h.size();
    for (size_t i = 0; i < n; ++i) {
      c[i] = sigmoid(z[n + i]) * c[i] + sigmoid(z[i]) * std::tanh(z[2 * n + i]);
      h[i] = sigmoid(z[3 * n + i]) * std::tanh(c[i]);
    }
  }
};

struct LstmCase {
  bool reverse;
  Vector lengths;  // empty: none
};

class LstmOp : public testing::TestWithParam<LstmCase> {};

TEST_P(LstmOp, MatchesStepByStepEvaluation) {
  const int64_t n = 3, steps = 5, in = 4, hidden = 6;
  const auto& [reverse, lengths] = GetParam();
  Trial trial;
  const Tensor x = trial.parameter("x", {n, steps, in});
  const std::string suffix = reverse ? "_l0_reverse" : "_l0";
  draw_layer(trial, 4, suffix, in, hidden);
  std::optional<Tensor> valid;
  if (!lengths.empty()) valid = trial.integers("lengths", {n}, lengths);
  const Recurrent out = trial.g.lstm("rnn", x, {.hidden = hidden, .reverse = reverse}, "_l0", valid);
  trial.result("y", out.y);
  trial.result("h", out.last.h);
  trial.result("c", out.last.c);

  const LstmLayer layer(trial, suffix);
  const Vector xs = trial["x"];
  Vector y(static_cast<size_t>(n * steps * hidden)), last_h, last_c;
  for (int64_t sample = 0; sample < n; ++sample) {
    Vector h(static_cast<size_t>(hidden)), c = h;
    const int64_t length = lengths.empty() ? steps : static_cast<int64_t>(lengths[static_cast<size_t>(sample)]);
    for (int64_t step = 0; step < length; ++step) {
      const int64_t t = reverse ? length - 1 - step : step;
      layer.step(&xs[static_cast<size_t>((sample * steps + t) * in)], h, c);
      for (int64_t i = 0; i < hidden; ++i)
        element_at(y, {n, steps, hidden}, {sample, t, i}) = h[static_cast<size_t>(i)];
    }
    last_h.insert(last_h.end(), h.begin(), h.end());
    last_c.insert(last_c.end(), c.begin(), c.end());
  }
  trial.expect({{"y", y}, {"h", last_h}, {"c", last_c}});
}

INSTANTIATE_TEST_SUITE_P(Forms, LstmOp,
                         testing::Values(LstmCase{false, {}}, LstmCase{true, {}}, LstmCase{false, {5, 1, 3}},
                                         LstmCase{true, {2, 5, 4}}),
                         [](const auto& info) {
                           return cat(info.param.reverse ? "Reverse" : "Forward",
                                      info.param.lengths.empty() ? "" : "WithLengths");
                         });

// Each result alone: the others have no gradient.
TEST(LstmOp, AnyOneResultMayBeUsed) {
  for (const int which : {0, 1, 2}) {
    Trial trial;
    const Tensor x = trial.parameter("x", {2, 3, 4});
    draw_layer(trial, 4, "_l0", 4, 3);
    const Recurrent out = trial.g.lstm("rnn", x, {.hidden = 3});
    trial.result("y", which == 0 ? out.y : which == 1 ? out.last.h : out.last.c);
    trial.expect({});
  }
}

// a^T b of operands that were put together.
bool is_stacked_product(TF_Operation* op) {
  return is_kind(op, "MatMul") && is_kind(TF_OperationInput({op, 0}).oper, "ConcatV2") &&
         is_kind(TF_OperationInput({op, 1}).oper, "ConcatV2");
}

TEST(LstmCellOp, EqualsOneStepAndSharesItsWeights) {
  const int64_t n = 3, in = 4, hidden = 5;
  Trial trial;
  const Tensor x = trial.parameter("x", {n, in}), h = trial.parameter("h", {n, hidden});
  const Tensor c = trial.parameter("c", {n, hidden});
  draw_layer(trial, 4, "", in, hidden);
  const State once = trial.g.lstm_cell("rnn", x, {h, c}, {.hidden = hidden});
  const State twice = trial.g.lstm_cell("rnn", x, once, {.hidden = hidden});
  trial.result("h1", once.h);
  trial.result("c1", once.c);
  trial.result("h2", twice.h);
  trial.result("c2", twice.c);

  const LstmLayer layer(trial, "");
  const Vector xs = trial["x"], hs = trial["h"], cs = trial["c"];
  std::map<std::string, Vector> expected;
  for (int64_t sample = 0; sample < n; ++sample) {
    Vector now_h(hs.begin() + sample * hidden, hs.begin() + (sample + 1) * hidden);
    Vector now_c(cs.begin() + sample * hidden, cs.begin() + (sample + 1) * hidden);
    for (const std::string step : {"1", "2"}) {
      layer.step(&xs[static_cast<size_t>(sample * in)], now_h, now_c);
      Vector &all_h = expected["h" + step], &all_c = expected["c" + step];
      all_h.insert(all_h.end(), now_h.begin(), now_h.end());
      all_c.insert(all_c.end(), now_c.begin(), now_c.end());
    }
  }
  trial.expect(expected);
  EXPECT_EQ(trial.count_ops(is_stacked_product), 2);
}

TEST(RepeatedWeight, HasOneProductForItsGradient) {
  Trial layer;
  draw_layer(layer, 4, "_l0", 4, 5);
  layer.result("y", layer.g.lstm("rnn", layer.parameter("x", {2, 3, 4}), {.hidden = 5}).y);
  EXPECT_EQ(layer.count_ops(is_stacked_product), 1);

  Trial linear;  // two uses of three have a gradient
  const Tensor weight = linear.parameter("weight", {6, 5}), x = linear.parameter("x", {2, 5});
  for (const char* name : {"a", "b"}) linear.result(name, linear.g.tanh(linear.g.linear(x, weight)));
  linear.g.output("c", linear.g.linear(x, weight));
  linear.expect({});
  EXPECT_EQ(linear.count_ops(is_stacked_product), 1);
  EXPECT_GT(tbd_gradient_calls("IdentityN"), 0);
}

TEST(RepeatedWeight, IsNotStackedWhenItHasManyRows) {
  Trial trial;
  const Tensor weight = trial.parameter("weight", {6, 5}), x = trial.parameter("x", {9, 5});
  for (const char* name : {"a", "b"}) trial.result(name, trial.g.tanh(trial.g.linear(x, weight)));
  trial.expect({});
  EXPECT_EQ(trial.count_ops(is_stacked_product), 0);
}

struct AttentionCase {
  std::string name;
  Attention op;
  int64_t queries, keys;
  bool masked = false;
};

class AttentionOp : public testing::TestWithParam<AttentionCase> {};

TEST_P(AttentionOp, EqualsItsFormula) {
  const auto& [label, op, queries, keys, masked] = GetParam();
  const int64_t n = 2, d = 3, heads = op.heads, kv = op.key_heads();
  Trial trial;
  const Shape q_shape = {n, queries, heads * d}, k_shape = {n, keys, kv * d};
  const Tensor q = trial.parameter("q", q_shape), k = trial.parameter("k", k_shape);
  const Tensor v = trial.parameter("v", k_shape);
  Vector hidden(static_cast<size_t>(n * keys));
  if (masked) hidden.back() = hidden[1] = -1e4;
  std::optional<Tensor> mask;
  if (masked) mask = trial.floats("mask", {n, keys}, hidden);
  trial.result("y", trial.g.attention(q, k, v, op, mask));

  Vector qs = trial["q"], ks = trial["k"], vs = trial["v"], y(qs.size());
  for (int64_t sample = 0; sample < n; ++sample)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries; ++i) {
        const int64_t g = h * kv / heads, seen = op.causal ? i + 1 : keys;
        Vector p;
        double total = 0;
        for (int64_t j = 0; j < seen; ++j) {
          double score = 0;
          for (int64_t e = 0; e < d; ++e)
            score += element_at(qs, q_shape, {sample, i, h * d + e}) * element_at(ks, k_shape, {sample, j, g * d + e});
          p.push_back(std::exp(score / std::sqrt(3.0) + element_at(hidden, {n, keys}, {sample, j})));
          total += p.back();
        }
        for (int64_t j = 0; j < seen; ++j)
          for (int64_t e = 0; e < d; ++e)
            element_at(y, q_shape, {sample, i, h * d + e}) +=
                p[static_cast<size_t>(j)] / total * element_at(vs, k_shape, {sample, j, g * d + e});
      }
  trial.expect({{"y", y}});
}

INSTANTIATE_TEST_SUITE_P(
    Forms, AttentionOp,
    testing::Values(AttentionCase{"OneHead", {.heads = 1}, 1, 4},
                    AttentionCase{"OneHeadMasked", {.heads = 1}, 2, 4, true},
                    AttentionCase{"OneHeadCausal", {.heads = 1, .causal = true}, 4, 4, true},
                    AttentionCase{"Heads", {.heads = 2}, 3, 5}, AttentionCase{"HeadsMasked", {.heads = 2}, 3, 5, true},
                    AttentionCase{"Causal", {.heads = 2, .causal = true}, 4, 4},
                    AttentionCase{"CausalMasked", {.heads = 2, .causal = true}, 4, 4, true},
                    AttentionCase{"Grouped", {.heads = 4, .kv_heads = 2}, 3, 5, true},
                    AttentionCase{"OneKeyHead", {.heads = 3, .kv_heads = 1, .causal = true}, 4, 4}),
    [](const auto& info) { return info.param.name; });

// All scores are equal and v is the identity: the result shows the probabilities.
TEST(AttentionOp, DropsProbabilitiesByItsMaskOrAnew) {
  const int64_t n = 3, length = 24, heads = 2;
  const auto build = [&](Trial& trial) {
    const Shape shape = {n, length, heads * length};
    Vector zero(static_cast<size_t>(shape.elements())), identity = zero;
    for (int64_t i = 0; i < n * length; ++i)
      for (int64_t h = 0; h < heads; ++h) identity[static_cast<size_t>((i * heads + h) * length + i % length)] = 1;
    const Tensor q = trial.g.mul(trial.parameter("one", {1, 1, 1}), trial.floats("q", shape, zero));
    const Tensor v = trial.floats("v", shape, identity);
    trial.result("y", trial.g.attention(q, q, v, {.heads = heads, .dropout = 0.25}));
  };
  Trial drawn;
  build(drawn);
  drawn.program();
  const Vector y = as_doubles(drawn.run(Precision::kFp64).at("output/y"));
  const double kept = 1 / 0.75 / static_cast<double>(length);
  int64_t keeps = 0;
  for (const double p : y) {
    EXPECT_TRUE(p == 0 || std::abs(p - kept) < 1e-15) << p;
    keeps += p > 0;
  }
  const auto count = static_cast<double>(y.size());
  EXPECT_NEAR(static_cast<double>(keeps), 0.75 * count, 5 * std::sqrt(count * 0.25 * 0.75));
}

TEST(RotaryOp, TurnsTheHalvesOfEachHeadByThePosition) {
  const Shape shape = {2, 5, 3, 4};
  Trial trial;
  const Tensor x = trial.parameter("x", shape);
  trial.result("y", trial.g.rotary(x, {.theta = 100}));
  Vector xs = trial["x"], y(xs.size());
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t t = 0; t < 5; ++t)
      for (int64_t h = 0; h < 3; ++h)
        for (int64_t j = 0; j < 2; ++j) {
          const double angle = static_cast<double>(t) * (j == 0 ? 1 : 0.1);  // 100^(-2 j / 4)
          const double a = element_at(xs, shape, {n, t, h, j}), b = element_at(xs, shape, {n, t, h, j + 2});
          element_at(y, shape, {n, t, h, j}) = a * std::cos(angle) - b * std::sin(angle);
          element_at(y, shape, {n, t, h, j + 2}) = b * std::cos(angle) + a * std::sin(angle);
        }
  trial.expect({{"y", y}});
}

TEST(GatherOp, TakesRowsOfEachSampleAndAddsUpTheirGradients) {
  Trial trial;
  const Tensor x = trial.parameter("x", {2, 4, 2, 3});
  const Vector positions = {3, 0, 3, 1, 1, 1};
  trial.result("y", trial.g.gather(x, trial.integers("positions", {2, 3}, positions)));
  Vector xs = trial["x"], y(2 * 3 * 6);
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t p = 0; p < 3; ++p)
      for (int64_t e = 0; e < 6; ++e)
        element_at(y, {2, 3, 6}, {n, p, e}) =
            element_at(xs, {2, 4, 6}, {n, static_cast<int64_t>(positions[static_cast<size_t>(n * 3 + p)]), e});
  trial.expect({{"y", y}});
}

TEST(EmbeddingOp, TakesRowsAndAddsUpTheirGradients) {
  Trial trial;
  const Tensor table = trial.parameter("table", {5, 3});
  const Vector ids = {4, 2, 2, 0, 4, 4};
  trial.result("y", trial.g.embedding(trial.integers("ids", {2, 3}, ids), table));
  Vector rows = trial["table"], y(18);
  for (size_t i = 0; i < ids.size(); ++i)
    for (size_t e = 0; e < 3; ++e) y[3 * i + e] = rows[3 * static_cast<size_t>(ids[i]) + e];
  trial.expect({{"y", y}});
  EXPECT_GT(tbd_gradient_calls("Gather"), 0);
}

// The projection that shares the table reaches the row all the same.
TEST(EmbeddingOp, GivesItsPaddingRowNoGradient) {
  for (const bool tied : {false, true}) {
    Trial trial;
    const Tensor table = trial.parameter("table", {4, 2});
    const Tensor y = trial.g.embedding(trial.integers("ids", {2, 3}, {1, 2, 1, 1, 0, 3}), table, /*pad=*/1);
    trial.result("y", y);
    if (tied) trial.result("logits", trial.g.linear(trial.g.stop_gradient(y), table));
    trial.program();
    const Vector g = as_doubles(trial.run(Precision::kFp64).at("grad/table"));
    EXPECT_EQ(g[2] != 0 && g[3] != 0, tied);
    for (const size_t other : {0, 1, 4, 5, 6, 7}) EXPECT_NE(g[other], 0);
  }
}

TEST(SinusoidOp, MultipliesWavesByValidity) {
  const Shape shape = {2, 3, 6};
  Trial trial;
  const Tensor ids = trial.integers("ids", {2, 3}, {7, 1, 1, 1, 7, 7});
  const Tensor valid = trial.g.equals(ids, 7);
  const Tensor waves = trial.g.sinusoid(valid, {.first = 2, .width = 6});
  trial.result("y", trial.g.mul(trial.parameter("x", {1, 1, 6}), waves));
  trial.g.output("valid", valid);
  trial.g.output("waves", waves);
  Vector expected(36);
  for (const auto& [n, t] : {std::pair(0, 0), std::pair(1, 1), std::pair(1, 2)})
    for (int64_t j = 0; j < 3; ++j) {
      const double angle = (2 + t) * std::pow(10000.0, -static_cast<double>(j) / 2);
      element_at(expected, shape, {n, t, j}) = std::sin(angle);
      element_at(expected, shape, {n, t, j + 3}) = std::cos(angle);
    }
  trial.expect({{"valid", {1, 0, 0, 0, 1, 1}}, {"waves", expected}});
}

}  // namespace
}  // namespace tbd::tensorflow
