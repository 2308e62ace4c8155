// Strings kept once each, numbered in the order in which they came. Id 0 is the empty string.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.h"

namespace tbd {

class StringTable {
 public:
  StringTable();
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;
  StringTable(const StringTable&) = delete;  // its views are of its own text
  StringTable& operator=(const StringTable&) = delete;
  StringId intern(std::string_view text);
  // Good as long as the table. Throws Error(invalid) on an id that was not given out.
  std::string_view operator[](StringId id) const;
  size_t size() const { return views_.size(); }
  size_t bytes() const { return bytes_; }  // of text

 private:
  void grow();
  std::string_view keep(std::string_view text);

  std::deque<std::string> blocks_;  // text, filled one after the other
  std::vector<std::string_view> views_;
  std::vector<uint64_t> hashes_;
  std::vector<StringId> slots_;  // open addressing, 0: free
  size_t bytes_ = 0;
};

}  // namespace tbd
