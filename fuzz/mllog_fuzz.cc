// Any bytes as an MLPerf log: lines that are read are written and read back alike, and the tables stand them.
#include "trace/import/mllog.h"

#include <cstdint>
#include <cstdlib>

#include "analysis/table.h"
#include "analysis/trace/mllog_tables.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const tbd::Mllog log = tbd::read_mllog(*tbd::memory_source({reinterpret_cast<const char*>(data), size}));
    for (const tbd::Table& table : tbd::mllog_tables(log)) tbd::to_text(table);
    std::string text;
    for (const tbd::MllogEvent& event : log.events) text += tbd::mllog_line(event);
    const tbd::Mllog again = tbd::read_mllog(*tbd::memory_source(text));
    if (again.events.size() != log.events.size() || again.malformed != 0) std::abort();
  } catch (const tbd::Error&) {
  }
  return 0;
}
