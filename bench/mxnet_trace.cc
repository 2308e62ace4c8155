// What pass trace costs an MXNet step, and how much of it the trace tells apart. Three kinds of step take turns:
// traced, untraced in the same session, and in a clean session. Flags of workload_from; [--rounds 8].
#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "measure/clock.h"
#include "serve.h"
#include "session_setup.h"
#include "trace/trace.h"

using namespace tbd;

namespace {

std::unique_ptr<Session> loaded(const bench::Workload& workload, bool trace) {
  std::unique_ptr<Session> session = make_session();
  session->load(workload.program, {.bindings = {{"N", workload.batch}}, .threads = workload.threads, .trace = trace});
  write_initial_values(*session, workload.program, 1, workload.threads);
  session->stage(bench::synthetic_batch(workload));
  return session;
}

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

struct Times {
  std::vector<double> wall, cpu;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void timed_step(Session& session, int64_t number, bool traced, Times& times) {
  const double cpu = cpu_seconds();
  const int64_t begin = now_ns();
  session.step({.number = number, .schedule_step = number, .traced = traced});
  times.wall.push_back(1e-9 * static_cast<double>(now_ns() - begin));
  times.cpu.push_back(cpu_seconds() - cpu);
}

void report(const Trace& trace, int64_t steps) {
  std::map<std::string, int64_t> without;  // ns by op
  int64_t all = 0, named = 0;
  for (size_t i = 0; i < trace.size(); ++i) {
    const OpDetail* detail = trace.detail_of<OpDetail>(i);
    const bool has_node = detail && detail->node != 0;
    all += trace[i].duration, named += has_node ? trace[i].duration : 0;
    if (!has_node) without[cat(trace.name(i), " ", name(trace[i].phase))] += trace[i].duration;
  }
  std::cout << trace.size() / static_cast<size_t>(steps) << " ops a step, "
            << format_percent(static_cast<double>(named) / static_cast<double>(all)) << " of their time has a node\n";
  for (const auto& [op, ns] : without)
    std::cout << "  without: " << op << " " << format_percent(static_cast<double>(ns) / static_cast<double>(all))
              << "\n";
  for (const Fault& fault : trace.faults())
    std::cout << "  fault: " << fault.what << " x" << fault.count << " " << fault.first << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const auto flags = bench::flags(argc, argv);
  const bench::Workload workload = bench::workload_from(flags, "nchw");
  const int64_t rounds = flags.contains("rounds") ? std::stoll(flags.at("rounds")) : 8;
  const auto tracing = loaded(workload, true), clean = loaded(workload, false);
  Times warm, traced, untraced, plain;
  for (int64_t step = 1; step <= 2; ++step)
    timed_step(*tracing, step, false, warm), timed_step(*clean, step, false, warm);
  for (int64_t round = 0; round < rounds; ++round) {
    timed_step(*tracing, 2 * round + 3, true, traced);
    timed_step(*clean, round + 3, false, plain);
    timed_step(*tracing, 2 * round + 4, false, untraced);
  }
  Trace trace;
  const int64_t begin = now_ns();
  tracing->hand_over(trace);
  const double hand_over = 1e-9 * static_cast<double>(now_ns() - begin);
  const auto line = [](const char* name, const Times& times) {
    std::cout << name << ": wall " << format_seconds(median(times.wall)) << ", cpu "
              << format_seconds(median(times.cpu)) << "\n";
  };
  line("traced", traced), line("untraced", untraced), line("clean", plain);
  const auto ratio = [](const char* name, const Times& a, const Times& b) {
    std::cout << name << ": wall " << median(a.wall) / median(b.wall) << ", cpu " << median(a.cpu) / median(b.cpu)
              << "\n";
  };
  ratio("traced / untraced", traced, untraced), ratio("traced / clean", traced, plain);
  std::cout << "hand over: " << format_seconds(hand_over) << " for " << rounds << " steps\n";
  report(trace, rounds);
}
