#include "quality/ctc_decoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/philox.h"

namespace tbd {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Scores (T, N, labels) whose largest of step t and sample n is label paths[n][t].
HostTensor scores_of(const std::vector<std::vector<int32_t>>& paths, int64_t labels) {
  const auto steps = static_cast<int64_t>(paths[0].size()), samples = static_cast<int64_t>(paths.size());
  HostTensor scores(DType::f32, {steps, samples, labels});
  const Philox noise(4, "test/scores");
  const auto values = scores.as<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(-5 - noise.uniform(i));
  for (int64_t n = 0; n < samples; ++n)
    for (int64_t t = 0; t < steps; ++t) {
      const int32_t label = paths[static_cast<size_t>(n)][static_cast<size_t>(t)];
      values[static_cast<size_t>((t * samples + n) * labels + label)] = -0.1f;
    }
  return scores;
}

std::string refusal(const HostTensor& scores, const std::vector<int32_t>& steps) {
  try {
    greedy_ctc(scores, steps);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(GreedyCtc, MergesRunsAndDropsBlanks) {
  const auto spelled = greedy_ctc(scores_of({{0, 1, 1, 0, 1, 2}, {3, 3, 3, 3, 0, 0}, {0, 0, 0, 0, 0, 0}}, 4),
                                  std::vector<int32_t>{6, 6, 6});
  EXPECT_THAT(spelled[0], ElementsAre(1, 1, 2));
  EXPECT_THAT(spelled[1], ElementsAre(3));
  EXPECT_THAT(spelled[2], IsEmpty());
}

TEST(GreedyCtc, IgnoresStepsBeyondTheLength) {
  const auto spelled = greedy_ctc(scores_of({{1, 2, 3}, {1, 2, 3}}, 4), std::vector<int32_t>{2, 0});
  EXPECT_THAT(spelled[0], ElementsAre(1, 2));
  EXPECT_THAT(spelled[1], IsEmpty());
}

TEST(GreedyCtc, AcceptsAnotherBlankIndex) {
  EXPECT_THAT(greedy_ctc(scores_of({{3, 0, 0, 3, 0}}, 4), std::vector<int32_t>{5}, 3)[0], ElementsAre(0, 0));
}

TEST(GreedyCtc, PicksLowestLabelOnTies) {
  const HostTensor equal(DType::f32, {1, 1, 4});
  EXPECT_THAT(greedy_ctc(equal, std::vector<int32_t>{1}, 3)[0], ElementsAre(0));
}

// Any sequence, with blanks between equal labels, is decoded to itself however long each label is held.
TEST(GreedyCtc, ReadsBackWhatAPathSpells) {
  const Philox draws(5, "test/paths");
  uint64_t next = 0;
  const auto below = [&](int64_t count) {
    return static_cast<int64_t>(draws.uniform(next++) * static_cast<double>(count));
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<int32_t> labels, path;
    for (int64_t left = below(6); left > 0; --left) labels.push_back(static_cast<int32_t>(1 + below(3)));
    for (size_t i = 0; i < labels.size(); ++i) {
      const int64_t blanks = below(3) + (i > 0 && labels[i] == labels[i - 1] ? 1 : 0);
      path.insert(path.end(), static_cast<size_t>(blanks), 0);
      path.insert(path.end(), static_cast<size_t>(1 + below(3)), labels[i]);
    }
    path.push_back(0);
    const std::vector<int32_t> steps = {static_cast<int32_t>(path.size())};
    ASSERT_EQ(greedy_ctc(scores_of({path}, 4), steps)[0], labels) << round;
  }
}

TEST(GreedyCtc, RefusesWhatItCannotRead) {
  EXPECT_THAT(refusal(HostTensor(DType::f64, {1, 1, 2}), {1}),
              HasSubstr("expected f32 scores (T, N, labels), got f64"));
  EXPECT_THAT(refusal(HostTensor(DType::f32, {1, 2}), {1}), HasSubstr("expected f32 scores"));
  EXPECT_EQ(refusal(HostTensor(DType::f32, {1, 2, 3}), {1}), "scores of 2 samples with 1 numbers of steps");
  EXPECT_EQ(refusal(HostTensor(DType::f32, {4, 1, 3}), {5}), "sample 0 has 5 of 4 steps");
  HostTensor nan(DType::f32, {2, 1, 3});
  nan.as<float>()[4] = NAN;
  EXPECT_EQ(refusal(nan, {2}), "step 1 of sample 0 has a score that is not a number");
  EXPECT_EQ(refusal(nan, {1}), "");
}

}  // namespace
}  // namespace tbd
