// Exact match and F1 of SQuAD v1.1's evaluation script (evaluate-v1.1.py).
// Rajpurkar et al. 2016, arXiv:1606.05250, section 6.1. SQuAD v2.0's script and torchmetrics differ: they give F1 = 1
// where prediction and answer are both empty once normalized, and v1.1 gives 0.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

// In small letters, without ASCII punctuation, without the words a, an and the, single spaces between words.
// Punctuation goes first: "a-b" is "ab". Throws Error(invalid) for text that is not UTF-8.
std::string normalize_answer(std::string_view text);

struct SquadScore {
  double exact_match = 0, f1 = 0;
};
// Of one question, each 0 to 1: the best over its answers, for either number apart. F1 counts words as bags. Throws
// Error(invalid) without answers.
SquadScore squad_score(std::string_view prediction, std::span<const std::string> answers);

struct AnsweredQuestion {
  std::vector<std::string> answers;
  std::optional<std::string> prediction;  // absent: counts 0
};
// Means over questions, 0 to 100. Throws Error(invalid) without questions, and naming the number of one without
// answers.
SquadScore squad_score(std::span<const AnsweredQuestion> questions);

}  // namespace tbd
