#include "data/sets/sentences.h"

#include <algorithm>

#include "data/text/text_file.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

constexpr std::string_view kAbbreviations[] = {"e.g.", "i.e.", "etc.", "vs.", "cf.",
                                               "Mr.",  "Mrs.", "Dr.",  "No.", "resp."};
constexpr std::string_view kClosers[] = {"\"", "'", ")", "]", "”", "’", "»"};
constexpr std::string_view kOpeners = "\"'([";

std::string_view without_closers(std::string_view word) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view closer : kClosers)
      if (word.ends_with(closer)) {
        word.remove_suffix(closer.size());
        again = true;
      }
  }
  return word;
}

bool has_letter(std::string_view word) {
  for (size_t i = 0; i < word.size();) {
    const auto code = code_point_at(word, i);
    if (code && is_unicode_letter(code->value)) return true;
    i += code ? code->length : 1;
  }
  return false;
}

bool ends(std::string_view word) {
  const std::string_view bare = without_closers(word);
  return bare.ends_with('.') || bare.ends_with('!') || bare.ends_with('?');
}

bool is_abbreviation(std::string_view word) {
  const size_t begin = std::min(word.find_first_not_of(kOpeners), word.size());
  const std::string_view bare = word.substr(begin);
  return (bare.size() == 2 && bare[1] == '.' && has_letter(bare)) ||
         std::ranges::find(kAbbreviations, bare) != std::end(kAbbreviations);
}

bool begins(std::string_view word) {
  const char c = word.front();
  const auto code = code_point_at(word, 0);
  const bool opens = kOpeners.find(c) != std::string_view::npos || word.starts_with("“") || word.starts_with("‘");
  std::string lower;
  if (code && is_unicode_letter(code->value)) append_plain_lower(lower, code->value);
  const bool capital = !lower.empty() && lower[0] != c && static_cast<unsigned char>(c) < 0x80;
  return opens || capital || (c >= '0' && c <= '9');
}

}  // namespace

std::vector<std::string_view> sentences_of(std::string_view paragraph) {
  std::vector<std::string_view> sentences;
  const std::vector<std::string_view> words = words_of(paragraph);
  const auto place = [&](std::string_view word) { return static_cast<size_t>(word.data() - paragraph.data()); };
  size_t begin = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t end = place(words[i]) + words[i].size();
    const bool last = i + 1 == words.size();
    if (!last && (!ends(words[i]) || is_abbreviation(words[i]) || !begins(words[i + 1]))) continue;
    sentences.push_back(paragraph.substr(begin, end - begin));
    if (!last) begin = place(words[i + 1]);
  }
  return sentences;
}

bool is_sentence(std::string_view text, int least_words) {
  const std::vector<std::string_view> words = words_of(text);
  return !words.empty() && ends(words.back()) && std::ranges::count_if(words, has_letter) >= least_words;
}

}  // namespace tbd
