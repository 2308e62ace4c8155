// Which lines of a program's output a regular expression finds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tbd {

// A line ends with a newline or, as a progress bar's does, with a carriage return. Of a line longer than kMostLine the
// beginning is searched, so that memory stays bounded whatever a program prints.
class LineMatcher {
 public:
  static constexpr size_t kMostLine = size_t{64} << 10;

  // A POSIX extended regular expression. Throws Error(usage) that says what is wrong with it.
  explicit LineMatcher(const std::string& expression);
  ~LineMatcher();

  // How many lines that end in this piece of the output are found.
  int64_t feed(std::string_view piece);
  // The output is over: whether a last line without an end is found.
  bool finish();

 private:
  struct Expression;
  bool found();
  std::unique_ptr<Expression> expression_;
  std::string line_;  // so far
};

}  // namespace tbd
