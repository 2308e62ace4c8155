#include "data/sets/cloze.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "data/sets/made_set.h"
#include "data/text/text_file.h"

namespace tbd {
namespace {

constexpr size_t kMostWords = 4;
constexpr std::string_view kDeterminers[] = {"a",   "an",   "any", "each",  "every", "its",  "my",    "no",
                                             "our", "some", "the", "their", "these", "this", "those", "your"};
constexpr std::string_view kFunctionWords[] = {
    "about",   "after",  "against", "also",  "although", "always", "am",      "among", "and",     "are",   "as",
    "at",      "be",     "because", "been",  "before",   "being",  "between", "both",  "but",     "by",    "can",
    "cannot",  "could",  "did",     "do",    "does",     "during", "either",  "for",   "from",    "had",   "has",
    "have",    "he",     "her",     "here",  "his",      "how",    "however", "i",     "if",      "in",    "into",
    "is",      "it",     "like",    "may",   "might",    "more",   "most",    "must",  "neither", "never", "nor",
    "not",     "of",     "off",     "often", "on",       "only",   "onto",    "or",    "other",   "out",   "over",
    "shall",   "she",    "should",  "since", "so",       "such",   "than",    "that",  "then",    "there", "they",
    "through", "to",     "too",     "under", "unless",   "until",  "up",      "upon",  "via",     "was",   "we",
    "were",    "what",   "when",    "where", "whether",  "which",  "while",   "who",   "whose",   "why",   "will",
    "with",    "within", "without", "would", "you"};

template <size_t kCount>
bool is_word_among(std::string_view word, const std::string_view (&words)[kCount]) {
  return std::ranges::find(words, lower_case(word)) != std::end(words);
}
bool is_sign(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';
  return !letter && !digit && c != '-';
}

// The word without a punctuation mark behind it; empty where there are signs inside or before.
std::string_view bare(std::string_view word) {
  const size_t end = static_cast<size_t>(std::ranges::find_if(word, is_sign) - word.begin());
  const bool only_behind = end > 0 && std::ranges::all_of(word.substr(end), [](char c) {
                             return std::string_view(".,;:!?)\"'").find(c) != std::string_view::npos;
                           });
  return only_behind ? word.substr(0, end) : std::string_view();
}

struct Span {
  size_t begin, end;
};

// The span that begins with word `first`; empty where there is none.
Span span_from(std::string_view sentence, const std::vector<std::string_view>& words, size_t first) {
  const auto place = [&](std::string_view word) { return static_cast<size_t>(word.data() - sentence.data()); };
  Span span{0, 0};
  for (size_t i = first; i < words.size(); ++i) {
    const std::string_view word = bare(words[i]);
    if (word.empty()) return {0, 0};
    if (is_word_among(word, kFunctionWords) || is_word_among(word, kDeterminers)) break;
    if (i - first == kMostWords) return {0, 0};
    if (i == first) span.begin = place(word);
    span.end = place(word) + word.size();
    if (word.size() < words[i].size()) break;
  }
  return span;
}

bool stands_once(std::string_view text, std::string_view part) {
  const size_t first = text.find(part);
  return first != std::string_view::npos && text.find(part, first + 1) == std::string_view::npos;
}

}  // namespace

std::optional<Cloze> cloze_of(std::string_view sentence, std::string_view context) {
  const std::vector<std::string_view> words = words_of(sentence);
  std::vector<Span> spans;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (!is_word_among(words[i], kDeterminers)) continue;
    const Span span = span_from(sentence, words, i + 1);
    if (span.end > span.begin && stands_once(context, sentence.substr(span.begin, span.end - span.begin)))
      spans.push_back(span);
  }
  if (spans.empty()) return std::nullopt;
  const Span span = spans[static_cast<size_t>(share_of(sentence) * static_cast<double>(spans.size()))];
  return Cloze{span.begin, span.end, cat(sentence.substr(0, span.begin), kAskedFor, sentence.substr(span.end))};
}

}  // namespace tbd
