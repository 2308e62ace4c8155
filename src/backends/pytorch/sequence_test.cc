// What embeddings, gathers and constant tables can get wrong in torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/pytorch/one_node.h"
#include "backends/pytorch/plan.h"
#include "backends/pytorch/tensors.h"
#include "graph/builder.h"

namespace tbd::pytorch {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> row(const std::vector<double>& values, size_t i, size_t width) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * width);
  return {begin, begin + static_cast<std::ptrdiff_t>(width)};
}

TEST(EmbeddingOp, AddsTheGradientOfEveryUseOfARowAndNoneToPadding) {
  const Embedding op = {.rows = 4, .width = 2, .pad = 1};
  const Operand table = {doubles({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})};
  const NodeRun run = run_node(op, {fixed(integers({1, 5}, {2, 1, 2, 0, 1})), table});
  EXPECT_THAT(run.results[0], ElementsAre(5, 6, 3, 4, 5, 6, 1, 2, 3, 4));  // the padding row is read as it stands
  const std::vector<double> weights = as_doubles(random_tensor("w0", {1, 5, 2}, DType::f64));
  const std::vector<double>& gradient = run.gradients[1];
  EXPECT_THAT(row(gradient, 1, 2), Each(0.0));
  EXPECT_THAT(row(gradient, 3, 2), Each(0.0));
  EXPECT_EQ(row(gradient, 0, 2), row(weights, 3, 2));
  for (size_t j = 0; j < 2; ++j) EXPECT_DOUBLE_EQ(gradient[4 + j], weights[j] + weights[4 + j]);
}

TEST(EmbeddingOp, GivesEveryRowAGradientWithoutPadding) {
  const NodeRun run =
      run_node(Embedding{.rows = 2, .width = 1}, {fixed(integers({2}, {0, 1})), {doubles({2, 1}, {1, 2})}});
  EXPECT_EQ(run.gradients[1], as_doubles(random_tensor("w0", {2, 1}, DType::f64)));
}

TEST(EmbeddingOp, RefusesAnIdOutsideTheTable) {
  const auto look_up = [](double id) {
    return sentence_from([&] {
      run_node(Embedding{.rows = 3, .width = 2}, {fixed(integers({2}, {0, id})), {normal("table", {3, 2})}});
    });
  };
  EXPECT_THAT(look_up(3), HasSubstr("index"));
  EXPECT_THAT(look_up(-1), HasSubstr("index"));
}

// A table that is also the projection, which still reaches the padding row, with or without the lookup's gradient.
Program tied(bool looks_up) {
  Program program = {.model = "toy", .config = "tied"};
  Builder g(program, "train");
  const Tensor ids = g.input("ids", {Builder::batch()}, DType::i32);
  const Tensor label = g.input("label", {Builder::batch()}, DType::i32);
  const Tensor table = g.parameter("table", {3, 2}, Init::normal(1));
  const Tensor x = g.embedding(ids, table, 0);
  g.loss("ce", g.softmax_cross_entropy(g.linear(looks_up ? x : g.stop_gradient(x), table), label));
  g.update({});
  program.step = {{.phase = "train"}};
  return with_precision(program, Precision::kFp64);
}

TEST(EmbeddingOp, ATiedProjectionReachesThePaddingRow) {
  const auto gradient = [](bool looks_up, const Mode& mode = Mode::kEager) {
    auto session = loaded(tied(looks_up), {.batch = 3, .mode = mode});
    TensorMap batch = random_batch(tied(looks_up), {{"N", 3}});
    batch["ids"] = integers({3}, {0, 1, 0});
    batch["label"] = integers({3}, {2, 1, 0});
    session->stage(batch);
    session->write({{"param/table", normal("table", {3, 2})}});
    session->step(at_step(1, 0.0));
    return as_doubles(session->read({"grad/"}).at("grad/table"));
  };
  const std::vector<double> projection = gradient(false), both = gradient(true);
  EXPECT_GT(std::abs(projection[0]), 1e-3);
  EXPECT_EQ(row(both, 0, 2), row(projection, 0, 2));
  EXPECT_GT(relative_error(row(both, 1, 2), row(projection, 1, 2)), 1e-3);
  EXPECT_LT(relative_error(gradient(true, Mode::kEagerOnednn), both), 1e-14) << "whose rows are added to it";
}

TEST(GatherOp, SumsTheGradientsOfAPositionTakenTwice) {
  const NodeRun run =
      run_node(Gather{}, {{doubles({2, 3}, {1, 2, 3, 4, 5, 6})}, fixed(integers({2, 2}, {2, 2, 0, 1}))});
  EXPECT_THAT(run.results[0], ElementsAre(3, 3, 4, 5));
  const std::vector<double> w = as_doubles(random_tensor("w0", {2, 2}, DType::f64));
  EXPECT_THAT(run.gradients[0], ElementsAre(0, 0, w[0] + w[1], w[2], w[3], 0));
}

// Position 3 of the first sample must not be position 0 of the second.
TEST(GatherOp, RefusesAPositionOutsideItsOwnSample) {
  EXPECT_THAT(sentence_from([] {
                run_node(Gather{}, {{normal("x", {2, 3, 2})}, fixed(integers({2, 1}, {3, 0}))});
              }),
              HasSubstr("out of bounds"));
}

TEST(SinusoidOp, IsTheTableOfTheFormulaRoundedOnceAndZeroOnPadding) {
  constexpr int64_t kSteps = 300, kWidth = 8;
  std::vector<double> valid(kSteps, 1);
  valid[7] = 0;
  const Operand operand = fixed(doubles({1, kSteps}, valid));
  const NodeRun run = run_node(Sinusoid{.first = 2, .width = kWidth}, {operand}, {DType::f32, DType::f32});
  for (int64_t t = 0; t < kSteps; ++t)
    for (int64_t j = 0; j < kWidth / 2; ++j) {
      const double angle = static_cast<double>(2 + t) * std::pow(10000, -static_cast<double>(j) / (kWidth / 2 - 1));
      const auto at = static_cast<size_t>(t * kWidth + j);
      EXPECT_EQ(run.results[0][at], t == 7 ? 0 : static_cast<float>(std::sin(angle))) << t << " " << j;
      EXPECT_EQ(run.results[0][at + kWidth / 2], t == 7 ? 0 : static_cast<float>(std::cos(angle))) << t << " " << j;
    }
}

// x = 1 in the first half and 0 in the second: the halves are cos and sin.
TEST(RotaryOp, TurnsHalvesByAnglesComputedInDouble) {
  constexpr int64_t kSteps = 500, kWidth = 4;
  std::vector<double> x;
  for (int64_t i = 0; i < kSteps * 2; ++i) x.insert(x.end(), {1, 1, 0, 0});
  const NodeRun run =
      run_node(Rotary{.theta = 10000}, {{doubles({1, kSteps, 2, kWidth}, x)}}, {DType::f32, DType::f32});
  for (int64_t t = 0; t < kSteps; ++t)
    for (int64_t head = 0; head < 2; ++head)
      for (int64_t j = 0; j < 2; ++j) {
        const double angle = static_cast<double>(t) * std::pow(10000, -2.0 * static_cast<double>(j) / kWidth);
        const auto at = static_cast<size_t>((t * 2 + head) * kWidth + j);
        EXPECT_EQ(run.results[0][at], static_cast<float>(std::cos(angle))) << t << " " << j;
        EXPECT_EQ(run.results[0][at + 2], static_cast<float>(std::sin(angle))) << t << " " << j;
      }
}

TEST(RotaryOp, KeepsLengthsAndProductsOfEqualDistance) {
  const HostTensor same = doubles({1, 1, 1, 6}, {0.3, -1, 2, 0.7, 0.1, -0.4});
  std::vector<double> repeated;
  for (int t = 0; t < 6; ++t) repeated.insert(repeated.end(), same.as<double>().begin(), same.as<double>().end());
  const std::vector<double> y = run_node(Rotary{}, {{doubles({1, 6, 1, 6}, repeated)}}).results[0];
  const auto product = [&](size_t a, size_t b) {
    double sum = 0;
    for (size_t j = 0; j < 6; ++j) sum += y[a * 6 + j] * y[b * 6 + j];
    return sum;
  };
  EXPECT_NEAR(product(0, 2), product(3, 5), 1e-12);
  EXPECT_NEAR(product(4, 4), product(0, 0), 1e-12);
  EXPECT_GT(std::abs(product(0, 1) - product(0, 2)), 1e-3);
}

// A table is made at a node's first run and then stays where it is.
TEST(Constants, AreCreatedOncePerNode) {
  const Program program = node_program(Rotary{}, {{normal("x", {1, 3, 2, 4})}}, {});
  const Graph graph = bind(program, program.phases[0], {{"N", 1}});
  const Plan plan = make_plan(graph);
  std::vector<at::Tensor> values(graph.values.size());
  const auto run = [&] {
    values[static_cast<size_t>(graph.find("x0").value())] =
        to_device(normal("x", {1, 3, 2, 4}), DType::f64, at::kCPU, Layout::nchw);
    values[static_cast<size_t>(graph.find("w0").value())] =
        to_device(normal("w", {1, 3, 2, 4}), DType::f64, at::kCPU, Layout::nchw);
    run_forward(plan, values, LowerToTorch{});
    return plan.nodes[0].constants.at(1).data_ptr();
  };
  EXPECT_EQ(run(), run());
}

// Slices, transposes and reshapes are views: what is computed from one must not change another.
TEST(Views, AreNeverOverwritten) {
  Program program = {.model = "toy", .config = "views"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 6});
  const Tensor h = g.linear("fc", x, {.out = 6});
  const Tensor left = g.relu(g.slice(h, {.end = 3})), right = g.relu(g.transpose(g.slice(h, {.begin = 2}), {1, 0}));
  const Tensor again = g.affine(g.slice(h, {.begin = 1, .end = 4}), 2);
  g.loss("left", g.sum(g.square(left)));
  g.loss("right", g.sum(g.square(right)));
  g.loss("again", g.sum(g.square(again)));
  g.update({});
  program.step = {{.phase = "train"}};
  const auto run = [&](bool obey) {
    auto session = ready_obeying(obey, program);
    session->step(at_step(1, 0.0));
    return session->read({"grad/", "term/"});
  };
  const TensorMap with = run(true), without = run(false);
  for (const auto& [name, tensor] : with)
    EXPECT_TRUE(std::ranges::equal(tensor.bytes(), without.at(name).bytes())) << name;
}

}  // namespace
}  // namespace tbd::pytorch
