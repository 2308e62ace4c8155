#include "data/sets/catalogue.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

constexpr uint32_t kMagic = 0x950412de;
constexpr size_t kHeaderBytes = 28;
constexpr char kEndOfContext = '\x04';

class Bytes {
 public:
  Bytes(std::string name, std::string_view bytes) : name_(std::move(name)), bytes_(bytes) {
    require(bytes_.size() >= kHeaderBytes, name_, ": ", bytes_.size(), " bytes, fewer than a catalogue's header");
    if (word(0) == kMagic) return;
    big_endian_ = true;
    require(word(0) == kMagic, name_, ": not a message catalogue: its first bytes are not 0x950412de in any order");
  }

  // The 32 bits at byte `at`, which lies inside.
  uint32_t word(size_t at) const {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes_[at + (big_endian_ ? i : 3 - i)]);
    return value;
  }
  // Where a table of `count` entries of 8 bytes begins: the word at `at`.
  size_t table(size_t at, size_t count, const char* what) const {
    const size_t begin = word(at);
    require(begin + 8 * count <= bytes_.size(), name_, ": the table of ", what, " ends at byte ", begin + 8 * count,
            ", outside the file's ", bytes_.size());
    return begin;
  }
  // The string that the table entry at `at` (length, offset) tells of.
  std::string_view string(size_t at, size_t number) const {
    const size_t length = word(at), begin = word(at + 4);
    require(begin + length <= bytes_.size(), name_, ": message ", number, " ends at byte ", begin + length,
            ", outside the file's ", bytes_.size());
    return bytes_.substr(begin, length);
  }

 private:
  std::string name_;
  std::string_view bytes_;
  bool big_endian_ = false;
};

void require_utf8(const std::string& name, std::string_view header) {
  const std::string fields = lower_case(header);
  const size_t at = fields.find("charset=");
  require(at != std::string::npos, name, ": its header names no charset");
  const size_t begin = at + 8, end = std::min(fields.find_first_of(" \t\r\n;", begin), fields.size());
  const std::string charset = fields.substr(begin, end - begin);
  require(charset == "utf-8" || charset == "utf8", name, ": its charset is ", charset, ", not UTF-8");
}

std::string_view first_form(std::string_view forms) { return forms.substr(0, forms.find('\0')); }

std::string_view without_context(std::string_view text) {
  const size_t end = text.find(kEndOfContext);
  return end == std::string_view::npos ? text : text.substr(end + 1);
}

}  // namespace

std::vector<Message> read_catalogue(const std::filesystem::path& path) {
  const std::string content = read_file(path), name = path.string();
  const Bytes bytes(name, content);
  require(bytes.word(4) >> 16 <= 1, name, ": revision ", bytes.word(4) >> 16, " of the format, known are 0 and 1");
  const size_t count = bytes.word(8);
  const size_t texts = bytes.table(12, count, "texts"), translations = bytes.table(16, count, "translations");
  std::vector<Message> messages;
  bool has_header = false;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view text = first_form(without_context(bytes.string(texts + 8 * i, i + 1)));
    const std::string_view translation = first_form(bytes.string(translations + 8 * i, i + 1));
    if (text.empty() && !has_header) {
      require_utf8(name, translation);
      has_header = true;
    }
    require(!first_bad_byte(text) && !first_bad_byte(translation), name, ": message ", i + 1, " is not UTF-8");
    if (!text.empty() && !translation.empty()) messages.push_back({std::string(text), std::string(translation)});
  }
  require(has_header, name, ": it has no header, which names the charset");
  return messages;
}

}  // namespace tbd
