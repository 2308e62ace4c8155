// Ops on lengths, gated units and soft targets against loops in double.
#include <algorithm>
#include <limits>

#include "backends/tensorflow/recurrent_trial.h"

namespace tbd::tensorflow {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

TEST(StridedLengthOp, CountsTheWindowsThatBeginInside) {
  Trial trial;
  const Tensor lengths = trial.integers("lengths", {5}, {1, 2, 3, 8, 9});
  trial.result("unused", trial.parameter("x", {1}));
  trial.g.output("halves", trial.g.strided_length(lengths, 2));
  trial.g.output("thirds", trial.g.strided_length(lengths, 3));
  trial.g.output("all", trial.g.strided_length(lengths, 1));
  trial.expect_in_double({{"halves", {1, 1, 2, 4, 5}}, {"thirds", {1, 1, 1, 3, 3}}, {"all", {1, 2, 3, 8, 9}}});
}

// Of images that lie channels last and of rows, with infinite numbers where the mask is.
TEST(SequenceMaskOp, ZeroesPositionsBeyondTheLength) {
  const Shape shape = {2, 3, 4, 5};
  const Vector lengths = {1, 3};
  for (const bool image : {false, true})
    for (const int64_t axis : {1, 2, 3}) {
      Trial trial;
      Tensor x = trial.parameter("x", shape);
      if (image) {
        trial.parameter("one.weight", {3, 3, 1, 1});
        x = trial.g.conv2d("one", x, {.out = 3, .kernel = 1});
      }
      trial.g.output("x", x);
      Vector ends(static_cast<size_t>(shape.elements()));
      const auto is_valid = [&](int64_t i) {
        int64_t inner = 1;
        for (int64_t a = axis + 1; a < 4; ++a) inner *= shape[a];
        return i / inner % shape[axis] < static_cast<int64_t>(lengths[static_cast<size_t>(i / (3 * 4 * 5))]);
      };
      for (int64_t i = 0; i < shape.elements(); ++i)
        if (!is_valid(i)) ends[static_cast<size_t>(i)] = std::numeric_limits<double>::infinity();
      const Tensor open = trial.g.add(x, trial.floats("ends", shape, ends));
      trial.result("y", trial.g.sequence_mask(open, trial.integers("lengths", {2}, lengths), axis));
      trial.expect({});
      const TensorMap out = trial.run(Precision::kFp64);
      Vector expected = as_doubles(out.at("output/x"));
      for (int64_t i = 0; i < shape.elements(); ++i)
        if (!is_valid(i)) expected[static_cast<size_t>(i)] = 0;
      EXPECT_EQ(as_doubles(out.at("output/y")), expected) << image << " " << axis;
    }
}

// A layer of gated units as the trial holds it.
struct GruLayer : LayerWeights {
  using LayerWeights::LayerWeights;
  void step(const double* x, Vector& h) const {
    Vector a = b_ih, b = b_hh;
    for (size_t row = 0; row < a.size(); ++row) {
      for (size_t i = 0; i < in; ++i) a[row] += ih[row * in + i] * x[i];
      for (size_t i = 0; i < hidden; ++i) b[row] += hh[row * hidden + i] * h[i];
    }
    for (size_t i = 0; i < hidden; ++i) {
      const double r = logistic(a[i] + b[i]), z = logistic(a[hidden + i] + b[hidden + i]);
      const double n = std::tanh(a[2 * hidden + i] + r * b[2 * hidden + i]);
      h[i] = (1 - z) * n + z * h[i];
    }
  }
};

struct GruCase {
  bool reverse;
  Vector lengths;  // empty: none
};

class GruOp : public testing::TestWithParam<GruCase> {};

TEST_P(GruOp, MatchesStepByStepEvaluation) {
  const size_t n = 3, steps = 5, in = 4, hidden = 6;
  const auto& [reverse, lengths] = GetParam();
  Trial trial;
  const Tensor x = trial.parameter("x", {n, steps, in});
  const std::string suffix = reverse ? "_l0_reverse" : "_l0";
  draw_layer(trial, 3, suffix, in, hidden);
  std::optional<Tensor> valid;
  if (!lengths.empty()) valid = trial.integers("lengths", {n}, lengths);
  const Gated out = trial.g.gru("rnn", x, {.hidden = hidden, .reverse = reverse}, "_l0", valid);
  trial.result("y", out.y);
  trial.result("h", out.last);

  const GruLayer layer(trial, suffix);
  const Vector xs = trial["x"];
  Vector y(n * steps * hidden), last;
  for (size_t sample = 0; sample < n; ++sample) {
    Vector h(hidden);
    const size_t length = lengths.empty() ? steps : static_cast<size_t>(lengths[sample]);
    for (size_t step = 0; step < length; ++step) {
      const size_t t = sample * steps + (reverse ? length - 1 - step : step);
      layer.step(&xs[t * in], h);
      std::ranges::copy(h, y.begin() + static_cast<std::ptrdiff_t>(t * hidden));
    }
    last.insert(last.end(), h.begin(), h.end());
  }
  trial.expect({{"y", y}, {"h", last}});
}

INSTANTIATE_TEST_SUITE_P(Forms, GruOp,
                         testing::Values(GruCase{false, {}}, GruCase{true, {}}, GruCase{false, {5, 1, 3}},
                                         GruCase{true, {2, 5, 4}}),
                         [](const auto& info) {
                           return cat(info.param.reverse ? "Reverse" : "Forward",
                                      info.param.lengths.empty() ? "" : "WithLengths");
                         });

TEST(GruOp, AnyOneResultMayBeUsed) {
  for (const bool whole : {false, true}) {
    Trial trial;
    const Tensor x = trial.parameter("x", {2, 3, 4});
    draw_layer(trial, 3, "_l0", 4, 3);
    const Gated out = trial.g.gru("rnn", x, {.hidden = 3});
    trial.result("y", whole ? out.y : out.last);
    trial.expect({});
  }
}

// Rows whose targets sum to anything; a trained target gets no gradient.
TEST(SoftCrossEntropyOp, WeighsLogProbabilitiesByItsTargets) {
  for (const Shape& shape : {Shape{4, 5}, Shape{2, 2, 5}}) {
    Trial trial;
    const Tensor logits = trial.parameter("logits", shape);
    const Vector targets = {0, 1, 0, 0, 0, 0.2, 0.3, 0.1, 0.4, 0, 2, 0.5, 0.25, 1, 0, 0, 0, 0, 0, 0};
    trial.result("loss", trial.g.soft_cross_entropy(logits, trial.floats("targets", shape, targets)));
    const Vector z = trial["logits"];
    double loss = 0;
    for (size_t row = 0; row < 4; ++row) {
      double total = 0;
      for (size_t c = 0; c < 5; ++c) total += std::exp(z[5 * row + c]);
      for (size_t c = 0; c < 5; ++c) loss -= targets[5 * row + c] * (z[5 * row + c] - std::log(total));
    }
    trial.expect({{"loss", {loss}}});
  }
  Trial trained;
  const Tensor targets = trained.parameter("targets", {2, 3}), logits = trained.parameter("logits", {2, 3});
  trained.result("loss", trained.g.soft_cross_entropy(logits, targets));
  trained.program();
  EXPECT_THAT(as_doubles(trained.run(Precision::kFp64).at("grad/targets")), testing::Each(0.0));
}

}  // namespace
}  // namespace tbd::tensorflow
