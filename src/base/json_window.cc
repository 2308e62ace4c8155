#include "base/json_window.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace tbd {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The end of a value as far as it was read; survives reading on.
class ValueScan {
 public:
  // Bytes of the value, or nullopt when `text` ends first.
  std::optional<size_t> end_in(std::string_view text) {
    for (; at_ < text.size(); ++at_) {
      const char c = text[at_];
      if (in_string_)
        take_in_string(c);
      else if (take_outside(c))
        return done_at_;
      if (done_at_ != 0) return done_at_;
    }
    return std::nullopt;
  }
  // What was scanned goes out of the text's front: its bytes.
  size_t let_go() {
    begun_ = begun_ || at_ > 0;
    return std::exchange(at_, 0);
  }

 private:
  void take_in_string(char c) {
    if (escaped_)
      escaped_ = false;
    else if (c == '\\')
      escaped_ = true;
    else if (c == '"') {
      in_string_ = false;
      if (depth_ == 0) done_at_ = at_ + 1;
    }
  }
  bool take_outside(char c) {
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      if (depth_ == 0) {  // of a scalar before it
        done_at_ = at_;
        return true;
      }
      if (--depth_ == 0) {
        done_at_ = at_ + 1;
        return true;
      }
    } else if (depth_ == 0 && (at_ > 0 || begun_) && (c == ',' || is_blank(c))) {
      done_at_ = at_;
      return true;
    }
    return false;
  }

  size_t at_ = 0, done_at_ = 0;
  int64_t depth_ = 0;
  bool in_string_ = false, escaped_ = false, begun_ = false;
};

}  // namespace

JsonWindow::JsonWindow(ByteSource& source) : source_(source), buffer_(1 + kSize + kPadding, ' ') {}

bool JsonWindow::more() {
  if (full()) return false;
  if (begin_ > 1) {
    std::memmove(buffer_.data() + 1, buffer_.data() + begin_, end_ - begin_);
    before_ += static_cast<int64_t>(begin_ - 1);
    end_ -= begin_ - 1;
    begin_ = 1;
  }
  const size_t got = source_.read(buffer_.data() + end_, 1 + kSize - end_);
  end_ += got;
  return got > 0;
}

char JsonWindow::skip_blanks() {
  for (;;) {
    while (begin_ < end_ && is_blank(buffer_[begin_])) ++begin_;
    if (begin_ < end_) return buffer_[begin_];
    if (!more()) return '\0';
  }
}

bool JsonWindow::skip_value() {
  ValueScan scan;
  for (;;) {
    if (const auto size = scan.end_in(text())) {
      advance(*size);
      return true;
    }
    advance(scan.let_go());
    if (!more()) return false;
  }
}

size_t JsonWindow::value_size() {
  ValueScan scan;
  for (;;) {
    if (const auto size = scan.end_in(text())) return *size;
    if (!more()) return 0;
  }
}

}  // namespace tbd
