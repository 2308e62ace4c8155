// Cross-entropy by its definition: smoothing of both kinds, ignored rows, weights of rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

NodeRun run(const Rows& rows) {
  const auto extents = rows.logits.extents();
  const Shape each(std::vector<int64_t>(extents.begin(), extents.end() - 1));
  std::vector<Operand> in = {{normal("logits", rows.logits)}, fixed(integers(each, rows.labels))};
  if (!rows.weights.empty()) in.push_back(fixed(doubles(each, rows.weights)));
  return run_node(rows.op, in);
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
  const NodeRun actual = run(rows);
  EXPECT_NEAR(actual.loss, expected.loss, 1e-12 * std::abs(expected.loss));
  EXPECT_LT(relative_error(actual.gradients[0], expected.gradient), 1e-12);
}
INSTANTIATE_TEST_SUITE_P(All, CrossEntropy, testing::Range<size_t>(0, std::size(kRows)));

TEST(CrossEntropy, OfIgnoredRowsAloneIsZero) {
  for (const double smoothing : {0.0, 0.1}) {
    const NodeRun actual = run({{.smoothing = smoothing, .ignore = 1}, {2, 3}, {1, 1}});
    EXPECT_EQ(actual.loss, 0);
    EXPECT_THAT(actual.gradients[0], Each(0.0));
  }
}

TEST(CrossEntropy, RefusesALabelOutsideTheClasses) {
  for (const double label : {3.0, -1.0})
    EXPECT_THAT(sentence_of([&] { run({{}, {2, 3}, {0, label}}); }), testing::HasSubstr("out of bounds"));
}

}  // namespace
}  // namespace tbd::pytorch
