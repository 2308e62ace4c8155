// What the ledger of the memory pass costs a PyTorch step: in each round a process with a ledger and one without take
// their steps by turns. What malloc does depends on all that the process asked for before: which small block keeps the
// heap's end from being given back and faulted in again is chance. So each round's heaps begin with a block of another
// length, the same in both (Mytkowicz et al. 2009, ASPLOS, "Producing wrong data without doing anything obviously
// wrong": randomise the set-up).
//   bench_pytorch_memory [--rounds 9] [--steps 6] [flags of workload_from]   one JSON line: what cost_of says of the
//   mean step from the third on, by rounds
#include <unistd.h>

#include <random>

#include "base/subprocess.h"
#include "graph/program.h"
#include "measure/cores.h"
#include "measure/memory_ledger.h"
#include "measure/threading.h"
#include "serve.h"
#include "session_setup.h"
#include "used.h"

using namespace tbd;

namespace {

using Flags = std::map<std::string, std::string>;

constexpr int64_t kWarm = 2;
constexpr double kPatience = 600;  // seconds for any answer
// The child: a step for each line of stdin, and what it used.
int take_steps(const bench::Workload& workload, bool watched) {
  std::optional<MemoryLedger> ledger;
  if (watched) ledger.emplace(node_names(workload.program));
  const std::unique_ptr<Session> session = bench::make_loaded(workload, ledger ? &*ledger : nullptr);
  std::cout << "ready" << std::endl;
  int64_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    const bench::Used amount =
        bench::used_by([&] { session->step({.number = number, .schedule_step = number, .lr = {}, .only_phase = {}}); });
    std::cout << Json(amount).dump() << std::endl;
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
  // --threads says
  out.erase("OMP_NUM_THREADS");
  out.erase("MKL_NUM_THREADS");
  return out;
}

class Side {
 public:
  Side(const std::vector<std::string>& arguments, bool watched) : child_(options(arguments, watched)) { answer(); }
  void step() {
    child_.write_line("step", kPatience);
    steps_.push_back(parse_json(answer(), "the child").get<bench::Used>());
  }
  bench::Used mean() const {
    bench::Used sum{};
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
  std::vector<bench::Used> steps_;
};

bench::Pair round(std::vector<std::string> arguments, int64_t number, int64_t steps) {
  std::minstd_rand random(static_cast<uint32_t>(number + 1));
  arguments.insert(arguments.end(), {"--heap-begins", cat(16 + random() % (1 << 16))});
  Side clean(arguments, false), watched(arguments, true);
  for (int64_t step = 0; step < steps; ++step) {
    if ((number + step) % 2 == 0) {
      clean.step();
      watched.step();
    } else {
      watched.step();
      clean.step();
    }
  }
  return {.without = clean.mean(), .with = watched.mean()};
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags = bench::flags(argc, argv);
  if (flags.contains("watched")) {
    const std::vector<char> first_block(std::stoul(flags.at("heap-begins")));
    return take_steps(bench::workload_from(flags, ImageLayout::kNhwc), flags.at("watched") == "1");
  }
  const auto number = [&](const char* name, int64_t otherwise) {
    return flags.contains(name) ? std::stoll(flags.at(name)) : otherwise;
  };
  std::vector<bench::Pair> rounds;
  for (int64_t i = 0; i < number("rounds", 9); ++i) rounds.push_back(round({argv, argv + argc}, i, number("steps", 6)));
  std::cout << bench::cost_of(rounds).dump() << std::endl;
}
