#include "backends/mxnet/api_profile.h"

#include <mxnet/c_api.h>

#include "backends/mxnet/api_check.h"

namespace tbd::mxnet {

void set_profile(const std::string& file) {
  const char* keys[] = {"profile_symbolic", "profile_imperative", "profile_memory", "profile_api",
                        "aggregate_stats",  "continuous_dump",    "filename"};
  const char* values[] = {"True", "True", "False", "False", "False", "False", file.c_str()};
  check(MXSetProfilerConfig(std::size(keys), keys, values));
}

void profile(bool on) { check(MXSetProfilerState(on ? 1 : 0)); }

void dump_profile() {
  constexpr int kFinished = 1;
  check(MXDumpProfile(kFinished));
}

namespace {

// As mxnet/base.h has it, which is no C.
struct Context {
  int32_t type = 1, device = 0;  // the CPU
};

struct Work {
  void (*work)(void*);
  void* with;
};

}  // namespace

void queue_after(const Array& array, void (*work)(void* with), void* with) {
  Context cpu;
  void* after = array.handle();
  const auto run = [](void*, void* each) { static_cast<Work*>(each)->work(static_cast<Work*>(each)->with); };
  const auto done = [](void* each) { delete static_cast<Work*>(each); };
  check(MXEnginePushSyncND(run, new Work{work, with}, done, &cpu, &after, 1, nullptr, 0, nullptr, 0, nullptr));
}

}  // namespace tbd::mxnet
