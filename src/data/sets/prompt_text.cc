#include "data/sets/prompt_text.h"

#include "base/error.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "data/text/text_file.h"
#include "data/transcripts.h"

namespace tbd {
namespace {

constexpr std::string_view kDigits[] = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};

bool is_alphanumeric(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string unpacked(const std::filesystem::path& file) {
  constexpr double kSeconds = 60;
  Subprocess gzip({.argv = {"gzip", "-dc", file.string()}, .environment = {{"PATH", "/usr/bin:/bin"}}});
  gzip.close_input();
  std::string text;
  for (std::string line; gzip.read_line(line, kSeconds) == Subprocess::Read::line;) text += line + "\n";
  const auto status = gzip.wait(kSeconds);
  require(status && status->ok(), file.string(), ": gzip ", status ? status->words() : "does not end");
  return text;
}

std::string with_digits_spelled(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) {
      out += text[i];
      continue;
    }
    const char before = i > 0 ? text[i - 1] : ' ', after = i + 1 < text.size() ? text[i + 1] : ' ';
    require(!is_alphanumeric(before) && before != '.' && !is_alphanumeric(after),
            "a number that can be read in several ways");
    out += kDigits[text[i] - '0'];
  }
  return out;
}

}  // namespace

std::vector<ListedPrompt> read_prompt_list(const std::filesystem::path& file) {
  const bool packed = file.extension() == ".gz";
  const TextFile lines = packed ? TextFile(file.string(), unpacked(file)) : TextFile(file);
  std::vector<ListedPrompt> prompts;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = trim(lines[i]);
    if (line.empty() || line.starts_with(';')) continue;
    const size_t colon = line.find(": ");
    require(colon != std::string_view::npos && colon > 0, lines.where(i), ": expected NAME: TEXT");
    prompts.push_back({std::string(line.substr(0, colon)), std::string(trim(line.substr(colon + 2)))});
  }
  return prompts;
}

std::string prompt_transcript(std::string_view text) {
  require(text.find_first_of("[](){}<>") == std::string_view::npos, "a tone, silence or a note in brackets");
  require(text.find("...") == std::string_view::npos, "a part of a sentence");
  return normal_transcript(with_digits_spelled(text));
}

}  // namespace tbd
