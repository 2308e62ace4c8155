// Lengths of samples and what lies beyond them; rows against targets of any kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "backends/mxnet/test_programs.h"

namespace tbd::mxnet {
namespace {

using testing::ElementsAre;

// Single precision does not hold 2^24 + 3.
TEST(StridedLengthOnMxnet, CountsStepsExactly) {
  const auto steps = [](int64_t stride) {
    const Program program = program_by([&](Builder& g) {
      g.output("steps", g.strided_length(g.input("lengths", {5}, DType::i32), stride));
      g.loss("none", g.sum(g.parameter("x", {1})));
    });
    const HostTensor lengths = integers({5}, {1, 2, 3, 4, (1 << 24) + 3});
    return as_doubles(stepped(program, {}, {{"lengths", lengths}}).at("output/steps"));
  };
  EXPECT_THAT(steps(1), ElementsAre(1, 2, 3, 4, (1 << 24) + 3));
  EXPECT_THAT(steps(2), ElementsAre(1, 1, 2, 2, (1 << 23) + 2));
  EXPECT_THAT(steps(3), ElementsAre(1, 1, 1, 2, 5592407));
}

struct Masked {
  Shape x;
  int64_t axis;
};

// Infinite where it is masked, with gradients that are infinite there too.
void check_mask(const Masked& c, Precision precision) {
  const Program program = program_by(
      [&](Builder& g) {
        const Tensor x = g.parameter("x", c.x), lengths = g.input("lengths", {c.x[0]}, DType::i32);
        const Tensor y = g.sequence_mask(x, lengths, c.axis), again = g.sequence_mask(y, lengths, c.axis);
        g.output("y", y);
        g.loss("sum", weighted(g, "weights", again));
      },
      precision);
  const std::vector<int32_t> lengths = {2, static_cast<int32_t>(c.x[c.axis]), 1};
  TensorMap weights = random_weights(program);
  const auto x = weights.at("param/x").as<double>(), upstream = weights.at("param/weights").as<double>();
  int64_t inner = 1;
  for (int64_t axis = c.axis + 1; axis < c.x.rank(); ++axis) inner *= c.x[axis];
  const int64_t sample = c.x.elements() / c.x[0];
  std::vector<double> y, gradient;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    const bool inside = place / inner % c.x[c.axis] < lengths[static_cast<size_t>(place / sample)];
    if (!inside) x[i] = std::numeric_limits<double>::infinity();
    y.push_back(inside ? x[i] : 0);
    gradient.push_back(inside ? upstream[i] : 0);
  }
  const TensorMap after = stepped(program, weights, {{"lengths", integers({c.x[0]}, lengths)}});
  const auto near = [&](const std::vector<double>& all) { return testing::Pointwise(testing::DoubleNear(1e-6), all); };
  EXPECT_THAT(as_doubles(after.at("output/y")), near(y)) << c.x << " axis " << c.axis;
  EXPECT_THAT(as_doubles(after.at("grad/x")), near(gradient)) << c.x << " axis " << c.axis;
}

TEST(SequenceMaskOnMxnet, SelectsAlongAnyAxisWhateverIsMasked) {
  for (const Precision& precision : {Precision::kFp64, Precision::kFp32})
    for (const Masked& c : {Masked{{3, 4}, 1}, Masked{{3, 5, 2}, 1}, Masked{{3, 2, 4, 5}, 3}, Masked{{3, 2, 4, 5}, 2}})
      check_mask(c, precision);
}

// Rows of the target need not sum to 1; no gradient reaches it.
TEST(SoftCrossEntropyOnMxnet, AcceptsAnyTargetDistribution) {
  const std::vector<double> logits = {1, 2, 3, 0, 0, 5}, target = {0.5, 0.25, 0.5, 2, -1, 0};
  for (const Precision& precision : {Precision::kFp64, Precision::kFp32}) {
    const Program program = program_by(
        [](Builder& g) {
          const Tensor x = g.parameter("logits", {2, 1, 3}), t = g.parameter("target", {2, 1, 3});
          g.loss("ce", g.soft_cross_entropy(x, t), 2);
        },
        precision);
    const TensorMap after = stepped(
        program, {{"param/logits", doubles({2, 1, 3}, logits)}, {"param/target", doubles({2, 1, 3}, target)}}, {});
    double loss = 0;
    std::vector<double> gradient;
    for (size_t row = 0; row < 6; row += 3) {
      double sum = 0, total = 0;
      for (size_t c = row; c < row + 3; ++c) {
        sum += std::exp(logits[c]);
        total += target[c];
      }
      for (size_t c = row; c < row + 3; ++c) {
        loss -= target[c] * (logits[c] - std::log(sum));
        gradient.push_back(2 * (total * std::exp(logits[c]) / sum - target[c]));
      }
    }
    const double bound = precision == Precision::kFp64 ? 1e-14 : 2e-6;
    EXPECT_NEAR(as_doubles(after.at("loss"))[0], 2 * loss, bound * 10);
    EXPECT_LT(relative_error(after.at("grad/logits"), doubles({6}, gradient)), bound);
    EXPECT_THAT(as_doubles(after.at("grad/target")), testing::Each(0));
  }
}

}  // namespace
}  // namespace tbd::mxnet
