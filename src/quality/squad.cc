#include "quality/squad.h"

#include <algorithm>

#include "base/error.h"
#include "quality/python_text.h"

namespace tbd {
namespace {

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

using Words = std::vector<std::string_view>;  // sorted: a bag

Words bag_of(const std::string& normalized) {
  Words words = python_split(normalized);
  std::ranges::sort(words);
  return words;
}

double f1(const Words& predicted, const Words& wanted) {
  Words shared;
  std::ranges::set_intersection(predicted, wanted, std::back_inserter(shared));
  if (shared.empty()) return 0;
  const auto count = static_cast<double>(shared.size());
  const double precision = count / static_cast<double>(predicted.size());
  const double recall = count / static_cast<double>(wanted.size());
  return 2 * precision * recall / (precision + recall);
}

}  // namespace

std::string normalize_answer(std::string_view text) {
  std::string plain = python_lower(text);
  std::erase_if(plain, is_ascii_punctuation);
  plain = python_replace_words(plain, {"a", "an", "the"}, " ");
  std::string normalized;
  for (const std::string_view word : python_split(plain)) {
    if (!normalized.empty()) normalized += ' ';
    normalized += word;
  }
  return normalized;
}

SquadScore squad_score(std::string_view prediction, std::span<const std::string> answers) {
  require(!answers.empty(), "a question without answers");
  const std::string predicted = normalize_answer(prediction);
  const Words predicted_words = bag_of(predicted);
  SquadScore best;
  for (const std::string& answer : answers) {
    const std::string wanted = normalize_answer(answer);
    best.exact_match = std::max(best.exact_match, predicted == wanted ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, f1(predicted_words, bag_of(wanted)));
  }
  return best;
}

SquadScore squad_score(std::span<const AnsweredQuestion> questions) {
  require(!questions.empty(), "no question to score");
  SquadScore sum;
  for (size_t i = 0; i < questions.size(); ++i) try {
      const AnsweredQuestion& question = questions[i];
      require(!question.answers.empty(), "a question without answers");
      if (!question.prediction) continue;
      const SquadScore score = squad_score(*question.prediction, question.answers);
      sum.exact_match += score.exact_match;
      sum.f1 += score.f1;
    } catch (const Error& e) {
      throw e.within(cat("question ", i));
    }
  const auto count = static_cast<double>(questions.size());
  return {.exact_match = 100 * sum.exact_match / count, .f1 = 100 * sum.f1 / count};
}

}  // namespace tbd
