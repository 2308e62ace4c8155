// Any bytes, plain or gzip, as a profile of torch.profiler.
#include "trace/import/kineto.h"

#include "trace_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tbd::fuzz::judge(data, size, [](std::string_view bytes, tbd::Trace& trace) {
    tbd::import_kineto(*tbd::memory_source(bytes), trace);
  });
}
