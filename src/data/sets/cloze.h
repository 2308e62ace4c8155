// Spans of a sentence to ask for.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tbd {

inline constexpr std::string_view kAskedFor = "placeholder";  // stands in a question for its answer

struct Cloze {
  size_t begin = 0, end = 0;  // bytes of the sentence: the answer
  std::string question;       // the sentence with the answer replaced
};
// A span that looks like a noun phrase: behind a determiner (the, a, an, its, ...) all words up to the next function
// word (preposition, conjunction, pronoun, auxiliary verb, determiner) or punctuation, one to four words of letters,
// hyphens and digits. Of the spans that stand once in `context`, the one that share_of(sentence) falls on; nullopt
// where there is none.
std::optional<Cloze> cloze_of(std::string_view sentence, std::string_view context);

}  // namespace tbd
