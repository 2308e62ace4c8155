// Any bytes as a profile of XLA's.
#include "trace/import/xplane.h"

#include "trace_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tbd::fuzz::judge(data, size,
                          [](std::string_view bytes, tbd::Trace& trace) { tbd::import_xplane(bytes, trace); });
}
