#include "data/text/text_file.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

std::string hex_byte(char c) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace

TextFile::TextFile(const std::filesystem::path& path) : TextFile(path.string(), read_file(path)) {}

TextFile::TextFile(std::string name, std::string content) : name_(std::move(name)), content_(std::move(content)) {
  const std::string_view text = content_;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (const auto bad = first_bad_byte(line))
      fail(ErrorKind::invalid, where(lines_.size()), ": byte ", hex_byte(line[*bad]), " at column ", *bad + 1,
           " is not UTF-8");
    lines_.push_back(line);
    begin = end + 1;
  }
}

std::string TextFile::where(size_t line) const { return cat(name_, ":", line + 1); }

std::string where_in(std::string_view name, std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, byte);
  return cat(name, ":", 1 + std::count(before.begin(), before.end(), '\n'));
}

void LineNotes::add(const TextFile& file, size_t line, const std::string& reason) {
  if (strict_) fail(ErrorKind::invalid, file.where(line), ": ", reason);
  const auto [note, first] = notes_.try_emplace({file.name(), reason}, Note{.where = file.where(line)});
  if (!first) ++note->second.more;
}

std::vector<BadFile> LineNotes::list() const {
  std::vector<BadFile> out;
  for (const auto& [key, note] : notes_) {
    const std::string more =
        note.more == 0 ? "" : cat(", and ", note.more, note.more == 1 ? " line" : " lines", " more");
    out.push_back({note.where, key.second + more});
  }
  return out;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t begin = 0;;) {
    begin = line.find_first_not_of(" \t", begin);
    if (begin == std::string_view::npos) return words;
    const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end;
  }
}

}  // namespace tbd
