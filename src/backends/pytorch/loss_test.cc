// Losses by their definitions: cross-entropy of both smoothings, ignored rows, weights of rows; huber. And fusion by
// its own.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "backends/pytorch/focal_loss.h"
#include "backends/pytorch/memory.h"
#include "backends/pytorch/one_node.h"

namespace tbd::pytorch {
namespace {

using testing::Each;
using Spread = SoftmaxCrossEntropy::Spread;

struct Rows {
  SoftmaxCrossEntropy op;
  Shape logits;
  std::vector<double> labels, weights;
};

struct ExpectedLoss {
  double loss = 0;
  std::vector<double> gradient;
};

ExpectedLoss loss_by_definition(const Rows& rows) {
  const std::vector<double> logits = as_doubles(normal("logits", rows.logits));
  const auto classes = static_cast<size_t>(rows.logits.back());
  const double e = rows.op.smoothing, count = static_cast<double>(classes);
  ExpectedLoss out = {0, std::vector<double>(logits.size())};
  for (size_t r = 0; r < rows.labels.size(); ++r) {
    if (rows.op.ignore >= 0 && rows.labels[r] == static_cast<double>(rows.op.ignore)) continue;
    const double weight = rows.weights.empty() ? 1 : rows.weights[r];
    double sum = 0;
    for (size_t c = 0; c < classes; ++c) sum += std::exp(logits[r * classes + c]);
    for (size_t c = 0; c < classes; ++c) {
      const bool is_label = rows.labels[r] == static_cast<double>(c);
      const double target = rows.op.spread == Spread::all ? (is_label ? 1 - e : 0) + e / count
                            : is_label                    ? 1 - e
                                                          : e / (count - 1);
      const double probability = std::exp(logits[r * classes + c]) / sum;
      out.loss -= weight * target * std::log(probability);
      out.gradient[r * classes + c] = weight * (probability - target);
    }
  }
  return out;
}

NodeRun run(const Rows& rows, const NodeTypes& types = {}) {
  const auto extents = rows.logits.extents();
  const Shape each(std::vector<int64_t>(extents.begin(), extents.end() - 1));
  std::vector<Operand> in = {{normal("logits", rows.logits)}, fixed(integers(each, rows.labels))};
  if (!rows.weights.empty()) in.push_back(fixed(doubles(each, rows.weights)));
  return run_node(rows.op, in, types);
}

const Rows kRows[] = {
    {{}, {3, 4}, {0, 3, 1}},
    {{.smoothing = 0.1}, {2, 2, 5}, {4, 0, 2, 2}},
    {{.smoothing = 0.1, .spread = Spread::others}, {2, 2, 5}, {4, 0, 2, 2}},
    {{.smoothing = 0.7, .spread = Spread::others}, {3, 2}, {1, 0, 1}},  // more over all than torch takes
    {{.smoothing = 0.9, .spread = Spread::others, .ignore = 1}, {4, 3}, {1, 0, 2, 1}, {3, 1, 2, 1}},
    {{.ignore = 0}, {2, 3, 4}, {0, 3, 1, 0, 0, 2}},
    {{.smoothing = 0.2, .ignore = 2}, {4, 3}, {2, 0, 1, 2}},
    {{.ignore = 255}, {4, 3}, {255, 0, 1, 255}},
    {{}, {2, 3, 4}, {0, 3, 1, 0, 0, 2}, {1, 0, 0.5, 2, 0, 1}},
    {{.smoothing = 0.1, .spread = Spread::others, .ignore = 1}, {4, 5}, {1, 0, 4, 1}, {1, 0.25, 2, 1}}};

class CrossEntropy : public testing::TestWithParam<size_t> {};

TEST_P(CrossEntropy, IsItsDefinition) {
  const Rows& rows = kRows[GetParam()];
  const ExpectedLoss expected = loss_by_definition(rows);
  for (const Mode& mode : {Mode::kEager, Mode::kEagerOnednn}) {
    const NodeRun actual = run(rows, {.mode = mode});
    EXPECT_NEAR(actual.loss, expected.loss, 1e-12 * std::abs(expected.loss)) << mode;
    EXPECT_LT(relative_error(actual.gradients[0], expected.gradient), 1e-12) << mode;
  }
}
INSTANTIATE_TEST_SUITE_P(All, CrossEntropy, testing::Range<size_t>(0, std::size(kRows)));

// More logits than one block of the mode's.
TEST(CrossEntropy, OfManyClassesIsItsDefinition) {
  const Rows rows = {{.smoothing = 0.1, .spread = Spread::others, .ignore = 1}, {5, 70'000}, {4, 1, 69'999, 0, 7}};
  const ExpectedLoss expected = loss_by_definition(rows);
  const NodeRun actual = run(rows, {.mode = Mode::kEagerOnednn});
  EXPECT_NEAR(actual.loss, expected.loss, 1e-12 * std::abs(expected.loss));
  EXPECT_LT(relative_error(actual.gradients[0], expected.gradient), 1e-12);
}

TEST(CrossEntropy, OfIgnoredRowsAloneIsZero) {
  for (const double smoothing : {0.0, 0.1})
    for (const Mode& mode : {Mode::kEager, Mode::kEagerOnednn}) {
      const NodeRun actual = run({{.smoothing = smoothing, .ignore = 1}, {2, 3}, {1, 1}}, {.mode = mode});
      EXPECT_EQ(actual.loss, 0) << mode;
      EXPECT_THAT(actual.gradients[0], Each(0.0)) << mode;
    }
}

TEST(CrossEntropy, RefusesALabelOutsideTheClasses) {
  for (const double label : {3.0, -1.0})
    for (const Mode& mode : {Mode::kEager, Mode::kEagerOnednn})
      EXPECT_THAT(sentence_from([&] {
                    run({{}, {2, 3}, {0, label}}, {.mode = mode});
                  }),
                  testing::HasSubstr("out of bounds"))
          << mode;
}

TEST(HuberLoss, IsItsDefinition) {
  const Shape shape = {4, 3, 2};
  const std::vector<double> a = as_doubles(normal("a", shape)), b = as_doubles(normal("b", shape));
  const std::vector<double> rows = {1, 0, 0.5, 2};
  for (const double delta : {0.1, 1.0, 100.0}) {
    double loss = 0;
    std::vector<double> gradient(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      const double e = a[i] - b[i], q = std::min(std::abs(e), delta), weight = rows[i / 6];
      loss += weight * (q * q / 2 + delta * (std::abs(e) - q));
      gradient[i] = weight * std::clamp(e, -delta, delta);
    }
    const NodeRun actual =
        run_node(Huber{delta}, {{normal("a", shape)}, fixed(normal("b", shape)), fixed(doubles({4}, rows))});
    EXPECT_NEAR(actual.loss, loss, 1e-13 * loss);
    EXPECT_LT(relative_error(actual.gradients[0], gradient), 1e-13);
  }
}

// Of double precision by hand (torch 2.15.0): logits on both sides of 0 and at it.
TEST(BceWithLogitsLoss, HasTheValuesOfItsDefinition) {
  const std::vector<double> logits = {-8, -2.5, -0.3, 0, 0.4, 1.75, 6, 12}, target = {0, 1, 0.25, 0.5, 1, 0, 0.75, 1};
  const std::vector<double> rows = {1, 0.5, 0, 2};
  double loss = 0;
  std::vector<double> gradient;
  for (size_t i = 0; i < logits.size(); ++i) {
    const double z = logits[i], weight = rows[i / 2];
    loss += weight * (std::max(z, 0.0) - z * target[i] + std::log1p(std::exp(-std::abs(z))));
    gradient.push_back(weight * (1 / (1 + std::exp(-z)) - target[i]));
  }
  const NodeRun actual =
      run_node(BceWithLogits{}, {{doubles({4, 2}, logits)}, fixed(doubles({4, 2}, target)), fixed(doubles({4}, rows))});
  EXPECT_NEAR(actual.loss, loss, 1e-14 * loss);
  EXPECT_LT(relative_error(actual.gradients[0], gradient), 1e-14);
}

// Of effdet 0.4.1's formula in double; the last row is left out.
TEST(SigmoidFocalLoss, HasTheValuesOfItsReference) {
  const std::vector<double> logits = {-6, 2, 0.5, 1, -1, 0, 4, -9, 3, 0.1, 0.2, 0.3};
  const std::vector<double> losses = {1.4950566655307183, 1.3186448775084318,     0.3587740456380469,
                                      0.6156598107790413, 0.03276838897311861,    0.18379840190035263,
                                      2.9326739431373476, 1.2686103039404186e-10, 0.000125454498597092};
  const std::vector<double> gradient = {-0.25400254281755624,
                                        0.781852763615037,
                                        0.43244319554156996,
                                        0.5910864191985151,
                                        0.06406573482945006,
                                        0.27043132289774213,
                                        0.7958509505866767,
                                        3.1712126789769163e-10,
                                        -0.00030171257878575466,
                                        0,
                                        0,
                                        0};
  double loss = 0;
  for (const double each : losses) loss += each;
  const SigmoidFocal op = {.alpha = 0.25, .gamma = 1.5};
  const NodeRun actual = run_node(op, {{doubles({4, 3}, logits)}, fixed(integers({4}, {0, -1, 2, -2}))});
  EXPECT_NEAR(actual.loss, loss, 1e-14 * loss);
  for (size_t i = 0; i < gradient.size(); ++i)
    EXPECT_NEAR(actual.gradients[0][i], gradient[i], 1e-11 * std::abs(gradient[i])) << i;
}

// Logits and their rows' classes by turns: the sixth, left out, none, the first.
struct FocalRows {
  explicit FocalRows(const Shape& logits) : values(normal("logits", logits)) {
    for (int64_t r = 0; r < logits.elements() / logits.back(); ++r)
      labels.push_back(std::array{5, -2, -1, 0}[static_cast<size_t>(r % 4)]);
  }
  HostTensor values;
  std::vector<double> labels;
};

ExpectedLoss focal_by_definition(const SigmoidFocal& op, const FocalRows& rows) {
  const std::vector<double> logits = as_doubles(rows.values);
  const size_t classes = logits.size() / rows.labels.size();
  ExpectedLoss out = {0, std::vector<double>(logits.size())};
  for (size_t i = 0; i < logits.size(); ++i) {
    const double label = rows.labels[i / classes];
    if (label == SigmoidFocal::kLeftOut) continue;
    const double s = label == static_cast<double>(i % classes) ? 1 : -1, share = s > 0 ? op.alpha : 1 - op.alpha;
    const double q = 1 / (1 + std::exp(-s * logits[i])), wrong = 1 / (1 + std::exp(s * logits[i]));
    const double power = share * std::pow(wrong, op.gamma);
    out.loss -= power * std::log(q);
    out.gradient[i] = s * power * (op.gamma * q * std::log(q) - wrong);
  }
  return out;
}

// One row; a block and a part of one; rows longer than a block.
TEST(SigmoidFocalLoss, IsItsDefinitionHoweverManyRows) {
  const SigmoidFocal op = {.alpha = 0.25, .gamma = 1.5};
  for (const Shape& shape : {Shape{1, 7}, Shape{3, 251, 90}, Shape{2, 1, 728, 90}, Shape{3, 70'001}}) {
    const FocalRows rows(shape);
    const auto extents = shape.extents();
    const Shape each(std::vector<int64_t>(extents.begin(), extents.end() - 1));
    const ExpectedLoss expected = focal_by_definition(op, rows);
    const NodeRun actual = run_node(op, {{rows.values}, fixed(integers(each, rows.labels))});
    EXPECT_NEAR(actual.loss, expected.loss, 1e-12 * expected.loss) << shape;
    EXPECT_LT(relative_error(actual.gradients[0], expected.gradient), 1e-12) << shape;
  }
}

// Logits that two losses read, one of them weighted; each gradient adds to the other.
TEST(SigmoidFocalLoss, MayReadLogitsThatOthersRead) {
  const FocalRows rows(Shape{900, 80});
  at::Tensor logits = at::empty({900, 80}, at::kDouble), classes = at::empty({900}, at::kInt);
  const std::vector<double> values = as_doubles(rows.values);
  std::copy(values.begin(), values.end(), logits.mutable_data_ptr<double>());
  std::copy(rows.labels.begin(), rows.labels.end(), classes.mutable_data_ptr<int32_t>());
  logits.set_requires_grad(true);
  const SigmoidFocal flat = {.gamma = 0}, steep = {.gamma = 3};
  focal_loss(flat, logits, classes).add(focal_loss(steep, logits.t().contiguous().t(), classes), 0.5).backward();
  std::vector<double> expected = focal_by_definition(flat, rows).gradient;
  const std::vector<double> second = focal_by_definition(steep, rows).gradient;
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += second[i] / 2;
  const at::Tensor gradient = logits.grad().contiguous();
  const double* first = gradient.const_data_ptr<double>();
  EXPECT_LT(relative_error(std::vector<double>(first, first + gradient.numel()), expected), 1e-12);
}

// Beside the gradient a block's parts: less than a third of the logits.
TEST(SigmoidFocalLoss, MakesNoFurtherMapsOfTheLogitsSize) {
  count_memory();
  const at::Tensor logits = at::zeros({16'384, 90}, at::kFloat).set_requires_grad(true);
  const at::Tensor classes = at::zeros({16'384}, at::kInt);
  const int64_t before = *counted_memory(at::kCPU).live_bytes;
  reset_counted_peak(at::kCPU);
  focal_loss({}, logits, classes).backward();
  EXPECT_LT(*counted_memory(at::kCPU).peak_bytes - before, logits.nbytes() * 4 / 3);
}

TEST(DropoutOfSamples, KeepsOrDropsWholeSamples) {
  const HostTensor x = doubles({400, 3}, std::vector<double>(1200, 1));
  const NodeRun actual = run_node(Dropout{.p = 0.25, .per_sample = true}, {{x}});
  int64_t kept = 0;
  for (size_t n = 0; n < 400; ++n) {
    const double first = actual.results[0][3 * n];
    EXPECT_TRUE(first == 0 || first == 1 / 0.75) << first;
    for (size_t i = 1; i < 3; ++i) EXPECT_EQ(actual.results[0][3 * n + i], first);
    kept += first != 0;
  }
  EXPECT_NEAR(static_cast<double>(kept), 300, 5 * std::sqrt(400 * 0.25 * 0.75));
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(FusionOp, IsItsDefinition) {
  const Shape shape = {2, 3};
  const std::vector<double> weights = {0.75, -0.5, 1.25};
  const double epsilon = 0.25, divisor = 0.75 + 1.25 + epsilon;
  std::vector<Operand> in;
  std::vector<std::vector<double>> x;
  for (const char* name : {"a", "b", "c"}) {
    in.push_back({normal(name, shape)});
    x.push_back(as_doubles(in.back().value));
  }
  in.push_back({doubles({3}, weights)});
  const NodeRun actual = run_node(Fusion{.epsilon = epsilon}, in);
  const std::vector<double> upstream = as_doubles(random_tensor("w0", shape, DType::f64));
  std::vector<double> y(x[0].size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = (0.75 * x[0][i] + 1.25 * x[2][i]) / divisor;
  EXPECT_LT(relative_error(actual.results[0], y), 1e-14);
  for (size_t k = 0; k < 3; ++k) {
    std::vector<double> gradient = upstream;
    for (double& each : gradient) each *= std::max(weights[k], 0.0) / divisor;
    if (k != 1) {
      EXPECT_LT(relative_error(actual.gradients[k], gradient), 1e-14) << k;
    }
    const double of_weight = weights[k] > 0 ? (dot(upstream, x[k]) - dot(upstream, y)) / divisor : 0;
    EXPECT_NEAR(actual.gradients[3][k], of_weight, 1e-14) << k;
  }
  EXPECT_THAT(actual.gradients[1], testing::Each(0.0));
}

TEST(FusionOp, SumsItsOperandsWhenPlain) {
  const HostTensor a = doubles({3}, {1, 2, 3}), b = doubles({3}, {10, 20, 30});
  const NodeRun actual = run_node(Fusion{.plain = true}, {{a}, {b}, {a}});
  EXPECT_EQ(actual.results[0], (std::vector<double>{12, 24, 36}));
  EXPECT_EQ(actual.gradients[0], actual.gradients[1]);
}

}  // namespace
}  // namespace tbd::pytorch
