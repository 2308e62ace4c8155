#include "data/text/basic_tokens.h"

#include <algorithm>

#include "base/error.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

bool is_ascii_sign(int32_t c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
}
bool stands_alone(int32_t c) { return c < 0x80 ? is_ascii_sign(c) : is_unicode_punctuation(c); }

// The blocks of CJK ideographs that the reference lists; no kana, no hangul.
bool is_ideograph(int32_t c) {
  constexpr std::pair<int32_t, int32_t> kBlocks[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF},
                                                     {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF},
                                                     {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  return c >= 0x3400 && std::ranges::any_of(kBlocks, [c](auto block) { return c >= block.first && c <= block.second; });
}

bool is_dropped(int32_t c) {
  if (c < 0x80) return c < 0x20 ? c != '\t' && c != '\n' && c != '\r' : c == 0x7F;
  return c == 0xFFFD || is_unicode_control(c);
}
bool is_space(int32_t c) { return c < 0x80 ? c == ' ' || c == '\t' || c == '\n' || c == '\r' : is_unicode_space(c); }

class Cutter {
 public:
  void add(int32_t c, BasicToken::Origin origin) {
    if (is_dropped(c)) return;
    if (is_space(c)) return end_word();
    plain_.clear();
    append_plain_lower(plain_, c);
    const bool ideograph = is_ideograph(c);
    for (size_t i = 0; i < plain_.size();) {  // a sign may appear only by decomposition
      const CodePoint point = code_point_at(plain_, i).value();
      append(std::string_view(plain_).substr(i, point.length), ideograph || stands_alone(point.value), origin);
      i += point.length;
    }
  }
  void end_word() {
    if (!word_.text.empty()) tokens_.push_back(std::move(word_));
    word_ = {};
  }
  std::vector<BasicToken> take() { return std::move(tokens_); }

 private:
  void append(std::string_view text, bool alone, BasicToken::Origin origin) {
    if (alone) end_word();
    word_.text += text;
    word_.origins.insert(word_.origins.end(), text.size(), origin);
    if (alone) end_word();
  }

  std::string plain_;
  BasicToken word_;
  std::vector<BasicToken> tokens_;
};

}  // namespace

std::vector<BasicToken> basic_tokens(std::string_view text) {
  Cutter cutter;
  for (size_t i = 0; i < text.size();) {
    const auto point = code_point_at(text, i);
    require(point.has_value(), "text is not UTF-8 at byte ", i);
    const auto begin = static_cast<uint32_t>(i), end = begin + point->length;
    cutter.add(point->value, {begin, end});
    i = end;
  }
  cutter.end_word();
  return cutter.take();
}

}  // namespace tbd
