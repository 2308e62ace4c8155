// A text file in memory as lines, and what is to be said about some of them.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/bad_file.h"

namespace tbd {

class TextFile {
 public:
  // Lines end with \n or \r\n; a last line without an end counts. Throws as read_file does, and Error(invalid)
  // "FILE:LINE: byte 0xff at column 7 is not UTF-8" (bytes count from 1).
  explicit TextFile(const std::filesystem::path& path);
  // The same for text that is at hand; `name` stands in messages.
  TextFile(std::string name, std::string content);
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  const std::string& name() const { return name_; }
  size_t size() const { return lines_.size(); }
  std::string_view operator[](size_t line) const { return lines_[line]; }  // from 0
  std::string where(size_t line) const;                                    // "train.en:18" for line 17

 private:
  std::string name_, content_;
  std::vector<std::string_view> lines_;
};

// "FILE:LINE" of a byte of a file's text.
std::string where_in(std::string_view name, std::string_view text, size_t byte);

// Lines that are left out: of each file and reason the first and how many. In strict reading the first is an error.
class LineNotes {
 public:
  explicit LineNotes(bool strict) : strict_(strict) {}
  // Throws Error(invalid) "FILE:LINE: reason" when strict.
  void add(const TextFile& file, size_t line, const std::string& reason);
  std::vector<BadFile> list() const;  // {"train.en:18", "an empty sentence, and 12 lines more"}

 private:
  struct Note {
    std::string where;
    int64_t more = 0;
  };
  bool strict_;
  std::map<std::pair<std::string, std::string>, Note> notes_;  // by file and reason
};

// The words of a line: what stands between spaces and tabs.
std::vector<std::string_view> words_of(std::string_view line);

}  // namespace tbd
