#include "data/transcripts.h"

#include <cstdio>

#include "base/error.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

constexpr std::string_view kAlphabet = "_'ABCDEFGHIJKLMNOPQRSTUVWXYZ ";
constexpr std::string_view kSpokenSigns = "#%&*/@\\_";  // punctuation by Unicode
constexpr int32_t kApostrophe = 0x2019;

bool is_dash(int32_t c) { return c == '-' || (c >= 0x2010 && c <= 0x2015) || c == 0x2212; }
bool is_spoken_sign(int32_t c) { return c < 0x80 && kSpokenSigns.find(static_cast<char>(c)) != std::string_view::npos; }

// The capital of a letter; 0 for what is none of the Latin alphabet.
char capital(std::string_view plain_lower) {
  if (plain_lower.size() != 1 || plain_lower[0] < 'a' || plain_lower[0] > 'z') return 0;
  return static_cast<char>(plain_lower[0] - 'a' + 'A');
}

// What stands for one character: a letter, an apostrophe, a space; 0 for nothing.
char normal_form(int32_t c, std::string_view written, size_t number) {
  if (c == '\'' || c == kApostrophe) return '\'';
  if (is_unicode_space(c) || is_dash(c)) return ' ';
  if (is_nonspacing_mark(c)) return 0;
  std::string lower;
  append_plain_lower(lower, c);
  if (const char letter = capital(lower)) return letter;
  if (is_unicode_punctuation(c) && !is_spoken_sign(c)) return 0;
  char code[16];
  std::snprintf(code, sizeof code, "U+%04X", static_cast<unsigned>(c));
  fail(ErrorKind::invalid, "'", written, "' (", code, ") at character ", number, " is outside the alphabet");
}

}  // namespace

std::string normal_transcript(std::string_view text) {
  std::string out;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const auto point = code_point_at(text, at);
    require(point.has_value(), "byte ", at + 1, " is not UTF-8");
    const char form = normal_form(point->value, text.substr(at, point->length), ++number);
    if (form != 0 && !(form == ' ' && (out.empty() || out.back() == ' '))) out += form;
    at += point->length;
  }
  if (out.ends_with(' ')) out.pop_back();
  require(!out.empty(), "an empty transcript");
  return out;
}

std::vector<int32_t> transcript_labels(std::string_view normal) {
  std::vector<int32_t> labels;
  for (const char c : normal) {
    const size_t label = kAlphabet.find(c);
    require(label != std::string_view::npos && label != 0, "'", c, "' is outside the alphabet");
    labels.push_back(static_cast<int32_t>(label));
  }
  return labels;
}

std::string spelled(std::span<const int32_t> labels) {
  std::string out;
  for (const int32_t label : labels) {
    require(label > kBlankLabel && label < kLabelCount, "label ", label, " is not in the alphabet");
    out += kAlphabet[static_cast<size_t>(label)];
  }
  return out;
}

int64_t least_ctc_steps(std::span<const int32_t> labels) {
  auto steps = static_cast<int64_t>(labels.size());
  for (size_t i = 1; i < labels.size(); ++i) steps += labels[i] == labels[i - 1];
  return steps;
}

int64_t speech_steps(int64_t frames) { return (frames - 1) / 2 + 1; }

}  // namespace tbd
