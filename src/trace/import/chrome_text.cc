#include "base/text.h"
#include "trace/import/chrome.h"

namespace tbd {
namespace {

void append_utf8(std::string& out, uint32_t code) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
    return put(0x80 | (code & 0x3f));
  }
  if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    return put(0x80 | (code & 0x3f));
  }
  put(0xf0 | code >> 18);
  put(0x80 | (code >> 12 & 0x3f));
  put(0x80 | (code >> 6 & 0x3f));
  put(0x80 | (code & 0x3f));
}

// Four hexadecimal digits at `at`; 0xfffd, the replacement character, where there are none.
uint32_t unit_at(std::string_view text, size_t at) {
  uint32_t value = 0;
  for (size_t i = at; i < at + 4; ++i) {
    const char c = i < text.size() ? text[i] : '?';
    const int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
    if (digit < 0) return 0xfffd;
    value = value << 4 | static_cast<uint32_t>(digit);
  }
  return value;
}

// Appends what the escape at text[at] == '\\' stands for; returns the place after it.
size_t append_escape(std::string& out, std::string_view text, size_t at) {
  const char kind = at + 1 < text.size() ? text[at + 1] : '\\';
  if (kind != 'u') {
    constexpr std::string_view kFrom = "bfnrt", kTo = "\b\f\n\r\t";
    const size_t found = kFrom.find(kind);
    out += found == std::string_view::npos ? kind : kTo[found];
    return at + 2;
  }
  uint32_t code = unit_at(text, at + 2);
  at += 6;
  if (code >= 0xd800 && code < 0xdc00 && at + 1 < text.size() && text[at] == '\\' && text[at + 1] == 'u') {
    const uint32_t low = unit_at(text, at + 2);
    if (low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      at += 6;
    }
  }
  append_utf8(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
  return at;
}

}  // namespace

std::string_view json_text(std::string_view raw, std::string& scratch) {
  if (raw.size() < 2 || raw.front() != '"') return raw;
  raw = raw.substr(1, raw.size() - 2);
  if (raw.find('\\') == std::string_view::npos) return raw;
  scratch.clear();
  for (size_t i = 0; i < raw.size();) {
    if (raw[i] == '\\')
      i = append_escape(scratch, raw, i);
    else
      scratch += raw[i++];
  }
  return scratch;
}

std::string_view without_blanks(std::string_view raw, std::string& scratch) {
  scratch.clear();
  bool in_string = false;
  for (size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (!in_string && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) continue;
    if (in_string && c == '\\' && i + 1 < raw.size())
      scratch += raw[i++];
    else if (c == '"')
      in_string = !in_string;
    scratch += raw[i];
  }
  return scratch;
}

}  // namespace tbd
