// Any bytes, plain or gzip, as a profile of MXNet.
#include "trace/import/mxnet.h"

#include "trace_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tbd::fuzz::judge(data, size, [](std::string_view bytes, tbd::Trace& trace) {
    tbd::import_mxnet(*tbd::memory_source(bytes), trace);
  });
}
