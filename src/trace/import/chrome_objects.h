// Parses objects of a traceEvents array with simdjson, many at a time where it can.
#pragma once
#include <memory>

#include "base/json_window.h"
#include "trace/import/chrome.h"

namespace tbd {

class ChromeObjects {
 public:
  explicit ChromeObjects(ChromeHandler& handler);
  ~ChromeObjects();
  // Parses whole objects from the window's begin on, at one stride; advances past them. False when that did not go:
  // the window is then at an object that only `one` can judge. Sets `closed` when the array's end came by.
  bool many(JsonWindow& window, bool& closed);
  // Parses the object at the window's begin, repaired where that helps, and advances past it. False when the stream or
  // the window ends inside it.
  bool one(JsonWindow& window);

 private:
  struct Parser;
  bool parse_one(char* text, size_t size, int64_t position);

  ChromeHandler& handler_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace tbd
