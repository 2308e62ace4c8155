// Which span of a context a question answering network points at.
// Devlin et al. 2018, arXiv:1810.04805, section 4.2; google-research/bert run_squad.py. How a context is cut into
// windows, which of them owns a place and what its text is: data/text/squad.h.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tbd {

// What the network says of one window: logits of the S places of the sample that an answer starts and ends there.
struct WindowLogits {
  std::span<const float> start, end;
  int64_t context = 0, count = 0;  // the first place of the context and how many there are
};
// Places of one sample, both included.
struct AnswerSpan {
  size_t window = 0;
  int64_t start = 0, end = 0;
  double score = 0;  // start + end logit
  bool operator==(const AnswerSpan&) const = default;
};
struct SpanLimits {
  size_t best = 20;      // starts and ends of a window that are paired
  int64_t longest = 30;  // places of a span
};
// Whether window `window` is the one that gives the context token at `place` the most context.
using OwnsPlace = std::function<bool(size_t window, int64_t place)>;

// The spans that may be the answer to a question, over all its windows, best first: pairs of the best starts and the
// best ends of a window (by logit, the lower place of equal ones) that lie in its context, of which the window owns the
// start and the start is not behind the end. Of equal scores the earlier window stands first, then the better start,
// then the better end. The first is the answer; where there is none, the reference answers "empty". Throws
// Error(invalid) for logits of unequal number, a context outside of them, and a logit that is not a number or is
// infinite; minus infinity is allowed.
std::vector<AnswerSpan> answer_spans(std::span<const WindowLogits> windows, const OwnsPlace& owns,
                                     const SpanLimits& limits = {});

}  // namespace tbd
