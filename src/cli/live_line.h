// A line on a terminal that is rewritten in its place, cut to the terminal's width.
#pragma once
#include <cstddef>
#include <iosfwd>
#include <string>

namespace tbd::cli {

class LiveLine {
 public:
  explicit LiveLine(std::ostream& out) : out_(out) {}
  void rewrite(std::string line);
  void replace(const std::string& line);  // with a line that stays
  void end();                             // other output starts on its own line

 private:
  std::ostream& out_;
  size_t shown_ = 0;  // width of what stands there
};

}  // namespace tbd::cli
