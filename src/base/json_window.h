// A stream seen through a window that moves on: scanning finds where JSON values end without parsing them.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"

namespace tbd {

class JsonWindow {
 public:
  static constexpr size_t kSize = 1 << 20;  // the longest value that is looked at
  static constexpr size_t kPadding = 64;    // after the text, as simdjson wants it
  explicit JsonWindow(ByteSource& source);

  // The text from the place reached to the window's end; writable, with one byte before and kPadding after.
  char* begin() { return buffer_.data() + begin_; }
  std::string_view text() const { return {buffer_.data() + begin_, end_ - begin_}; }
  int64_t position() const { return before_ + static_cast<int64_t>(begin_); }  // of begin() in the stream
  void advance(size_t bytes) { begin_ += bytes; }
  bool more();  // reads on; false when nothing came, at the stream's end or a full window
  bool full() const { return end_ - begin_ == kSize; }

  // The first byte that is no white space, reading on as needed; '\0' at the end. It becomes begin().
  char skip_blanks();
  // Bytes of the JSON value at begin(), reading on as needed; 0 when the stream or the window ends first. Only brackets
  // and strings are looked at.
  size_t value_size();
  // Passes over the JSON value at begin(), however long; false when the stream ends first.
  bool skip_value();

 private:
  ByteSource& source_;
  std::string buffer_;
  size_t begin_ = 1, end_ = 1;
  int64_t before_ = -1;  // of the stream, before the buffer
};

}  // namespace tbd
