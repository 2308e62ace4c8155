#include "record/old_request.h"

#include <utility>

namespace tbd {
namespace {

// The words of a command line as `shell_word` wrote them.
std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> out;
  bool in_quotes = false;
  bool in_word = false;
  std::string word;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ' ' && !in_quotes) {
      if (in_word) out.push_back(std::exchange(word, {}));
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\'')
      in_quotes = !in_quotes;
    else if (c == '\\' && !in_quotes && i + 1 < line.size())
      word += line[++i];
    else
      word += c;
  }
  if (in_word) out.push_back(word);
  return out;
}

}  // namespace

Workload request_of_old_record(const MeasuredWorkload& workload) {
  Workload request = workload;
  request.mode = {};
  const std::vector<std::string> line = words(workload.repro);
  if (line.size() < 3 || line[0] != "tbd" || line[1] != "run") return request;
  request.model = line[2];
  for (size_t i = 3; i + 1 < line.size(); i += 2) {
    if (line[i] == "--framework") request.framework = line[i + 1];
    if (line[i] == "--mode") request.mode = Mode(line[i + 1]);
    if (line[i] == "--data") request.data = line[i + 1];
  }
  return request;
}

}  // namespace tbd
