// For tests: a trace whose events are set one by one, of one host thread and streams 7 and 20 of device 0.
#pragma once
#include <string_view>

#include "trace/trace.h"

namespace tbd::testing_trace {

class HandMade {
 public:
  Trace trace;
  TrackId host = trace.track({.process = 1, .thread = 1});
  TrackId compute = trace.track({.place = Track::Place::device, .device = 0, .thread = 7});
  TrackId comm = trace.track({.place = Track::Place::device, .device = 0, .thread = 20});

  void add(EventKind kind, std::string_view name, TrackId track, int64_t begin, int64_t end, uint32_t link = 0) {
    trace.add({.begin = begin,
               .duration = end - begin,
               .name = trace.string(name),
               .link = link,
               .track = track,
               .kind = kind});
  }
  void launch(int64_t begin, int64_t end, uint32_t link, std::string_view name = "cudaLaunchKernel") {
    add(EventKind::api, name, host, begin, end, link);
  }
  void kernel(int64_t begin, int64_t end, uint32_t link, std::string_view name = "gemm") {
    add(EventKind::kernel, name, compute, begin, end, link);
  }
};

}  // namespace tbd::testing_trace
