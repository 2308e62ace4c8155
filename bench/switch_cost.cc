// What recording switches costs: CPU time a switch of two threads that hand a byte to and fro on one processor, with a
// recorder and without, in turns. bench_switch_cost [ROUNDS] (docs/performance.md).
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <thread>
#include <vector>

#include "measure/clock.h"
#include "measure/cores.h"
#include "measure/switch_recorder.h"

namespace tbd {
namespace {

constexpr int kTurns = 2000;
constexpr double kSwitches = 2.0 * kTurns;  // from one thread to the other and back

int64_t process_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return ns_of(t);
}

void echo(int from, int to) {
  for (char byte; ::read(from, &byte, 1) == 1;)
    if (::write(to, &byte, 1) != 1) return;
}

double ns_a_switch(int there, int back, bool recorded) {
  std::optional<SwitchRecorder> recorder;
  if (recorded) recorder.emplace();
  char byte = 0;
  const int64_t begin = process_cpu_ns();
  for (int i = 0; i < kTurns; ++i)
    if (::write(there, &byte, 1) != 1 || ::read(back, &byte, 1) != 1) std::abort();
  return static_cast<double>(process_cpu_ns() - begin) / kSwitches;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void measure(int rounds) {
  int there[2], back[2];
  if (::pipe(there) != 0 || ::pipe(back) != 0) std::abort();
  bind_thread({allowed_cpus().front()});
  std::thread other(echo, there[0], back[1]);
  std::vector<double> without, with, more;
  for (int i = 0; i < rounds; ++i) {
    without.push_back(ns_a_switch(there[1], back[0], false));
    with.push_back(ns_a_switch(there[1], back[0], true));
    more.push_back(with.back() - without.back());
  }
  ::close(there[1]);
  other.join();
  std::cout << "CPU time a switch: " << median(without) << " ns, recorded " << median(with) << " ns; " << median(more)
            << " ns more, " << median(with) / median(without) << " times\n";
}

}  // namespace
}  // namespace tbd

int main(int count, char** arguments) {
  if (const std::string reason = tbd::SwitchRecorder().reason(); !reason.empty())
    std::cout << reason << "\n";
  else
    tbd::measure(count > 1 ? std::atoi(arguments[1]) : 40);
}
