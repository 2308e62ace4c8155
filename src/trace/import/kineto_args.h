// Values of Chrome events as a trace holds them.
#pragma once
#include <optional>
#include <string>

#include "trace/import/chrome.h"
#include "trace/trace.h"

namespace tbd {

// Shapes and types repeat: their raw JSON is looked up before the blanks are taken out.
class CompactJson {
 public:
  StringId id(std::string_view raw, Trace& trace);

 private:
  StringTable raw_;
  std::vector<StringId> ids_;  // in the trace, by id in raw_; 0: not known yet
  std::string scratch_;
};

class ChromeValues {
 public:
  ChromeValues(const ChromeEvent& event, Trace& trace, std::string& scratch, CompactJson& compact)
      : event_(event), trace_(trace), scratch_(scratch), compact_(compact) {}

  bool has(ChromeKey key) const { return !event_[key].empty(); }
  std::optional<int64_t> integer(ChromeKey key) const;
  int64_t integer_or(ChromeKey key, int64_t otherwise) const { return integer(key).value_or(otherwise); }
  std::string_view text(ChromeKey key) const;  // good until the next call
  StringId string(ChromeKey key) const { return has(key) ? trace_.string(text(key)) : 0; }
  StringId json(ChromeKey key) const;                       // without blanks
  std::optional<int64_t> nanoseconds(ChromeKey key) const;  // of microseconds, all digits kept

  uint32_t op() const;
  uint32_t kernel() const;
  uint32_t copy(std::string_view name) const;
  uint32_t collective() const;
  uint32_t sync() const;
  uint32_t memory(int64_t bytes) const;

 private:
  const ChromeEvent& event_;
  Trace& trace_;
  std::string& scratch_;
  CompactJson& compact_;
};

}  // namespace tbd
