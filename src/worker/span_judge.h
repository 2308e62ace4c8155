// Networks that answer a question on a paragraph with a span of it.
#pragma once
#include "worker/judge.h"

namespace tbd {

// Answers start_logits and end_logits (N, S) of the held-out questions' windows: exact_match and f1, 0 to 100, by
// SQuAD v1.1's rules (quality/squad.h), of the best span over all windows of a question (quality/answer_spans.h) in the
// words of its context; "empty" where there is none. Questions count once all their windows were added. When all
// windows of the set were, those that leave no room for their context count, too, as unanswered.
std::unique_ptr<Judge> span_judge(const SourceSpec& data);

}  // namespace tbd
