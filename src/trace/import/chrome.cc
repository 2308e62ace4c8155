#include "trace/import/chrome.h"

#include "base/error.h"
#include "base/json_window.h"
#include "trace/import/chrome_objects.h"

namespace tbd {
namespace {

class ChromeStream {
 public:
  ChromeStream(ByteSource& source, ChromeHandler& handler)
      : source_(source), handler_(handler), window_(source), objects_(handler) {}

  void read() {
    check_encoding();
    const char first = window_.skip_blanks();
    if (first == '\0' && !source_.damage().empty()) fail(ErrorKind::invalid, source_.damage());
    require(first != '\0', "the file is empty");
    require(first == '{' || first == '[', "no JSON: it begins with ", shown(first));
    window_.advance(1);
    if (first == '[' ? events() : members()) trailing();
  }

 private:
  static std::string shown(char c) {
    return c > 0x20 && c < 0x7f ? cat("'", c, "'") : cat("byte ", static_cast<int>(static_cast<uint8_t>(c)));
  }
  void check_encoding() {
    while (window_.text().size() < 4 && window_.more()) {
    }
    const std::string_view text = window_.text();
    if (text.starts_with("\xef\xbb\xbf")) window_.advance(3);
    const bool wide = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") ||
                      (text.size() >= 2 && (text[0] == '\0' || text[1] == '\0'));
    require(!wide, "the text is UTF-16 or UTF-32, JSON is UTF-8");
  }
  bool stopped(std::string_view reason) {
    const std::string why = source_.damage().empty() ? std::string(reason) : source_.damage();
    handler_.fault("the file ends early", cat("byte ", window_.position(), ": ", why));
    return false;
  }
  bool malformed(std::string_view reason) {
    handler_.fault("malformed JSON, the rest was not read", cat("byte ", window_.position(), ": ", reason));
    return false;
  }

  // After the array's '['. True when its ']' came.
  bool events() {
    for (;;) {
      const char next = window_.skip_blanks();
      if (next == '\0') return stopped("the array of events is not closed");
      if (next == ']') {
        window_.advance(1);
        return true;
      }
      if (next == ',') {
        window_.advance(1);
        continue;
      }
      if (next != '{') return malformed(cat("an event begins with ", shown(next)));
      while (window_.more()) {  // fill it
      }
      bool closed = false;
      if (objects_.many(window_, closed)) {
        if (closed) return true;
        continue;
      }
      if (!one_by_one()) return false;
    }
  }
  // Some objects each for itself, until the array may be read in strides again.
  bool one_by_one() {
    for (int left = kCareful; left > 0; --left) {
      const char next = window_.skip_blanks();
      if (next == ',') window_.advance(1);
      if (window_.skip_blanks() != '{') return true;
      if (objects_.one(window_)) continue;
      return window_.full() ? malformed("an event is longer than 1 MiB") : stopped("an event is cut off");
    }
    return true;
  }

  // After the object's '{'. True when its '}' came.
  bool members() {
    for (;;) {
      char next = window_.skip_blanks();
      if (next == ',') {
        window_.advance(1);
        next = window_.skip_blanks();
      }
      if (next == '\0') return stopped("the object is not closed");
      if (next == '}') {
        window_.advance(1);
        return true;
      }
      if (next != '"') return malformed(cat("a key begins with ", shown(next)));
      const size_t size = window_.value_size();
      if (size == 0) return window_.full() ? malformed("a key is longer than 1 MiB") : stopped("a key is cut off");
      std::string scratch;
      const std::string key(json_text(window_.text().substr(0, size), scratch));
      window_.advance(size);
      if (window_.skip_blanks() != ':') return malformed("no ':' after a key");
      window_.advance(1);
      if (!member(key)) return false;
    }
  }
  bool member(const std::string& key) {
    const char next = window_.skip_blanks();
    if (key == "traceEvents" && next == '[') {
      window_.advance(1);
      return events();
    }
    const int64_t position = window_.position();
    const size_t size = window_.value_size();
    if (size == 0 && !window_.full()) return stopped(cat("'", key, "' is cut off"));
    if (size == 0 || !keep_property(64 + key.size() + size)) {
      handler_.fault("properties too long to keep", cat("byte ", position, ": '", key.substr(0, 40), "'"));
      return window_.skip_value() || stopped(cat("'", key.substr(0, 40), "' is cut off"));
    }
    handler_.property(key, window_.text().substr(0, size));
    window_.advance(size);
    return true;
  }
  // All of them together stay small, however many there are.
  bool keep_property(size_t size) {
    if (size > kProperties - property_bytes_) return false;
    property_bytes_ += size;
    return true;
  }
  void trailing() {
    if (window_.skip_blanks() != '\0' || !source_.damage().empty()) {
      const std::string why = source_.damage().empty() ? "text follows the trace" : source_.damage();
      handler_.fault("the file does not end with the trace", cat("byte ", window_.position(), ": ", why));
    }
  }

  static constexpr int kCareful = 64;
  static constexpr size_t kProperties = 2 << 20;  // bytes
  ByteSource& source_;
  ChromeHandler& handler_;
  JsonWindow window_;
  ChromeObjects objects_;
  size_t property_bytes_ = 0;
};

}  // namespace

void read_chrome(ByteSource& source, ChromeHandler& handler) { ChromeStream(source, handler).read(); }

}  // namespace tbd
