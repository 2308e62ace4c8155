#include "quality/answer_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/philox.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool owns_all(size_t, int64_t) { return true; }

TEST(AnswerSpans, BestSumOfLogitsInTheContextIsFirst) {
  const std::vector<float> start = {9, 1, 2, 5, 0, 0}, end = {9, 0, 1, 0, 4, 8};
  const WindowLogits window = {.start = start, .end = end, .context = 2, .count = 3};  // places 2 to 4
  const std::vector<AnswerSpan> spans = answer_spans(std::vector{window}, owns_all);
  ASSERT_EQ(spans.size(), 6u);
  EXPECT_EQ(spans[0], (AnswerSpan{0, 3, 4, 9}));
  EXPECT_EQ(spans[1], (AnswerSpan{0, 2, 4, 6}));
}

TEST(AnswerSpans, StartsAreTakenOnlyWhereTheWindowOwnsThem) {
  const std::vector<float> start = {5, 4, 3}, end = {0, 0, 0};
  const WindowLogits window = {.start = start, .end = end, .context = 0, .count = 3};
  const auto owns = [](size_t index, int64_t place) { return index == 0 ? place == 2 : place < 2; };
  const std::vector<AnswerSpan> spans = answer_spans(std::vector{window, window}, owns);
  ASSERT_FALSE(spans.empty());
  EXPECT_EQ(spans[0], (AnswerSpan{1, 0, 0, 5}));
  EXPECT_TRUE(std::ranges::any_of(spans, [](const AnswerSpan& span) { return span.start == 0 && span.end == 2; }));
  for (const AnswerSpan& span : spans) EXPECT_TRUE(owns(span.window, span.start));
}

TEST(AnswerSpans, LongSpansAreLeftOut) {
  const std::vector<float> start = {1, 0, 0, 0}, end = {0, 0, 0, 1};
  const WindowLogits window = {.start = start, .end = end, .context = 0, .count = 4};
  EXPECT_EQ(answer_spans(std::vector{window}, owns_all, {.longest = 4})[0], (AnswerSpan{0, 0, 3, 2}));
  for (const AnswerSpan& span : answer_spans(std::vector{window}, owns_all, {.longest = 3}))
    EXPECT_LT(span.end - span.start, 3);
}

TEST(AnswerSpans, MayBeNone) {
  const std::vector<float> logits = {3, 1, 1};
  const WindowLogits window = {.start = logits, .end = logits, .context = 1, .count = 2};
  EXPECT_THAT(answer_spans(std::vector{window}, owns_all, {.best = 1}), IsEmpty());  // the best place is no context
  EXPECT_THAT(answer_spans({}, owns_all), IsEmpty());
}

// The rule as it is written: ranks by stable sorts of all places, then all pairs.
std::vector<AnswerSpan> spans_by_rule(std::span<const WindowLogits> windows, const OwnsPlace& owns,
                                      const SpanLimits& limits) {
  const auto ranked = [&](std::span<const float> logits) {
    std::vector<int64_t> places;
    for (size_t i = 0; i < logits.size(); ++i) places.push_back(static_cast<int64_t>(i));
    std::ranges::stable_sort(places, std::ranges::greater(),
                             [&](int64_t place) { return logits[static_cast<size_t>(place)]; });
    places.resize(std::min(places.size(), limits.best));
    return places;
  };
  std::vector<AnswerSpan> all;
  for (size_t w = 0; w < windows.size(); ++w)
    for (const int64_t start : ranked(windows[w].start))
      for (const int64_t end : ranked(windows[w].end)) {
        const int64_t first = windows[w].context, last = first + windows[w].count - 1;
        const bool inside = std::min(start, end) >= first && std::max(start, end) <= last;
        if (inside && start <= end && end - start + 1 <= limits.longest && owns(w, start))
          all.push_back({w, start, end,
                         static_cast<double>(windows[w].start[static_cast<size_t>(start)]) +
                             static_cast<double>(windows[w].end[static_cast<size_t>(end)])});
      }
  std::ranges::stable_sort(all, [](const AnswerSpan& a, const AnswerSpan& b) { return a.score > b.score; });
  return all;
}

TEST(AnswerSpans, MatchesTheRuleWithManyTies) {
  const Philox stream(2, "test/logits");
  const auto owns = [](size_t window, int64_t place) { return (place + static_cast<int64_t>(window)) % 3 != 0; };
  for (uint32_t round = 0; round < 200; ++round) {
    std::vector<std::vector<float>> logits(6, std::vector<float>(40));
    for (uint32_t i = 0; i < 6; ++i)
      for (size_t place = 0; place < 40; ++place)
        logits[i][place] = static_cast<float>(static_cast<int>(stream.at(round, i).uniform(place) * 6));
    std::vector<WindowLogits> windows;
    for (size_t w = 0; w < 3; ++w)
      windows.push_back({.start = logits[2 * w], .end = logits[2 * w + 1], .context = 5, .count = 30});
    const SpanLimits limits = {.best = 20, .longest = 8};
    ASSERT_EQ(answer_spans(windows, owns, limits), spans_by_rule(windows, owns, limits));
  }
}

TEST(AnswerSpans, RefusesLogitsThatSayNothing) {
  const auto refusal = [](std::vector<float> start, std::vector<float> end, int64_t count) -> std::string {
    try {
      answer_spans(std::vector{WindowLogits{.start = start, .end = end, .context = 1, .count = count}}, owns_all);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(refusal({1, 2}, {1}, 1), "window 0: 2 start logits, but 1 end logits");
  EXPECT_EQ(refusal({1, 2}, {1, 2}, 2), "window 0: a context of 2 places from 1 among 2 logits");
  EXPECT_EQ(refusal({1, nan}, {1, 2}, 1), "window 0: the logit of place 1 is nan");
  EXPECT_EQ(refusal({1, 2}, {infinity, 2}, 1), "window 0: the logit of place 0 is inf");
  EXPECT_EQ(refusal({1, -infinity}, {-infinity, 2}, 1), "");
}

}  // namespace
}  // namespace tbd
