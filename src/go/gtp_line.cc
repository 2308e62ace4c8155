#include "go/gtp_line.h"

#include <algorithm>

#include "base/text.h"

namespace tbd::go {

std::optional<GtpCommand> read_gtp_command(std::string_view line) {
  constexpr char kDelete = 127;
  std::string text;
  for (const char c : line.substr(0, line.find('#'))) {
    const bool control = (c >= 0 && c < ' ') || c == kDelete;
    if (c == '\t')
      text += ' ';
    else if (!control)
      text += c;
  }
  std::vector<std::string> words = split(text, ' ');
  std::erase(words, "");
  if (words.empty()) return std::nullopt;
  GtpCommand command;
  const auto take = [&] {
    std::string word = std::move(words.front());
    words.erase(words.begin());
    return word;
  };
  if (std::ranges::all_of(words.front(), is_digit)) command.id = take();
  if (!words.empty()) command.name = take();
  command.arguments = std::move(words);
  return command;
}

std::string gtp_answer(const GtpCommand& command, bool success, std::string_view text) {
  std::string answer = cat(success ? '=' : '?', command.id, text.starts_with('\n') ? "" : " ");
  for (const char c : text)
    if (c != '\n' || answer.back() != '\n') answer += c;
  while (answer.back() == '\n' || answer.back() == ' ') answer.pop_back();
  return answer + "\n\n";
}

}  // namespace tbd::go
