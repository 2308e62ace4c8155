// What the blocks of a trace file hold, before compression (docs/trace.md).
#pragma once
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace tbd {

// How much of a trace's dictionary earlier blocks hold.
struct Written {
  size_t strings = 1;  // the empty string goes without saying
  std::string state;   // tracks, facts, faults and base as last written
};
// Strings since the last block, and tracks, facts, faults and base; empty when nothing is new. Updates `written`.
std::string encode_dictionary(const Trace& trace, Written& written);
// Throws Error(invalid) on malformed bytes.
void decode_dictionary(std::string_view bytes, Trace& trace);

// The events that the trace holds with their details, column by column.
std::string encode_events(const Trace& trace);
// Appends to `trace`, which must not drain. Throws Error(invalid) on malformed bytes; what came before is kept.
void decode_events(std::string_view bytes, Trace& trace);

}  // namespace tbd
