#include "backends/pytorch/low_rank.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <future>

#include "backends/pytorch/exchange.h"
#include "base/files.h"

namespace tbd::pytorch {
namespace {

using List = std::vector<at::Tensor>;

constexpr int64_t kRanks = 2;

double relative(const at::Tensor& got, const at::Tensor& expected) {
  return (got - expected).norm().item<double>() / expected.norm().item<double>();
}

// What two ranks, each a thread, make of their gradients, in steps: [step][parameter], of rank 0.
std::vector<List> sums_of(const WireType& wire, const std::vector<std::array<List, kRanks>>& steps,
                          bool forgets = false) {
  const TemporaryFolder folder("tbd-low-rank");
  const auto of_rank = [&](int64_t rank) {
    const auto exchange = join(
        {.place = {rank, kRanks}, .store = (folder.path() / "store").string(), .timeout_seconds = 20, .wire = wire});
    List parameters;
    for (const at::Tensor& gradient : steps[0][0])
      parameters.push_back(at::zeros_like(gradient).set_requires_grad(true));
    std::unique_ptr<GradientExchange> gradients;
    std::vector<List> out;
    for (const auto& step : steps) {
      if (!gradients || forgets) gradients = exchange->of_gradients(parameters, {});
      gradients->before_forward();
      at::Tensor loss = at::zeros_like(parameters[0]).sum();
      for (size_t i = 0; i < parameters.size(); ++i)
        loss = loss + (parameters[i] * step[static_cast<size_t>(rank)][i]).sum();
      gradients->before_backward();
      loss.backward();
      List& sums = out.emplace_back();
      for (const at::Tensor& parameter : parameters) {
        sums.push_back(parameter.grad().detach().clone());
        parameter.mutable_grad().reset();
      }
    }
    return out;
  };
  auto other = std::async(std::launch::async, of_rank, 1);
  const std::vector<List> own = of_rank(0), others = other.get();
  for (size_t step = 0; step < own.size(); ++step)
    for (size_t i = 0; i < own[step].size(); ++i) EXPECT_TRUE(own[step][i].equal(others[step][i])) << "of each rank";
  return own;
}

at::Tensor drawn(std::vector<int64_t> sizes) { return at::randn(sizes, at::kDouble); }

TEST(LowRank, OfFullRankIsTheSum) {
  // A sum of rank 2: of two columns it is exact, and of four, two of which have nothing left to hold.
  std::array<List, kRanks> gradients;
  for (List& own : gradients)
    own = {at::matmul(drawn({30, 1}), drawn({1, 20})), drawn({7}),
           at::matmul(drawn({12, 1}), drawn({1, 4 * 9})).view({12, 4, 3, 3}), drawn({2, 2})};
  for (const WireType& wire : {WireType::kLowRank2, WireType::kLowRank4}) {
    const std::vector<List> sums = sums_of(wire, {gradients, gradients});
    for (const List& step : sums)
      for (size_t i = 0; i < step.size(); ++i)
        EXPECT_LT(relative(step[i], gradients[0][i] + gradients[1][i]), 1e-12) << wire << " " << i;
  }
}

TEST(LowRank, SumsUpOverStepsWhatAStepLeftOut) {
  const std::array<List, kRanks> gradients = {List{drawn({24, 16})}, List{drawn({24, 16})}};
  const at::Tensor each = gradients[0][0] + gradients[1][0];
  const auto error_after = [&](size_t steps, bool forgets) {
    at::Tensor total = at::zeros_like(each);
    for (const List& sums : sums_of(WireType::kLowRank1, std::vector(steps, gradients), forgets)) total += sums[0];
    return relative(total, each * static_cast<double>(steps));
  };
  EXPECT_GT(error_after(1, false), 0.5);
  const double later = error_after(64, false);
  EXPECT_LT(later, 0.25);
  EXPECT_LT(error_after(256, false), later / 2) << "what is left out stays of one size, the sum grows";
  EXPECT_GT(error_after(64, true), 0.5) << "without error feedback";
}

TEST(LowRank, SendsThinMatricesAndVectors) {
  int64_t elements = 0, calls = 0;
  LowRankSum sum(/*columns=*/2, /*ranks=*/1, [&](const at::Tensor& values) {
    elements += values.numel();
    ++calls;
  });
  // 10 x 40 as 2 (10 + 40); a vector; 3 x 4 whose factors would be larger.
  const List parameters = {drawn({10, 8, 5}), drawn({9}), drawn({3, 4})};
  List gradients;
  for (const at::Tensor& each : parameters) gradients.push_back(drawn(each.sizes().vec()));
  sum.apply(parameters, gradients);
  EXPECT_EQ(elements, 2 * (10 + 40) + 9 + 3 * 4);
  EXPECT_EQ(calls, 2);
}

TEST(LowRank, ColumnsAreOrthonormalThoughTheyDepend) {
  const at::Tensor one = drawn({50, 1}), two = drawn({50, 1});
  const at::Tensor matrix = at::cat({one, two, one + two, at::zeros_like(one)}, 1).contiguous();
  make_orthonormal(matrix);
  const at::Tensor products = at::matmul(matrix.t(), matrix);
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 4; ++j)
      EXPECT_NEAR(products[i][j].item<double>(), i == j && i < 3 ? 1 : 0, 1e-12) << i << " " << j;
}

TEST(LowRank, OfNothingIsNothingAndStartsAgain) {
  LowRankSum sum(1, 1, [](const at::Tensor&) {});
  const List parameters = {drawn({8, 9})};
  const at::Tensor nothing = at::zeros_like(parameters[0]), something = at::matmul(drawn({8, 1}), drawn({1, 9}));
  for (const at::Tensor& each : {nothing, nothing, something}) {
    const List gradients = {each.clone()};
    sum.apply(parameters, gradients);
    EXPECT_LT((gradients[0] - each).norm().item<double>(), 1e-12);
  }
}

}  // namespace
}  // namespace tbd::pytorch
