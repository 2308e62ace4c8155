// Each function walks over the characters once. Only lower() looks around itself, for the one letter of which the small
// form depends on what is beside it.
#include "quality/python_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace tbd {
namespace {

struct Character {
  int32_t value = 0;
  size_t begin = 0, end = 0;  // bytes of the text
};

// The character that begins at byte `at` of `text`, which has one.
Character character_at(std::string_view text, size_t at) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  if (*bytes < 0x80) return {*bytes, at, at + 1};
  utf8proc_int32_t value = 0;
  const utf8proc_ssize_t length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &value);
  require(length > 0, "text is not UTF-8 at byte ", at);
  return {value, at, at + static_cast<size_t>(length)};
}

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> characters;
  characters.reserve(text.size());
  for (size_t at = 0; at < text.size(); at = characters.back().end) characters.push_back(character_at(text, at));
  return characters;
}

bool is_space(int32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  const utf8proc_property_t* property = utf8proc_get_property(c);
  return property->category == UTF8PROC_CATEGORY_ZS || property->bidi_class == UTF8PROC_BIDI_CLASS_WS ||
         property->bidi_class == UTF8PROC_BIDI_CLASS_B || property->bidi_class == UTF8PROC_BIDI_CLASS_S;
}

bool is_within(utf8proc_category_t category, utf8proc_category_t first, utf8proc_category_t last) {
  return category >= first && category <= last;
}
// Python's \w.
bool is_word_character(int32_t c) {
  const utf8proc_category_t category = utf8proc_category(c);
  return c == '_' || is_within(category, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO) ||
         is_within(category, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

// Unicode's Case_Ignorable (DerivedCoreProperties.txt): marks, formats, modifiers and these signs within words.
bool is_case_ignorable(int32_t c) {
  constexpr int32_t kSigns[] = {0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,  0x5F4,  0x2018, 0x2019,
                                0x2024, 0x2027, 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return std::ranges::find(kSigns, c) != std::end(kSigns);
  }
}
// Unicode's Cased, of characters that are not Case_Ignorable: letters with case, and ordinals, Roman numerals and
// letters in circles and squares.
bool is_cased(int32_t c) {
  constexpr std::pair<int32_t, int32_t> kOthers[] = {{0xAA, 0xAA},      {0xBA, 0xBA},       {0x2160, 0x217F},
                                                     {0x24B6, 0x24E9},  {0x1F130, 0x1F149}, {0x1F150, 0x1F169},
                                                     {0x1F170, 0x1F189}};
  return is_within(utf8proc_category(c), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LT) ||
         std::ranges::any_of(kOthers, [c](auto range) { return c >= range.first && c <= range.second; });
}

// Unicode's Final_Sigma: a cased letter before, none behind, what is Case_Ignorable left out.
bool ends_word(const std::vector<Character>& text, size_t at) {
  const auto ignorable = [](const Character& c) { return is_case_ignorable(c.value); };
  const auto here = text.begin() + static_cast<std::ptrdiff_t>(at);
  const auto before = std::find_if_not(std::make_reverse_iterator(here), text.rend(), ignorable);
  const auto behind = std::find_if_not(here + 1, text.end(), ignorable);
  return before != text.rend() && is_cased(before->value) && (behind == text.end() || !is_cased(behind->value));
}

void append(std::string& text, int32_t c) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t length = utf8proc_encode_char(c, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

}  // namespace

std::vector<std::string_view> python_split(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  const auto end_word = [&](size_t end) {
    if (end > begin) words.push_back(text.substr(begin, end - begin));
  };
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    at = c.end;
    if (!is_space(c.value)) continue;
    end_word(c.begin);
    begin = c.end;
  }
  end_word(text.size());
  return words;
}

std::string_view python_rstrip(std::string_view text) {
  size_t kept = 0;
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    at = c.end;
    if (!is_space(c.value)) kept = at;
  }
  return text.substr(0, kept);
}

std::string python_lower(std::string_view text) {
  constexpr int32_t kCapitalSigma = 0x3A3, kSmallSigma = 0x3C3, kFinalSigma = 0x3C2;
  constexpr int32_t kCapitalDottedI = 0x130, kDotAbove = 0x307;
  const std::vector<Character> characters = characters_of(text);
  std::string lower;
  lower.reserve(text.size());
  for (size_t i = 0; i < characters.size(); ++i) {
    const int32_t c = characters[i].value;
    if (c == kCapitalSigma) {
      append(lower, ends_word(characters, i) ? kFinalSigma : kSmallSigma);
    } else if (c == kCapitalDottedI) {
      append(lower, 'i');
      append(lower, kDotAbove);
    } else {
      append(lower, utf8proc_tolower(c));
    }
  }
  return lower;
}

std::string python_replace_words(std::string_view text, const std::vector<std::string_view>& words,
                                 std::string_view replacement) {
  std::string replaced;
  size_t begin = 0;  // of the run of word characters that is being read
  const auto end_run = [&](size_t end) {
    const std::string_view run = text.substr(begin, end - begin);
    replaced += std::ranges::find(words, run) != words.end() ? replacement : run;
  };
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    at = c.end;
    if (is_word_character(c.value)) continue;
    end_run(c.begin);
    replaced += text.substr(c.begin, c.end - c.begin);
    begin = c.end;
  }
  end_run(text.size());
  return replaced;
}

}  // namespace tbd
