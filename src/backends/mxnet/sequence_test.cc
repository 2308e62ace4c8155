// What only MXNet can do wrong with ids, positions, slices, masks and labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mxnet/test_programs.h"

namespace tbd::mxnet {
namespace {

using testing::ElementsAre;
using testing::Pointwise;

TEST(EmbeddingOnMxnet, GivesThePadRowButNoGradientToItFromTheLookup) {
  const Program program = program_by([](Builder& g) {
    const Tensor ids = g.input("ids", {4}, DType::i32);
    const Tensor table = g.parameter("table", {4, 2});
    const Tensor found = g.embedding(ids, table, /*pad=*/1);
    g.output("found", found);
    g.loss("lookup", weighted(g, "w", found));
    g.loss("tied", weighted(g, "v", table));
  });
  const TensorMap after = stepped(program,
                                  {{"param/table", doubles({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                                   {"param/w", doubles({4, 2}, {10, 20, 30, 40, 50, 60, 70, 80})},
                                   {"param/v", doubles({4, 2}, {0, 0, 0.5, 0.25, 0, 0, 0, 0})}},
                                  {{"ids", integers({4}, {3, 1, 3, 0})}});
  EXPECT_THAT(as_doubles(after.at("output/found")), ElementsAre(7, 8, 3, 4, 7, 8, 1, 2));
  EXPECT_THAT(as_doubles(after.at("grad/table")), ElementsAre(70, 80, 0.5, 0.25, 0, 0, 60, 80));
}

// Large enough for the kernel that sorts ids.
TEST(EmbeddingOnMxnet, AddsTheGradientsOfEveryPlaceOfALargeTable) {
  constexpr int64_t kRows = 5000, kWidth = 8, kPlaces = 3000;
  const Program program = program_by(
      [&](Builder& g) {
        const Tensor ids = g.input("ids", {kPlaces}, DType::i32);
        g.loss("sum", g.sum(g.embedding(ids, g.parameter("table", {kRows, kWidth}))));
      },
      Precision::kFp32);
  std::vector<int32_t> ids;
  std::vector<double> expected(kRows * kWidth);
  for (int64_t i = 0; i < kPlaces; ++i) {
    ids.push_back(static_cast<int32_t>(i * i % 97 * 50));
    for (int64_t j = 0; j < kWidth; ++j) expected[static_cast<size_t>(ids.back() * kWidth + j)] += 1;
  }
  const TensorMap after = stepped(program, {}, {{"ids", integers({kPlaces}, ids)}});
  EXPECT_EQ(relative_error(after.at("grad/table"), doubles({kRows, kWidth}, expected)), 0);
}

TEST(GatherOnMxnet, TakesFromItsOwnSampleAndAddsTheGradientsOfRowsTakenTwice) {
  const Program program = program_by([](Builder& g) {
    const Tensor positions = g.input("positions", {2, 3}, DType::i32);
    const Tensor x = g.parameter("x", {2, 2, 1});
    const Tensor y = g.gather(x, positions);
    g.output("y", y);
    g.loss("loss", weighted(g, "w", y));
  });
  const TensorMap after = stepped(program,
                                  {{"param/x", doubles({2, 2, 1}, {1, 2, 3, 4})},
                                   {"param/w", doubles({2, 3, 1}, {1, 10, 100, 1000, 10000, 100000})}},
                                  {{"positions", integers({2, 3}, {1, 0, 1, 0, 0, 1})}});
  EXPECT_THAT(as_doubles(after.at("output/y")), ElementsAre(2, 1, 2, 3, 3, 4));
  EXPECT_THAT(as_doubles(after.at("grad/x")), ElementsAre(10, 101, 11000, 100000));
}

// Single precision does not hold 2^24 + 1.
TEST(IntegersOnMxnet, KeepEveryDigitThroughMovesAndComparisons) {
  constexpr int32_t kOdd = (1 << 24) + 1;
  const Program program = program_by(
      [](Builder& g) {
        const Tensor ids = g.input("ids", {1, 4}, DType::i32);
        const Tensor positions = g.input("positions", {1, 4}, DType::i32);
        const Tensor halves[] = {g.slice(ids, {.axis = 1, .begin = 0, .end = 2}),
                                 g.slice(ids, {.axis = 1, .begin = 2})};
        const Tensor moved = g.gather(g.concat({halves[1], halves[0]}), positions);
        const Tensor turned = g.transpose(g.reshape(moved, {2, 2}), {1, 0});
        g.output("odd", g.equals(turned, kOdd));
        g.loss("none", g.sum(g.parameter("x", {1})));
      },
      Precision::kFp32);
  const TensorMap after = stepped(
      program, {},
      {{"ids", integers({1, 4}, {kOdd, kOdd - 1, kOdd + 1, kOdd})}, {"positions", integers({1, 4}, {0, 1, 2, 3})}});
  EXPECT_THAT(as_doubles(after.at("output/odd")), ElementsAre(0, 1, 1, 0));
}

// Three parts that make up the axis, of which one is read by nothing that counts, and slices that cut across them.
TEST(SliceOnMxnet, PartsOfAnAxisAndOtherSlicesOfItAddTheirGradients) {
  const Program program = program_by([](Builder& g) {
    const Tensor x = g.parameter("x", {2, 6});
    const auto term = [&](const char* name, int64_t begin, int64_t end, double factor) {
      g.loss(name, g.sum(g.affine(g.slice(x, {.axis = 1, .begin = begin, .end = end}), factor)));
    };
    term("first", 0, 2, 1);
    term("last", 4, 0, 10);
    term("across", 1, 3, 100);
    term("long", 1, 5, 1000);
    g.output("middle", g.slice(x, {.axis = 1, .begin = 2, .end = 4}));
  });
  const TensorMap after = stepped(program, {{"param/x", doubles({2, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})}}, {});
  EXPECT_THAT(as_doubles(after.at("output/middle")), ElementsAre(3, 4, 9, 10));
  EXPECT_THAT(as_doubles(after.at("grad/x")),
              ElementsAre(1, 1101, 1100, 1000, 1010, 10, 1, 1101, 1100, 1000, 1010, 10));
}

// Samples with other numbers of keys, both attentions behind one mask: as attention on the keys that are there.
TEST(AttentionOnMxnet, ReadsMaskedKeysAsAbsentInEveryLayerThatSharesTheMask) {
  const Program program = program_by([](Builder& g) {
    const Tensor mask = g.input("mask", {2, 5});
    const Tensor q = g.parameter("q", {2, 3, 8}), k = g.parameter("k", {2, 5, 8}), v = g.parameter("v", {2, 5, 8});
    const int64_t keys[] = {5, 2};
    for (const int64_t heads : {4, 4, 2, 1}) {
      const Tensor masked = g.attention(q, k, v, {.heads = heads}, mask);
      const auto rows = [&](const Tensor& x, int64_t sample, int64_t end) {
        return g.slice(g.slice(x, {.axis = 0, .begin = sample, .end = sample + 1}),
                       {.axis = 1, .begin = 0, .end = end});
      };
      std::vector<Tensor> samples;
      for (const int64_t n : {0, 1}) {
        const Tensor own_q = rows(q, n, 3), own_k = rows(k, n, keys[n]), own_v = rows(v, n, keys[n]);
        samples.push_back(g.attention(own_q, own_k, own_v, {.heads = heads}));
      }
      g.loss(cat("difference", masked.name()), g.sum(g.square(g.sub(masked, g.concat(samples, 0)))));
    }
  });
  const HostTensor mask = doubles({2, 5}, {0, 0, 0, 0, 0, 0, 0, -1e4, -1e4, -1e4});
  TensorMap weights;
  for (const char* name : {"q", "k", "v"})
    weights[cat("param/", name)] = random_tensor(name, name[0] == 'q' ? Shape{2, 3, 8} : Shape{2, 5, 8}, DType::f64);
  EXPECT_LT(as_doubles(stepped(program, weights, {{"mask", mask}}).at("loss"))[0], 1e-28);
}

TEST(AttentionOnMxnet, IgnoresLaterKeysWhenCausal) {
  const Program program = program_by([](Builder& g) {
    const Tensor q = g.parameter("q", {2, 4, 6}), k = g.parameter("k", {2, 4, 6}), v = g.parameter("v", {2, 4, 6});
    const Tensor causal = g.attention(q, k, v, {.heads = 3, .causal = true});
    std::vector<Tensor> steps;
    for (int64_t t = 0; t < 4; ++t) {
      const Tensor own = g.slice(q, {.axis = 1, .begin = t, .end = t + 1});
      const Tensor keys = g.slice(k, {.axis = 1, .begin = 0, .end = t + 1});
      const Tensor values = g.slice(v, {.axis = 1, .begin = 0, .end = t + 1});
      steps.push_back(g.attention(own, keys, values, {.heads = 3}));
    }
    g.loss("difference", g.sum(g.square(g.sub(causal, g.concat(steps, 1)))));
  });
  TensorMap weights;
  for (const char* name : {"q", "k", "v"}) weights[cat("param/", name)] = random_tensor(name, {2, 4, 6}, DType::f64);
  EXPECT_LT(as_doubles(stepped(program, weights, {}).at("loss"))[0], 1e-28);
}

TEST(AttentionOnMxnet, LetsEachGroupOfQueryHeadsReadItsOwnKeyHead) {
  const Program program = program_by([](Builder& g) {
    const Tensor q = g.parameter("q", {2, 3, 8}), k = g.parameter("k", {2, 3, 4}), v = g.parameter("v", {2, 3, 4});
    const auto repeated = [&](const Tensor& x) {
      const Tensor a = g.slice(x, {.axis = 2, .begin = 0, .end = 2}), b = g.slice(x, {.axis = 2, .begin = 2});
      return g.concat({a, a, b, b}, 2);
    };
    const Tensor grouped = g.attention(q, k, v, {.heads = 4, .kv_heads = 2, .causal = true});
    const Tensor all_keys = repeated(k), all_values = repeated(v);
    const Tensor full = g.attention(q, all_keys, all_values, {.heads = 4, .causal = true});
    g.loss("difference", g.sum(g.square(g.sub(grouped, full))));
  });
  const TensorMap weights = {{"param/q", random_tensor("q", {2, 3, 8}, DType::f64)},
                             {"param/k", random_tensor("k", {2, 3, 4}, DType::f64)},
                             {"param/v", random_tensor("v", {2, 3, 4}, DType::f64)}};
  EXPECT_LT(as_doubles(stepped(program, weights, {}).at("loss"))[0], 1e-28);
}

// oneDNN's logarithm is 24 roundings off.
TEST(CrossEntropyOnMxnet, OfTwoClassesIsExactToAFewRoundings) {
  const auto program = [](Precision precision) {
    return program_by(
        [](Builder& g) {
          const Tensor label = g.input("label", {64}, DType::i32), logits = g.parameter("logits", {64, 2});
          g.loss("ce", g.softmax_cross_entropy(logits, label));
        },
        precision);
  };
  const HostTensor logits = converted(random_tensor("logits", {64, 2}, DType::f32), DType::f64);
  const auto loss = [&](Precision precision) {
    return stepped(program(precision), {{"param/logits", logits}},
                   {{"label", integers({64}, std::vector<int32_t>(64, 1))}});
  };
  const TensorMap single = loss(Precision::kFp32), twice = loss(Precision::kFp64);
  for (const char* name : {"loss", "grad/logits"})
    EXPECT_LT(relative_error(single.at(name), twice.at(name)), 2e-7) << name;
}

// The ignored label is no class: pick would take the nearest.
TEST(CrossEntropyOnMxnet, CountsNeitherIgnoredLabelsNorRowsOfWeightZero) {
  const Program program = program_by([](Builder& g) {
    const Tensor label = g.input("label", {2, 2}, DType::i32), weights = g.input("weights", {2, 2});
    const Tensor logits = g.parameter("logits", {2, 2, 3});
    g.loss("ce", g.softmax_cross_entropy(logits, label, SoftmaxCrossEntropy{.ignore = 7}, weights));
  });
  const std::vector<double> logits = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0};
  const TensorMap after =
      stepped(program, {{"param/logits", doubles({2, 2, 3}, logits)}},
              {{"label", integers({2, 2}, {7, 2, 1, 0})}, {"weights", doubles({2, 2}, {5, 0, 0.5, 2})}});
  const double sum = std::exp(-2.0) + std::exp(-1.0) + 1;  // rows that count: logits 7, 8, 9 and three zeros
  EXPECT_NEAR(as_doubles(after.at("loss"))[0], 0.5 * (1 + std::log(sum)) + 2 * std::log(3.0), 1e-12);
  const std::vector<double> expected = {0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0.5 * std::exp(-2.0) / sum,
                                        0.5 * (std::exp(-1.0) / sum - 1),
                                        0.5 / sum,
                                        2 * (1.0 / 3 - 1),
                                        2.0 / 3,
                                        2.0 / 3};
  EXPECT_THAT(as_doubles(after.at("grad/logits")), Pointwise(testing::DoubleNear(1e-12), expected));
}

}  // namespace
}  // namespace tbd::mxnet
