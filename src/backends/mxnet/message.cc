#include "backends/mxnet/message.h"

#include <algorithm>
#include <regex>

namespace tbd::mxnet {

std::string sentence_of(std::string_view message) {
  // A first line like "Traceback (most recent call last):" is followed by the stack, then by the error itself.
  std::string text(message);
  if (text.starts_with("Traceback")) {
    const size_t error = text.find("\nMXNetError:");
    const size_t other = text.find("\nError:");
    const size_t start = std::min(error, other);
    if (start != std::string::npos) text = text.substr(start + 1);
  }
  static const std::regex kStamp(R"(\[\d\d:\d\d:\d\d\] [^\s:]+:\d+: )"), kPrefix(R"(^(MXNetError|Error): )");
  text = text.substr(0, text.find('\n'));
  text = std::regex_replace(text, kStamp, "");
  text = std::regex_replace(text, kPrefix, "");
  const std::string_view trimmed = trim(text);
  return trimmed.empty() ? "an error without words" : std::string(trimmed);
}

Error error_of(std::string_view message) {
  const std::string sentence = sentence_of(message);
  const bool memory = sentence.find("Failed to allocate") != std::string::npos;
  return Error(memory ? ErrorKind::io : ErrorKind::internal, cat(memory ? "out of memory: " : "mxnet: ", sentence));
}

}  // namespace tbd::mxnet
