// Keeps what people and files named from steering the terminal.
#pragma once
#include <iosfwd>
#include <memory>

namespace tbd::cli {

// While it lives, `out` shows control characters and bytes that are not UTF-8 as \x1b or \u202e instead of sending
// them; line ends and tabs pass. Each text written is looked at by itself.
class VisibleText {
 public:
  explicit VisibleText(std::ostream& out);
  ~VisibleText();
  VisibleText(const VisibleText&) = delete;
  VisibleText& operator=(const VisibleText&) = delete;

 private:
  class Buffer;
  std::ostream& out_;
  std::unique_ptr<Buffer> buffer_;
  std::streambuf* before_;
};

}  // namespace tbd::cli
