#include "cli/visible.h"

#include <cstdint>
#include <ostream>
#include <streambuf>
#include <string>

#include "data/text/utf8.h"

namespace tbd::cli {
namespace {

std::string hex(uint32_t value, int digits) {
  std::string out;
  for (int i = digits - 1; i >= 0; --i) out += "0123456789abcdef"[value >> (4 * i) & 15];
  return out;
}

std::string escaped(int32_t code_point) {
  const auto value = static_cast<uint32_t>(code_point);
  if (value < 0x80) return "\\x" + hex(value, 2);
  return value < 0x10000 ? "\\u" + hex(value, 4) : "\\U" + hex(value, 8);
}

std::string visible(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto point = code_point_at(text, i);
    const size_t length = point ? point->length : 1;
    if (!point)
      out += "\\x" + hex(static_cast<unsigned char>(text[i]), 2);
    else if (is_unicode_control(point->value))
      out += escaped(point->value);
    else
      out += text.substr(i, length);
    i += length;
  }
  return out;
}

}  // namespace

class VisibleText::Buffer final : public std::streambuf {
 public:
  explicit Buffer(std::streambuf& to) : to_(to) {}

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const std::string shown = visible({text, static_cast<size_t>(size)});
    const auto wanted = static_cast<std::streamsize>(shown.size());
    return to_.sputn(shown.data(), wanted) == wanted ? size : 0;
  }
  int_type overflow(int_type letter) override {
    if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
    const char text = traits_type::to_char_type(letter);
    return xsputn(&text, 1) == 1 ? letter : traits_type::eof();
  }
  int sync() override { return to_.pubsync(); }

  std::streambuf& to_;
};

VisibleText::VisibleText(std::ostream& out)
    : out_(out), buffer_(std::make_unique<Buffer>(*out.rdbuf())), before_(out.rdbuf(buffer_.get())) {}

VisibleText::~VisibleText() { out_.rdbuf(before_); }

}  // namespace tbd::cli
