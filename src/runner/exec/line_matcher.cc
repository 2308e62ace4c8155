#include "runner/exec/line_matcher.h"

#include <regex.h>

#include <algorithm>

#include "base/error.h"

namespace tbd {

struct LineMatcher::Expression {
  regex_t compiled;
  explicit Expression(const std::string& text) {
    const int code = ::regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (code == 0) return;
    char why[256];
    ::regerror(code, &compiled, why, sizeof why);
    fail(ErrorKind::usage, "'", text, "' is no extended regular expression: ", why);
  }
  ~Expression() { ::regfree(&compiled); }
};

LineMatcher::LineMatcher(const std::string& expression) : expression_(std::make_unique<Expression>(expression)) {}
LineMatcher::~LineMatcher() = default;

int64_t LineMatcher::feed(std::string_view piece) {
  int64_t count = 0;
  while (!piece.empty()) {
    const size_t end = piece.find_first_of("\r\n");
    const std::string_view part = piece.substr(0, end);
    line_.append(part.substr(0, kMostLine - std::min(kMostLine, line_.size())));
    if (end == std::string_view::npos) break;
    count += found();
    piece.remove_prefix(end + 1);
  }
  return count;
}

bool LineMatcher::finish() { return found(); }

// An empty line matches nothing: "\r\n" ends one line.
bool LineMatcher::found() {
  const bool is_found =
      !line_.empty() && ::regexec(&expression_->compiled, line_.c_str(), 0, nullptr, 0) == 0;  // up to a NUL byte
  line_.clear();
  return is_found;
}

}  // namespace tbd
