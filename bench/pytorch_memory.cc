// What the ledger of the memory pass costs a PyTorch step: in each round a process with a ledger and one without take
// their steps by turns, since what malloc does depends on all that the process asked for before.
//   bench_pytorch_memory [--rounds 9] [--steps 6] [flags of workload_from]   one JSON line: of the steps from the third
//   on, medians over the rounds of both sides' seconds and page faults a step; the median ratio of a round, with its
//   95 % interval over rounds
#include <sys/resource.h>
#include <unistd.h>

#include <array>

#include "base/subprocess.h"
#include "graph/program.h"
#include "measure/cores.h"
#include "measure/memory_ledger.h"
#include "measure/threading.h"
#include "serve.h"
#include "session_setup.h"
#include "stats/intervals.h"
#include "stats/summary.h"

using namespace tbd;

namespace {

using Flags = std::map<std::string, std::string>;

constexpr int64_t kWarm = 2;
constexpr double kPatience = 600;  // seconds for any answer
constexpr const char* kKeys[] = {"wall_s", "cpu_s", "user_s", "system_s", "faults"};
using Amounts = std::array<double, std::size(kKeys)>;

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

Amounts used() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const double user = seconds(use.ru_utime), system = seconds(use.ru_stime);
  return {1e-9 * static_cast<double>(now_ns()), user + system, user, system, static_cast<double>(use.ru_minflt)};
}

Amounts operator-(Amounts end, const Amounts& begin) {
  for (size_t i = 0; i < end.size(); ++i) end[i] -= begin[i];
  return end;
}

// The child: a step for each line of stdin, and what it used.
int take_steps(const bench::Workload& workload, bool watched) {
  std::optional<MemoryLedger> ledger;
  if (watched) ledger.emplace(node_names(workload.program));
  const std::unique_ptr<Session> session = bench::make_loaded(workload, ledger ? &*ledger : nullptr);
  std::cout << "ready" << std::endl;
  int64_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    const Amounts begin = used();
    session->step({.number = number, .schedule_step = number, .lr = {}, .only_phase = {}});
    std::cout << Json(used() - begin).dump() << std::endl;
  }
  return 0;
}

std::map<std::string, std::string> environment_of_workers() {
  std::map<std::string, std::string> out = plan_threads({.allowed = logical_cpus(allowed_cpus())}).environment;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    const size_t end = text.find('=');
    out.try_emplace(std::string(text.substr(0, end)), text.substr(end + 1));
  }
  out.erase("OMP_NUM_THREADS"), out.erase("MKL_NUM_THREADS");  // --threads says
  return out;
}

class Side {
 public:
  Side(const std::vector<std::string>& arguments, bool watched) : child_(options(arguments, watched)) { answer(); }
  void step() {
    child_.write_line("step", kPatience);
    steps_.push_back(parse_json(answer(), "the child").get<Amounts>());
  }
  Amounts mean() const {
    Amounts sum{};
    for (size_t s = kWarm; s < steps_.size(); ++s)
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += steps_[s][i] / static_cast<double>(steps_.size() - kWarm);
    return sum;
  }

 private:
  static SpawnOptions options(std::vector<std::string> argv, bool watched) {
    argv[0] = std::filesystem::read_symlink("/proc/self/exe").string();
    argv.insert(argv.end(), {"--watched", watched ? "1" : "0"});
    return {.argv = std::move(argv), .environment = environment_of_workers()};
  }
  std::string answer() {
    std::string line;
    require(child_.read_line(line, kPatience) == Subprocess::Read::line, "a process ended before its steps");
    return line;
  }
  Subprocess child_;
  std::vector<Amounts> steps_;
};

struct Round {
  Amounts clean, watched;
};

Round round(const std::vector<std::string>& arguments, int64_t number, int64_t steps) {
  Side clean(arguments, false), watched(arguments, true);
  for (int64_t step = 0; step < steps; ++step) {
    if ((number + step) % 2 == 0)
      clean.step(), watched.step();
    else
      watched.step(), clean.step();
  }
  return {clean.mean(), watched.mean()};
}

Json summary(const std::vector<Round>& rounds, size_t key) {
  std::vector<double> clean, watched, ratios;
  for (const Round& each : rounds) {
    clean.push_back(each.clean[key]), watched.push_back(each.watched[key]);
    ratios.push_back(each.watched[key] / each.clean[key]);
  }
  Json out = {{"clean", median(clean)}, {"ledger", median(watched)}, {"ratio", median(ratios)}};
  if (const std::optional<Interval> interval = quantile_interval(ratios, 0.5))
    out["ratio_95"] = {interval->low, interval->high};
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags = bench::flags(argc, argv);
  if (flags.contains("watched")) return take_steps(bench::workload_from(flags, "nhwc"), flags.at("watched") == "1");
  const auto number = [&](const char* name, int64_t otherwise) {
    return flags.contains(name) ? std::stoll(flags.at(name)) : otherwise;
  };
  std::vector<Round> rounds;
  for (int64_t i = 0; i < number("rounds", 9); ++i) rounds.push_back(round({argv, argv + argc}, i, number("steps", 6)));
  Json out = {{"rounds", rounds.size()}};
  for (size_t key = 0; key < std::size(kKeys); ++key) out[kKeys[key]] = summary(rounds, key);
  std::cout << out.dump() << std::endl;
}
