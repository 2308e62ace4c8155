// Any bytes as TensorFlow's step statistics.
#include "trace/import/step_stats.h"

#include "trace_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tbd::fuzz::judge(data, size,
                          [](std::string_view bytes, tbd::Trace& trace) { tbd::import_step_stats(bytes, trace); });
}
