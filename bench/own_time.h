// CPU time of this thread inside and outside of a framework's C functions. The linker sends each call of a function f
// that is named with --wrap=f to __wrap_f, which TBD_TIMED defines; what a step's thread spends outside is our own.
#pragma once
#include <ctime>

#include "serve.h"
#include "session_setup.h"

namespace tbd::bench {

inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Inside {  // a call of the framework
  static inline double seconds = 0;
  static inline int64_t calls = 0;
  double began = thread_seconds();
  ~Inside() {
    seconds += thread_seconds() - began;
    ++calls;
  }
};

#define TBD_TIMED(Result, Name, Parameters, Arguments) \
  extern "C" Result __real_##Name Parameters;          \
  extern "C" Result __wrap_##Name Parameters;          \
  Result __wrap_##Name Parameters {                    \
    const tbd::bench::Inside inside;                   \
    return __real_##Name Arguments;                    \
  }

//   [--config canonical] [--batch 8] [--threads 2] [--steps 20] [--traced 0]
// One JSON line: seconds a step, and of our own. `--traced 1`: of steps of pass trace, without their handing over,
// which lies outside of steps: what is not our own of a trace's cost is the framework's collector.
inline int own_time(int argc, char** argv, const ImageLayout& layout) {
  auto given = flags(argc, argv);
  const auto number = [&](const char* name, int64_t otherwise) {
    return given.contains(name) ? std::stoll(given[name]) : otherwise;
  };
  Workload workload = {
      .program = find_model("resnet50").config(given.contains("config") ? given["config"] : "canonical").program()};
  workload.batch = number("batch", 8);
  workload.threads = number("threads", 2);
  workload.layout = layout;
  const bool traced = number("traced", 0) != 0;
  const std::unique_ptr<Session> session = make_loaded(workload, nullptr, traced);
  const auto run = [&](int64_t step) {
    session->step({.number = step, .schedule_step = step, .lr = {}, .only_phase = {}, .traced = traced});
  };
  constexpr int64_t kWarm = 3;
  for (int64_t step = 1; step <= kWarm; ++step) run(step);
  const int64_t steps = number("steps", 20);
  Inside::seconds = 0;
  Inside::calls = 0;
  timespec wall[2];
  const double start = thread_seconds();
  clock_gettime(CLOCK_MONOTONIC, &wall[0]);
  for (int64_t step = 1; step <= steps; ++step) run(kWarm + step);
  clock_gettime(CLOCK_MONOTONIC, &wall[1]);
  const double own = (thread_seconds() - start - Inside::seconds) / static_cast<double>(steps);
  require(Inside::calls >= steps, "the framework's functions were not wrapped");
  const double step = (static_cast<double>(wall[1].tv_sec - wall[0].tv_sec) +
                       1e-9 * static_cast<double>(wall[1].tv_nsec - wall[0].tv_nsec)) /
                      static_cast<double>(steps);
  std::cout << Json{{"own_cpu_s_per_step", own},
                    {"step_s", step},
                    {"share", own / step},
                    {"calls_per_step", Inside::calls / steps}}
                   .dump()
            << std::endl;
  return 0;
}

}  // namespace tbd::bench
