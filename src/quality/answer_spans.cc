#include "quality/answer_spans.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace tbd {
namespace {

// The places with the largest logits, the lower of equal ones first.
std::vector<int64_t> best_places(std::span<const float> logits, size_t count) {
  std::vector<int64_t> places(logits.size());
  std::iota(places.begin(), places.end(), int64_t{0});
  const auto better = [&](int64_t a, int64_t b) {
    const float of_a = logits[static_cast<size_t>(a)], of_b = logits[static_cast<size_t>(b)];
    return of_a > of_b || (of_a == of_b && a < b);
  };
  const size_t kept = std::min(count, places.size());
  std::ranges::partial_sort(places, places.begin() + static_cast<std::ptrdiff_t>(kept), better);
  places.resize(kept);
  return places;
}

void require_logits(const WindowLogits& window) {
  const auto places = static_cast<int64_t>(window.start.size());
  require(window.start.size() == window.end.size(), window.start.size(), " start logits, but ", window.end.size(),
          " end logits");
  require(
      window.context >= 0 && window.count >= 0 && window.context <= places && window.count <= places - window.context,
      "a context of ", window.count, " places from ", window.context, " among ", places, " logits");
  for (const auto logits : {window.start, window.end})
    for (size_t place = 0; place < logits.size(); ++place)
      require(logits[place] < std::numeric_limits<float>::infinity(), "the logit of place ", place, " is ",
              logits[place]);
}

void append_spans(const WindowLogits& window, size_t index, const OwnsPlace& owns, const SpanLimits& limits,
                  std::vector<AnswerSpan>& spans) {
  const auto in_context = [&](int64_t place) {
    return place >= window.context && place < window.context + window.count;
  };
  const std::vector<int64_t> ends = best_places(window.end, limits.best);
  for (const int64_t start : best_places(window.start, limits.best)) {
    if (!in_context(start) || !owns(index, start)) continue;
    for (const int64_t end : ends) {
      if (!in_context(end) || end < start || end - start >= limits.longest) continue;
      const double score =
          static_cast<double>(window.start[static_cast<size_t>(start)]) + window.end[static_cast<size_t>(end)];
      spans.push_back({.window = index, .start = start, .end = end, .score = score});
    }
  }
}

}  // namespace

std::vector<AnswerSpan> answer_spans(std::span<const WindowLogits> windows, const OwnsPlace& owns,
                                     const SpanLimits& limits) {
  std::vector<AnswerSpan> spans;
  for (size_t i = 0; i < windows.size(); ++i) try {
      require_logits(windows[i]);
      append_spans(windows[i], i, owns, limits, spans);
    } catch (const Error& e) {
      throw e.within(cat("window ", i));
    }
  std::ranges::stable_sort(spans, std::ranges::greater(), &AnswerSpan::score);
  return spans;
}

}  // namespace tbd
