#include "worker/prediction_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/builder.h"
#include "worker/spelling_judge.h"

namespace tbd {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

HostTensor reals(const Shape& shape, const std::vector<float>& values) {
  return HostTensor(DType::f32, shape, std::span<const float>(values));
}
HostTensor whole(const Shape& shape, const std::vector<int32_t>& values) {
  return HostTensor(DType::i32, shape, std::span<const int32_t>(values));
}

Phase classifier(int64_t classes) {
  Program program;
  Builder g(program, "train");
  const Tensor logits = g.linear("fc", g.input("x", {Builder::batch(), 2}), {.out = classes});
  g.output("logits", logits);
  g.loss("ce", g.softmax_cross_entropy(logits, g.input("label", {Builder::batch()}, DType::i32)));
  return program.phases[0];
}

TEST(PredictionJudge, CountsClassesThatStandFirst) {
  const auto judge = prediction_judge(classifier(3));
  const TensorMap answers = {{"logits", reals({4, 3}, {3, 1, 2, 0, 0, 1, 5, 1, 1, 9, 9, 9})}};
  judge->add({{"label", whole({4}, {0, 1, 0, 2})}}, answers, 3);  // the fourth is filling
  EXPECT_THAT(judge->metrics(), ElementsAre(Pair("top1", DoubleNear(2.0 / 3, 1e-15))));
}

TEST(PredictionJudge, CountsTheFirstFiveWhereThereAreMore) {
  const auto judge = prediction_judge(classifier(7));
  const TensorMap answers = {{"logits", reals({2, 7}, {7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1})}};
  judge->add({{"label", whole({2}, {4, 5})}}, answers, 2);
  EXPECT_THAT(judge->metrics(), ElementsAre(Pair("top1", 0), Pair("top5", 0.5)));
}

TEST(PredictionJudge, LeavesOutIgnoredTokensAndNamesTermsWhereThereAreSeveral) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 2, 2});
  const Tensor words = g.linear("words", x, {.out = 2});
  const Tensor next = g.linear("next", g.flatten(x), {.out = 2});
  g.output("words", words);
  g.output("next", next);
  g.loss("mlm", g.softmax_cross_entropy(words, g.input("tokens", {Builder::batch(), 2}, DType::i32),
                                        SoftmaxCrossEntropy{.smoothing = 0.1, .ignore = 0}));
  g.loss("nsp", g.softmax_cross_entropy(next, g.input("next_label", {Builder::batch()}, DType::i32)));
  const auto judge = prediction_judge(program.phases[0]);
  judge->add({{"tokens", whole({1, 2}, {1, 0})}, {"next_label", whole({1}, {1})}},
             {{"words", reals({1, 2, 2}, {0, 0, 5, 5})}, {"next", reals({1, 2}, {0, 1})}}, 1);
  EXPECT_THAT(
      judge->metrics(),
      UnorderedElementsAre(Pair("mlm_accuracy", 0), Pair("mlm_perplexity", DoubleNear(2, 1e-12)), Pair("nsp_top1", 1)));
}

TEST(PredictionJudge, IsNoneWhereTheLossComparesNothing) {
  Program program;
  Builder g(program, "train");
  g.loss("sum", g.sum(g.input("x", {Builder::batch(), 2})));
  EXPECT_EQ(prediction_judge(program.phases[0]), nullptr);
}

TEST(MoveJudge, ComparesTheLikeliestMoveAndTheValue) {
  const auto judge = move_judge();
  judge->add({{"pi", reals({2, 3}, {0, 1, 0, 0.2f, 0.2f, 0.6f})}, {"z", reals({2}, {1, -1})}},
             {{"policy_logits", reals({2, 3}, {1, 2, 3, 1, 2, 3})}, {"value", reals({2}, {0.5f, -1})}}, 2);
  EXPECT_THAT(judge->metrics(), ElementsAre(Pair("policy_top1", 0.5), Pair("value_error", 0.125)));
}

// Logits whose best path is `path`, of 29 labels.
std::vector<float> best_path(const std::vector<int32_t>& path) {
  std::vector<float> logits;
  for (const int32_t best : path)
    for (int32_t label = 0; label < 29; ++label) logits.push_back(label == best ? 4.F : 0.F);
  return logits;
}

TEST(SpellingJudge, CountsWordsAndCharactersOfTheSet) {
  // A B is said; the first is spelled "A B" through repeats and blanks, the second "A C" and then what lies beyond it.
  constexpr int32_t kA = 2, kB = 3, kC = 4, kSpace = 28;
  std::vector<float> logits = best_path({kA, kA, 0, kSpace, kB}), second = best_path({kA, kSpace, kC, kB, kB});
  logits.insert(logits.end(), second.begin(), second.end());
  const std::vector<float> filling = best_path({kC, kC, kC, kC, kC});
  logits.insert(logits.end(), filling.begin(), filling.end());
  const TensorMap batch = {{"frames", whole({3}, {9, 5, 9})},  // 5 and 3 steps
                           {"labels", whole({3, 4}, {kA, kSpace, kB, 0, kA, kSpace, kB, 0, kA, 0, 0, 0})},
                           {"label_len", whole({3}, {3, 3, 1})}};
  const auto judge = spelling_judge();
  judge->add(batch, {{"logits", reals({3, 5, 29}, logits)}}, 2);
  EXPECT_THAT(judge->metrics(), ElementsAre(Pair("cer", 0.25), Pair("wer", 0.25)));
}

}  // namespace
}  // namespace tbd
