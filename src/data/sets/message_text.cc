#include "data/sets/message_text.h"

#include <algorithm>

#include "base/text.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(char c) { return is_ascii_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; }
bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

size_t past_all(std::string_view text, size_t at, std::string_view set) {
  return std::min(text.find_first_not_of(set, at), text.size());
}

// Past "open name close" that begins at `at`, or `at`.
size_t past_name(std::string_view text, size_t at, char open, char close) {
  if (at >= text.size() || text[at] != open) return at;
  size_t end = at + 1;
  while (end < text.size() && is_name(text[end])) ++end;
  return end < text.size() && text[end] == close ? end + 1 : at;
}

// Past a conversion of printf or Python whose '%' stands at `at`, or `at`. A space is no flag here: "100% done".
size_t past_conversion(std::string_view text, size_t at) {
  const size_t name = past_name(text, at + 1, '(', ')');
  if (const size_t end = past_name(text, at + 1, '{', '}'); end > at + 1) return end;
  size_t end = past_all(text, name, "0123456789");
  if (end < text.size() && text[end] == '$') ++end;
  const size_t digits = end;
  end = past_all(text, end, "#0-+'I123456789.*");
  const size_t modifiers = past_all(text, end, "hlLqjzt");
  if (modifiers < text.size() && is_one_of(text[modifiers], "diouxXeEfFgGaAcsSpnm")) return modifiers + 1;
  return digits > at + 1 ? digits : at;  // %1 of Qt
}

// Past a tag, <b>, </b> or <file name>, or `at`.
size_t past_tag(std::string_view text, size_t at) {
  const size_t name = at + 1 < text.size() && text[at + 1] == '/' ? at + 2 : at + 1;
  if (name >= text.size() || !is_ascii_letter(text[name])) return at;
  const size_t end = text.find_first_of("<>", name);
  return end != std::string_view::npos && text[end] == '>' ? end + 1 : at;
}

size_t past_placeholder(std::string_view text, size_t at) {
  switch (text[at]) {
    case '%':
      return past_conversion(text, at);
    case '<':
      return past_tag(text, at);
    case '{':
      return past_name(text, at, '{', '}');
    case '$': {
      const size_t end = past_name(text, at + 1, '{', '}');
      return end > at + 1 ? end : at;
    }
    default:
      return at;
  }
}

bool is_word(int32_t c) { return is_unicode_letter(c) || is_unicode_number(c) || is_nonspacing_mark(c); }
bool is_gap(int32_t c) { return is_unicode_space(c) || is_unicode_control(c); }

class Tokeniser {
 public:
  explicit Tokeniser(std::string_view text) : text_(text) {}

  TokenisedMessage run() {
    while (at_ < text_.size()) step();
    flush();
    return std::move(out_);
  }

 private:
  int32_t code_at(size_t at) const {
    if (at >= text_.size()) return ' ';
    const auto code = code_point_at(text_, at);
    return code ? code->value : ' ';
  }
  void step() {
    const auto code = code_point_at(text_, at_);
    const size_t length = code ? code->length : 1, past = past_placeholder(text_, at_);
    if (past > at_) {
      flush();
      token(kPlaceholder);
      at_ = past;
      return;
    }
    const std::string_view sign = text_.substr(at_, length);
    if (!code || is_gap(code->value))
      flush();
    else if (is_word(code->value) || stays(code->value, length)) {
      word_ += sign;
      has_letter_ |= is_unicode_letter(code->value);
    } else {
      flush();
      token(sign);
    }
    at_ += sign == "%" && text_.substr(at_).starts_with("%%") ? 2 : length;
  }
  // Whether a sign at at_ belongs to the word around it.
  bool stays(int32_t sign, size_t length) const {
    const bool inside = !word_.empty() && word_.back() != '-' && is_word(code_at(at_ + length));
    if (sign == '-' && (word_.empty() || word_ == "-")) {  // an option
      const bool begins = at_ == 0 || word_ == "-" || is_gap(static_cast<unsigned char>(text_[at_ - 1]));
      const int32_t next = code_at(at_ + 1);
      return begins &&
             (is_unicode_letter(next) || (word_.empty() && next == '-' && is_unicode_letter(code_at(at_ + 2))));
    }
    return inside && (sign == '\'' || sign == 0x2019 || sign == '-' || sign == '.' || sign == '_' || sign == ',');
  }
  void flush() {
    if (word_.empty()) return;
    out_.words += has_letter_;
    token(word_);
    word_.clear();
    has_letter_ = false;
  }
  void token(std::string_view token) { out_.text.append(out_.text.empty() ? "" : " ").append(token); }

  std::string_view text_;
  size_t at_ = 0;
  std::string word_;
  bool has_letter_ = false;
  TokenisedMessage out_;
};

// Where the only `mark` before a letter stands; npos where there is none or several.
size_t shortcut(std::string_view text, char mark) {
  size_t found = std::string_view::npos;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != mark) continue;
    const auto next = code_point_at(text, i + 1);
    if (!next || !is_unicode_letter(next->value)) continue;
    if (found != std::string_view::npos) return std::string_view::npos;
    found = i;
  }
  return found;
}

}  // namespace

TokenisedMessage tokenised_message(std::string_view message) { return Tokeniser(message).run(); }

void drop_shortcuts(std::string& text, std::string& translation) {
  for (const char mark : {'_', '&'}) {
    const size_t in_text = shortcut(text, mark), in_translation = shortcut(translation, mark);
    if (in_text == std::string::npos || in_translation == std::string::npos) continue;
    text.erase(in_text, 1);
    translation.erase(in_translation, 1);
  }
}

}  // namespace tbd
