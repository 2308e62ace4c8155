// Chrome's trace format as a stream: {"traceEvents": [{...}, ...], "other": ...} or the array alone. The events are
// cut out in fixed windows and parsed by simdjson; memory does not grow with the file.
#pragma once
#include <string_view>

#include "trace/import/chrome_keys.h"
#include "trace/import/source.h"

namespace tbd {

class ChromeHandler {
 public:
  virtual ~ChromeHandler() = default;
  virtual void event(const ChromeEvent& event) = 0;                        // views are good during the call
  virtual void property(std::string_view key, std::string_view json) = 0;  // beside the events
  // Something malformed that was passed over, or ended the reading; `where` says byte and reason.
  virtual void fault(std::string_view what, std::string_view where) = 0;
};

// Reads all. Throws Error(invalid) when the stream is no such JSON from its first byte; later faults go to the handler
// and what came before them is kept.
void read_chrome(ByteSource& source, ChromeHandler& handler);

// The text of a JSON string as raw JSON: quotes gone, escapes resolved; other values as they are. `scratch` holds the
// text where it had escapes.
std::string_view json_text(std::string_view raw, std::string& scratch);
// The raw JSON without white space outside strings.
std::string_view without_blanks(std::string_view raw, std::string& scratch);

}  // namespace tbd
