// What tracing costs: traced and untraced steps of one TensorFlow session in turns, as pass trace takes them. The
// decoding of a traced step (Session::hand_over) is outside its time and given apart.
//   bench_tensorflow_trace [--pairs 10] and the flags of workload_from   one JSON line
#include <sys/resource.h>

#include <algorithm>

#include "measure/clock.h"
#include "serve.h"
#include "session_setup.h"
#include "trace/trace.h"

using namespace tbd;

namespace {

double process_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

struct Times {
  std::vector<double> wall, cpu;
};

// The ratio of each pair's traced step to its untraced one, which came right before or after.
double ratio(const std::vector<double>& traced, const std::vector<double>& untraced) {
  std::vector<double> ratios;
  for (size_t i = 0; i < traced.size(); ++i) ratios.push_back(traced[i] / untraced[i]);
  return median(ratios);
}

}  // namespace

int main(int argc, char** argv) {
  const auto flags = bench::flags(argc, argv);
  const bench::Workload workload = bench::workload_from(flags, "nhwc");
  const int64_t pairs = flags.contains("pairs") ? std::stoll(flags.at("pairs")) : 10;
  const std::unique_ptr<Session> session = make_session();
  session->load(
      workload.program,
      {.bindings = {{"N", workload.batch}}, .threads = workload.threads, .layout = workload.layout, .trace = true});
  write_initial_values(*session, workload.program, 1, workload.threads);
  session->stage(bench::synthetic_batch(workload));
  Trace trace;
  Times times[2];
  int64_t number = 0;
  const auto step = [&](bool traced, bool counted) {
    ++number;
    const double cpu = process_seconds();
    const int64_t begin = now_ns();
    session->step({.number = number, .schedule_step = number, .lr = {}, .only_phase = {}, .traced = traced});
    const int64_t end = now_ns();
    if (!counted) return;
    times[traced].wall.push_back(1e-9 * static_cast<double>(end - begin));
    times[traced].cpu.push_back(process_seconds() - cpu);
  };
  for (const bool traced : {false, true, false}) step(traced, false);
  for (int64_t pair = 0; pair < pairs; ++pair)
    for (const bool traced : {pair % 2 == 0, pair % 2 != 0}) step(traced, true);
  const int64_t begin = now_ns();
  session->hand_over(trace);
  const double hand_over = 1e-9 * static_cast<double>(now_ns() - begin) / static_cast<double>(pairs + 1);
  std::cout << Json{{"untraced_s", median(times[0].wall)},
                    {"traced_s", median(times[1].wall)},
                    {"wall_ratio", ratio(times[1].wall, times[0].wall)},
                    {"cpu_ratio", ratio(times[1].cpu, times[0].cpu)},
                    {"hand_over_s_a_step", hand_over},
                    {"events_a_step", trace.size() / static_cast<size_t>(pairs + 1)}}
                   .dump()
            << std::endl;
}
