// What speech can get wrong in torch: where the reset gate stands, lengths, paths of CTC, what lies beyond a length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/pytorch/one_node.h"

namespace tbd::pytorch {
namespace {

using testing::Each;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

constexpr int64_t kGruIn = 3, kGruHidden = 4, kGruSteps = 5;

std::vector<Operand> gru_weights() {
  return {{normal("ih", {3 * kGruHidden, kGruIn})},
          {normal("hh", {3 * kGruHidden, kGruHidden})},
          {normal("bih", {3 * kGruHidden})},
          {normal("bhh", {3 * kGruHidden})}};
}

// Rows of weight x + bias.
std::vector<double> rows_of(const Operand& weight, const Operand& bias, const double* x, size_t width) {
  const auto w = weight.value.as<double>();
  std::vector<double> out = as_doubles(bias.value);
  for (size_t r = 0; r < out.size(); ++r)
    for (size_t j = 0; j < width; ++j) out[r] += w[r * width + j] * x[j];
  return out;
}

// y and h by the definition in graph/ops/gru.h.
std::vector<std::vector<double>> gru_by_definition(const HostTensor& x, const std::vector<double>& lengths,
                                                   bool reverse) {
  const std::vector<Operand> w = gru_weights();
  std::vector<double> y(static_cast<size_t>(x.shape()[0] * kGruSteps * kGruHidden)), last;
  for (size_t n = 0; n < static_cast<size_t>(x.shape()[0]); ++n) {
    const auto length = static_cast<size_t>(lengths.empty() ? kGruSteps : lengths[n]);
    std::vector<double> h(kGruHidden);
    for (size_t s = 0; s < length; ++s) {
      const size_t row = n * kGruSteps + (reverse ? length - 1 - s : s);
      const std::vector<double> a = rows_of(w[0], w[2], x.as<double>().data() + row * kGruIn, kGruIn),
                                b = rows_of(w[1], w[3], h.data(), kGruHidden);
      for (size_t j = 0; j < kGruHidden; ++j) {
        const double r = logistic(a[j] + b[j]), z = logistic(a[kGruHidden + j] + b[kGruHidden + j]);
        const double candidate = std::tanh(a[2 * kGruHidden + j] + r * b[2 * kGruHidden + j]);
        h[j] = (1 - z) * candidate + z * h[j];
      }
      std::ranges::copy(h, y.begin() + static_cast<std::ptrdiff_t>(row * kGruHidden));
    }
    last.insert(last.end(), h.begin(), h.end());
  }
  return {y, last};
}

TEST(GruOp, IsItsDefinition) {
  for (const std::vector<double>& lengths : {std::vector<double>{}, {3, 5, 1, 5}})
    for (const bool reverse : {false, true}) {
      std::vector<Operand> in = {{normal("x", {4, kGruSteps, kGruIn})}};
      if (!lengths.empty()) in.push_back(fixed(integers({4}, lengths)));
      for (Operand& weight : gru_weights()) in.push_back(std::move(weight));
      const NodeRun run = run_node(Gru{.hidden = kGruHidden, .reverse = reverse}, in);
      const auto expected = gru_by_definition(in[0].value, lengths, reverse);
      for (size_t r = 0; r < 2; ++r) EXPECT_LT(relative_error(run.results[r], expected[r]), 1e-12) << reverse << r;
    }
}

struct Sample {
  size_t steps;
  std::vector<size_t> labels;
};

// -log of the sum over all paths, each written out and read.
double ctc_by_definition(const std::vector<double>& logits, size_t classes, const Sample& sample, size_t blank) {
  std::vector<size_t> path(sample.steps);
  double sum = 0;
  const auto count = static_cast<size_t>(std::pow(classes, sample.steps));
  for (size_t code = 0; code < count; ++code) {
    double p = 1;
    std::vector<size_t> read;
    for (size_t t = 0, rest = code; t < sample.steps; ++t, rest /= classes) {
      path[t] = rest % classes;
      double total = 0;
      for (size_t c = 0; c < classes; ++c) total += std::exp(logits[t * classes + c]);
      p *= std::exp(logits[t * classes + path[t]]) / total;
      if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) read.push_back(path[t]);
    }
    if (read == sample.labels) sum += p;
  }
  return sum == 0 ? 0 : -std::log(sum);
}

TEST(CtcLossOp, SumsAllPaths) {
  constexpr int64_t kLong = 5, kClasses = 4, kMost = 3;
  for (const size_t blank : {0u, 3u}) {
    const size_t a = blank == 0 ? 3 : 0;
    // Plain, with repeats, without labels, with as many steps as labels, with too few.
    const Sample samples[] = {{5, {1, 2}}, {5, {2, 2, a}}, {4, {}}, {3, {1, 2, a}}, {2, {1, 2, a}}, {3, {1, 1, 1}}};
    const auto n = static_cast<int64_t>(std::size(samples));
    const HostTensor logits = normal("logits", {n, kLong, kClasses});
    std::vector<double> lengths, labels, label_lengths;
    double expected = 0;
    for (size_t i = 0; i < std::size(samples); ++i) {
      const std::vector<double> all = as_doubles(logits);
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * kLong * kClasses);
      expected += ctc_by_definition({first, first + kLong * kClasses}, kClasses, samples[i], blank);
      lengths.push_back(static_cast<double>(samples[i].steps));
      label_lengths.push_back(static_cast<double>(samples[i].labels.size()));
      for (size_t u = 0; u < kMost; ++u)
        labels.push_back(u < samples[i].labels.size() ? static_cast<double>(samples[i].labels[u]) : 0);
    }
    const NodeRun run = run_node(CtcLoss{static_cast<int64_t>(blank)}, {{logits},
                                                                        fixed(integers({n}, lengths)),
                                                                        fixed(integers({n, kMost}, labels)),
                                                                        fixed(integers({n}, label_lengths))});
    EXPECT_NEAR(run.loss, expected, 1e-12 * expected) << blank;
    const std::vector<double>& gradient = run.gradients[0];
    const auto sample = [&](size_t i) {
      return std::vector<double>(gradient.begin() + static_cast<std::ptrdiff_t>(i * kLong * kClasses),
                                 gradient.begin() + static_cast<std::ptrdiff_t>((i + 1) * kLong * kClasses));
    };
    EXPECT_THAT(sample(4), Each(0.0)) << "no path";
    EXPECT_THAT(sample(5), Each(0.0)) << "no path between repeats";
    const std::vector<double> third = sample(3);
    EXPECT_THAT(std::vector<double>(third.begin() + 3 * kClasses, third.end()), Each(0.0)) << "beyond its length";
  }
}

TEST(SequenceMaskOp, MasksNan) {
  HostTensor x = normal("x", {2, 3, 4});
  x.as<double>()[3] = std::nan("");
  x.as<double>()[12 + 1] = std::numeric_limits<double>::infinity();
  const NodeRun run = run_node(SequenceMask{2}, {{x}, fixed(integers({2}, {3, 1}))});
  EXPECT_EQ(run.results[0][3], 0);
  EXPECT_EQ(run.results[0][12 + 1], 0);
  EXPECT_EQ(run.results[0][12], x.as<double>()[12]);
  EXPECT_EQ(run.gradients[0][3], 0);
  EXPECT_NE(run.gradients[0][2], 0);
}

}  // namespace
}  // namespace tbd::pytorch
