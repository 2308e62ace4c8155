#include "data/text/byte_bpe.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

enum class Sort { space, letter, number, other };

Sort sort_of(int32_t c) {
  const bool line_space = (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0x2028 || c == 0x2029;
  if (line_space || is_unicode_space(c)) return Sort::space;
  if (is_unicode_letter(c)) return Sort::letter;
  return is_unicode_number(c) ? Sort::number : Sort::other;
}

struct Next {
  Sort sort = Sort::other;
  size_t length = 1;
};
Next next_at(std::string_view text, size_t at) {
  const auto point = code_point_at(text, at);
  return point ? Next{sort_of(point->value), point->length} : Next{};
}

size_t contraction_at(std::string_view text, size_t at) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.substr(at).starts_with(ending)) return ending.size();
  return 0;
}

// One past the characters of `sort` from `at` on; `last` is where the last of them begins.
size_t run_end(std::string_view text, size_t at, Sort sort, size_t& last) {
  while (at < text.size()) {
    const Next next = next_at(text, at);
    if (next.sort != sort) break;
    last = at;
    at += next.length;
  }
  return at;
}

size_t word_end(std::string_view text, size_t begin) {
  if (const size_t length = contraction_at(text, begin)) return begin + length;
  size_t last = begin;
  const size_t first = begin + (text[begin] == ' ' && begin + 1 < text.size());
  if (const Next next = next_at(text, first); next.sort != Sort::space) return run_end(text, first, next.sort, last);
  const size_t end = run_end(text, begin, Sort::space, last);
  return end < text.size() && last > begin ? last : end;
}

}  // namespace

std::vector<std::string_view> byte_bpe_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = word_end(text, begin);
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

}  // namespace tbd
