// The built program as a person runs it, with workers that misbehave: exit codes, signals, who may write where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "cli/command.h"
#include "processes_of.h"
#include "record/reader.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using cli::kBadUsage;
using cli::kCellFailed;
using cli::kDone;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kLongEnough = 120;  // seconds, of a command on a busy machine

class TheProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(TBD_PROGRAM)) GTEST_SKIP() << "NO PROGRAM: " << TBD_PROGRAM << " is not built";
  }

  // The framework's worker from now on; `rest` are further arguments of fake_worker.py.
  void behave(const std::string& framework, const std::string& behaviour, const std::string& rest = "") {
    const fs::path script = path(framework + ".sh");
    write_file(script,
               cat("#!/bin/sh\nexec python3 ", TBD_SOURCE_DIR, "/tests/fake_worker.py ", behaviour, " ", rest, "\n"));
    fs::permissions(script, fs::perms::owner_all);
    workers_[framework] = {{"framework", framework}, {"framework_version", "1"}, {"worker", script.string()}};
    write_file(path("workers.json"), Json{{"version", 1}, {"workers", workers_}}.dump());
  }
  fs::path path(const std::string& name) const { return folder_.path() / name; }

  std::string quoted(const std::vector<std::string>& arguments) const {
    std::string command = cat("'", TBD_PROGRAM, "'");
    for (const std::string& each : arguments) command += cat(" '", each, "'");
    return command;
  }
  // A shell with the program's environment in the test's folder; stdout and stderr go to files of `name`.
  std::unique_ptr<Subprocess> begin(const std::string& command, const std::string& name = "said") const {
    const std::map<std::string, std::string> environment = {
        {"PATH", "/usr/bin:/bin"}, {"HOME", folder_.path().string()}, {"TBD_WORKERS", path("workers.json").string()}};
    const std::string line =
        cat("cd '", folder_.path().string(), "' && exec >", name, ".out 2>", name, ".err && ", command);
    return std::make_unique<Subprocess>(
        SpawnOptions{.argv = {"/bin/bash", "-c", line}, .environment = environment, .stderr_file = {}, .cpus = {}});
  }
  int run(const std::string& command, const std::string& name = "said") const {
    const std::optional<ExitStatus> status = begin(command, name)->wait(kLongEnough);
    return status ? status->code.value_or(-1) : -2;
  }
  int tbd(const std::vector<std::string>& arguments) const { return run(quoted(arguments)); }
  std::string out(const std::string& name = "said") const { return read_file(path(name + ".out")); }
  std::string err(const std::string& name = "said") const { return read_file(path(name + ".err")); }

  static std::vector<std::string> smoke(const std::string& set, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"run",      "resnet50", "--config",   "tiny",       "--batch", "2",
                                          "--effort", "smoke",    "--no-check", "--no-peaks", "--out",   set};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  // Until stderr holds the words; false where it never does.
  bool said(const std::string& words, const std::string& name = "said") const {
    for (int i = 0; i < 600; ++i) {
      if (fs::exists(path(name + ".err")) && err(name).find(words) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  // Sends the signal to the program itself and returns how long it goes on.
  double seconds_to_end(Subprocess& process, int signal) const {
    const auto began = std::chrono::steady_clock::now();
    ::kill(process.pid(), signal);
    status_ = process.wait(kLongEnough);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }

  TemporaryFolder folder_{"tbd-command"};
  Json workers_ = Json::object();
  mutable std::optional<ExitStatus> status_;
};

TEST_F(TheProgram, ExitCodeReportsThatNoWorkloadHasANumber) {
  behave("pytorch", "good");
  EXPECT_EQ(tbd(smoke("good")), kDone) << err();
  EXPECT_EQ(tbd(smoke("device", {"--device", "cuda:0"})), kCellFailed);
  EXPECT_EQ(tbd(smoke("precision", {"--precision", "tf32"})), kCellFailed);
  EXPECT_EQ(tbd(smoke("mode", {"--mode", "xla"})), kCellFailed);
  EXPECT_EQ(tbd(smoke("absent", {"--framework", "mxnet"})), kCellFailed);
  EXPECT_EQ(tbd(smoke("one of two", {"--precision", "fp32,tf32"})), kDone);
  behave("pytorch", "unsupported");
  EXPECT_EQ(tbd(smoke("node")), kCellFailed);
}

TEST_F(TheProgram, MeasuresAnExchangeBySize) {
  behave("pytorch", "exchanging");
  const std::vector<std::string> link = {"link", "--sizes", "1KiB,100kB,1MB,10MB", "--out", "link.json"};
  ASSERT_EQ(tbd(link), kDone) << err();
  EXPECT_THAT(
      out(),
      AllOf(
          HasSubstr("All-reduce between 2 workers of pytorch 1 by gloo"),
          HasSubstr("Between 2 workers S bytes take 200 us + S / 954 MiB/s in fp32; no size is more than 0.100 % off."),
          HasSubstr("does not tell the wire (beta) from the adding (gamma)")));
  const Json kept = parse_json(read_file(path("link.json")), "link.json");
  EXPECT_EQ(kept["version"], 1);
  EXPECT_EQ(kept["engine"], "gloo");
  EXPECT_EQ(kept["sizes"][3]["bytes"], 10'000'000);
  EXPECT_EQ(kept["sizes"][3]["times_ns"], Json(std::vector<int64_t>(200, 10'200'000)));
  EXPECT_EQ(kept["sizes"][3]["busy_ns"], 2'500'000);
  EXPECT_TRUE(kept["environment"].contains("cpu"));
  ASSERT_EQ(tbd({"link", "--sizes", "1kB,2kB", "--json"}), kDone) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("\"bytes\":1000"), HasSubstr("\"busbw\":"),
                           HasSubstr("\"withheld\":\"A law needs 3 sizes of each type")));
}

TEST_F(TheProgram, NamesWhatKeepsWorkersFromAnExchange) {
  behave("pytorch", "good");
  EXPECT_EQ(tbd({"link"}), kCellFailed);
  EXPECT_THAT(err(), HasSubstr("the worker of pytorch trains on one rank alone"));
  EXPECT_EQ(tbd({"link", "--framework", "tensorflow"}), kCellFailed);
  EXPECT_THAT(err(), HasSubstr("tensorflow"));
  behave("pytorch", "uneven");
  EXPECT_EQ(tbd({"link", "--sizes", "1kB"}), kCellFailed);
  EXPECT_THAT(err(), HasSubstr("the ranks timed different numbers of exchanges"));
  behave("pytorch", "killed-at-link");
  EXPECT_EQ(tbd({"link", "--sizes", "1kB,2kB"}), kCellFailed);
  EXPECT_THAT(err(), HasSubstr("rank 1 of 2: the worker of pytorch was killed by signal 9"));
  EXPECT_THAT(out(), AllOf(HasSubstr("1000 B"), Not(HasSubstr("2.0 KiB")))) << "what was measured before it";
}

TEST_F(TheProgram, EndsAnExchangeThatIsInterrupted) {
  behave("pytorch", "slow-link");
  const auto process = begin("exec " + quoted({"link"}));
  ASSERT_TRUE(said("link: 256 B of fp32")) << err();
  EXPECT_LT(seconds_to_end(*process, SIGINT), 5);
  EXPECT_EQ(status_->code, kCellFailed);
  EXPECT_THAT(err(), HasSubstr("interrupted"));
}

// The row of a table in JSON whose `key` is `value`.
Json row_of(const std::string& lines, const std::string& key, const std::string& value) {
  for (const std::string& line : split(lines, '\n'))
    if (!line.empty())
      if (const Json row = parse_json(line, "row"); row.contains(key) && row[key] == value) return row;
  return {};
}

TEST_F(TheProgram, TunesAroundWorkersThatCrashAndHang) {
  behave("pytorch", "tunable", "0.02");
  ASSERT_EQ(tbd({"tune", "resnet50", "--config", "tiny", "--batch", "2", "--threads", "1", "--device", "cpu",
                 "--seconds", "0.4", "--pairs", "3", "--budget", "100", "--out", "tuned", "--json"}),
            kDone)
      << err();
  const Json active = row_of(out(), "remedy", "wait=active");
  EXPECT_EQ(active["state"], "won") << out();
  EXPECT_NEAR(at<double>(active, "gain"), 2, 0.4);
  const Json killed = row_of(out(), "remedy", "wait=framework");
  EXPECT_EQ(killed["state"], "failed, round 1") << out();
  EXPECT_THAT(at<std::string>(killed, "reason"), HasSubstr("killed by signal 9"));
  const Json hung = row_of(out(), "remedy", "affinity=thread");
  EXPECT_THAT(at<std::string>(hung, "reason"), HasSubstr("timeout: ")) << out();
  const Json layout = row_of(out(), "remedy", "layout=nhwc");
  EXPECT_EQ(layout["state"], "refused") << "this worker computes nothing: " << out();
  const Json winner = row_of(out(), "winner", "wait=active");
  ASSERT_FALSE(winner.empty()) << out();
  EXPECT_EQ(winner["verdict"], "faster");
  const std::string again = at<std::string>(winner, "command");
  ASSERT_TRUE(again.starts_with("tbd run --like ")) << again;
  EXPECT_EQ(read_record(path(again.substr(15))).run.request.wait, WaitPolicy::kActive);
  EXPECT_EQ(find_records(path("tuned/final")).size(), 2u);
}

TEST_F(TheProgram, TuneSaysWhatItNeeds) {
  behave("pytorch", "good");
  EXPECT_EQ(tbd({"tune", "resnet50", "--config", "tiny", "--budget", "20s"}), kBadUsage);
  EXPECT_THAT(err(), HasSubstr("a budget of 20.0 s is too short: with launches of 4.00 s a race of one remedy and 3 "
                               "pairs at the end take at least"));
  EXPECT_EQ(tbd({"tune", "resnet50", "--batch", "2,4"}), kBadUsage);
  EXPECT_THAT(err(), HasSubstr("tune takes one workload, got 2"));
  EXPECT_EQ(tbd({"tune", "resnet50", "--allow", "bf61"}), kBadUsage);
  EXPECT_THAT(err(), HasSubstr("unknown remedy 'bf61'; known: bf16, tf32, fp16, batch"));
  behave("pytorch", "crash-at-load");
  EXPECT_EQ(tbd({"tune", "resnet50", "--config", "tiny", "--out", "crashed"}), kCellFailed);
  EXPECT_THAT(err(), HasSubstr("failed: "));
}

// A driver that answers by a script, under the name that the program loads.
constexpr const char* kWithDriver = "LD_LIBRARY_PATH='" TBD_BINARY_DIR "/scripted' TBD_SCRIPTED_NVML=driver ";

TEST_F(TheProgram, ReadsGpusInTheDoctor) {
  write_file(path("driver"),
             "nvmlDeviceGetCount_v2 2\n0 nvmlDeviceGetName NVIDIA T4\n0 nvmlDeviceGetPersistenceMode 0\n"
             "1 nvmlDeviceGetName NVIDIA L4\n1 nvmlDeviceGetMemoryInfo !15\n");
  ASSERT_EQ(run(kWithDriver + quoted({"doctor", "--format", "csv"})), kDone) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("GPU 0,true,NVIDIA T4"), HasSubstr("nvidia-smi -i 0 -pm 1"),
                           HasSubstr("NVIDIA L4"), HasSubstr("memory unknown: the device has fallen off the bus")));
}

TEST_F(TheProgram, NamesTheDeviceOfAutoInItsFirstLine) {
  behave("pytorch", "good");  // on the CPU alone
  write_file(path("driver"), "nvmlDeviceGetCount_v2 1\n0 nvmlDeviceGetName NVIDIA T4\n");
  ASSERT_EQ(run(kWithDriver + quoted(smoke("set", {"--device", "auto,cpu"}))), kDone) << err();
  EXPECT_TRUE(err().starts_with("tbd: --device auto: pytorch runs on cpu; its worker cannot use the GPU")) << err();
  const std::vector<fs::path> records = find_records(path("set"));
  ASSERT_EQ(records.size(), 1u) << "auto and cpu are one workload";
  EXPECT_EQ(read_record(records[0]).run.request.device, Device::kCpu);
}

TEST_F(TheProgram, SamplesTheGpuThatAWorkerTrainsOn) {
  behave("pytorch", "on-gpu", "0.15");
  write_file(path("driver"),
             "nvmlDeviceGetCount_v2 1\n0 nvmlDeviceGetName NVIDIA T4\n0 nvmlDeviceGetUtilizationRates 90 40\n"
             "0 nvmlDeviceGetPowerUsage 70000\n0 nvmlDeviceGetCurrentClocksThrottleReasons 4\n");
  ASSERT_EQ(run(kWithDriver + quoted(smoke("node"))), kDone) << err();
  EXPECT_TRUE(err().starts_with("tbd: --device auto: pytorch runs on cuda:0; NVIDIA T4 answers")) << err();
  const std::vector<fs::path> records = find_records(path("node"));
  ASSERT_EQ(records.size(), 1u);
  const Record record = read_record(records[0]);
  EXPECT_EQ(record.run.request.device, Device("cuda:0"));
  EXPECT_THAT(record.run.flags, testing::Contains("throttled"));
  ASSERT_TRUE(record.launches.at(0).info.gpu.has_value());
  const Json& gpu = **record.launches[0].info.gpu;
  EXPECT_EQ(gpu["name"], "NVIDIA T4");
  EXPECT_NEAR(gpu["use"]["util_gpu"]["mean"], 0.9, 1e-12) << gpu.dump();
  EXPECT_EQ(gpu["use"]["power_w"]["peak"], 70);
  EXPECT_GT(gpu["use"]["energy_joules"], 0) << "power over the time of the steps";
  EXPECT_TRUE(fs::exists(launch_folder(record, record.launches[0]) / "gpu.csv"));
}

TEST_F(TheProgram, MeasuresThePeaksOfTheGpuThatAWorkerTrainsOn) {
  behave("pytorch", "on-gpu", "0.15");
  write_file(path("driver"), "nvmlDeviceGetCount_v2 1\n0 nvmlDeviceGetName NVIDIA T4\n0 nvmlDeviceGetUUID GPU-1\n");
  write_file(path("gpu"),
             cat("capability 75\nmultiprocessors 40\nspeed.fma_fp32 1e9\nlog ", path("calls").string(), "\n"));
  std::vector<std::string> arguments = smoke("node", {"--device", "cuda:0"});
  std::erase(arguments, "--no-peaks");
  const std::string with_gpu = cat(kWithDriver, "TBD_SCRIPTED_CUDA='0 1 ", path("gpu").string(), "' ");
  ASSERT_EQ(run(with_gpu + quoted(arguments)), kDone) << err();
  const Json peaks = read_record(find_records(path("node")).at(0)).run.peaks;
  EXPECT_NEAR(peaks["isa"]["fp32"].get<double>(), 1e9 * 1024, 1e7) << peaks.dump(1);
  EXPECT_EQ(peaks["before"]["gpu"]["compute_capability"], "7.5");
  EXPECT_NEAR(peaks["drift"].get<double>(), 0, 1e-3) << "the second process saw the same device";
  EXPECT_EQ(read_file(path("calls")).find("release, 1"), std::string::npos);
  ASSERT_EQ(run(cat("TBD_SCRIPTED_CUDA='100 0' ", kWithDriver, quoted({"run", "--resume", "node", "--again", "ok"}))),
            kDone)
      << err();
  EXPECT_EQ(read_record(find_records(path("node")).at(0)).run.peaks->at("reason"),
            "no CUDA-capable device is detected (cuInit: 100)");
}

TEST_F(TheProgram, PrintsThePeaksOfAGpuToThoseWhoAsk) {
  ASSERT_EQ(run(cat(kWithDriver, "TBD_SCRIPTED_CUDA='0 1' ", quoted({"gpu-peaks", "--format", "csv"}))), kDone)
      << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("fma_fp32,fp32,vector,"), HasSubstr("triad,bytes,memory,")));
  EXPECT_EQ(run(cat(kWithDriver, "TBD_SCRIPTED_CUDA='0 0' ", quoted({"gpu-peaks", "--json"}))), kCellFailed);
  EXPECT_EQ(err(), "tbd: error: invalid device ordinal (cuDeviceGet: 101)\n");
  EXPECT_EQ(run(quoted({"gpu-peaks", "--device", "cpu"})), kBadUsage);
  ASSERT_EQ(run(quoted({"--help"})), kDone);
  EXPECT_THAT(out(), Not(HasSubstr("gpu-peaks")));
}

TEST_F(TheProgram, GivesEachOfSeveralWorkersAGpuOfItsOwn) {
  write_file(path("driver"), "nvmlDeviceGetCount_v2 2\n0 nvmlDeviceGetName NVIDIA T4\n1 nvmlDeviceGetName NVIDIA T4\n");
  const auto two_from = [&](const std::string& set, const std::string& first) {
    return run(kWithDriver + quoted(smoke(set, {"--device", first, "--workers", "2", "--oversubscribe"})));
  };
  behave("pytorch", "two-gpu", "0.05");
  ASSERT_EQ(two_from("both", "cuda:0"), kDone) << err();
  const Record record = read_record(find_records(path("both")).at(0));
  for (const char* rank : {"0", "1"})
    EXPECT_THAT(read_file(launch_folder(record, record.launches.at(0)) / cat("rank-", rank) / "worker.log"),
                HasSubstr(cat("trains on cuda:", rank)));
  EXPECT_EQ(two_from("beyond", "cuda:1"), kCellFailed);
  EXPECT_THAT(read_record(find_records(path("beyond")).at(0)).run.outcome.reason,
              HasSubstr("rank 1 of 2 would train on cuda:2, and its worker offers cpu, cuda:0, cuda:1"));
  behave("pytorch", "apart-gpu", "0.05");
  EXPECT_EQ(two_from("apart", "cuda:0"), kCellFailed);
  EXPECT_THAT(
      read_record(find_records(path("apart")).at(0)).run.outcome.reason,
      HasSubstr("workers on GPUs sum by nccl, which the worker of pytorch does not offer: there is no library"));
}

TEST_F(TheProgram, GoesOnWhenTheDriverLosesTheGpu) {
  behave("pytorch", "on-gpu", "0.15");
  write_file(path("driver"), "nvmlDeviceGetCount_v2 1\n0 nvmlDeviceGetName NVIDIA T4\n0 lost-after 30\n");
  ASSERT_EQ(run(kWithDriver + quoted(smoke("node", {"--device", "cuda:0"}))), kDone) << err();
  const Record record = read_record(find_records(path("node")).at(0));
  ASSERT_TRUE(record.launches.at(0).info.gpu.has_value());
  EXPECT_THAT((**record.launches[0].info.gpu)["ended"], HasSubstr("fallen off the bus"));
}

TEST_F(TheProgram, SaysWhoFillsTheMemoryOfAGpuAndGoesOn) {
  behave("pytorch", "full-gpu", "0.05");
  write_file(path("driver"),
             "nvmlDeviceGetCount_v2 1\n0 nvmlDeviceGetName NVIDIA T4\n"
             "0 nvmlDeviceGetMemoryInfo 17179869184 12884901888\n"
             "0 nvmlDeviceGetComputeRunningProcesses_v3 4242:12616466432\n");
  EXPECT_EQ(run(kWithDriver + quoted(smoke("set", {"--device", "cuda:0", "--batch", "8,4"}))), kDone) << err();
  std::map<int64_t, Outcome> outcomes;
  for (const fs::path& record : find_records(path("set"))) {
    const auto run_of = read_record(record).run;
    outcomes[run_of.request.batch] = run_of.outcome;
  }
  EXPECT_EQ(outcomes[8].kind, OutcomeKind::oom);
  EXPECT_THAT(outcomes[8].reason,
              HasSubstr("CUDA out of memory; without it 12.0 GiB of 16.0 GiB of the device are taken "
                        "(process 4242: 11.8 GiB)"));
  EXPECT_EQ(outcomes[4].kind, OutcomeKind::ok);
}

TEST_F(TheProgram, NamesTheNodeOfAFaultOfTheGpuAndGoesOn) {
  behave("pytorch", "broken-gpu", "0.05");
  write_file(path("driver"), "nvmlDeviceGetCount_v2 1\n0 nvmlDeviceGetName NVIDIA T4\n");
  EXPECT_EQ(run(kWithDriver + quoted(smoke("set", {"--device", "cuda:0", "--batch", "8,4"}))), kCellFailed) << err();
  std::map<int64_t, Outcome> outcomes;
  for (const fs::path& record : find_records(path("set"))) {
    const auto run_of = read_record(record).run;
    outcomes[run_of.request.batch] = run_of.outcome;
  }
  EXPECT_EQ(outcomes[8].kind, OutcomeKind::failed);
  EXPECT_THAT(outcomes[8].reason, AllOf(HasSubstr("at conv2d 'layer1.0.conv1'"), HasSubstr("uncorrectable ECC error")));
  EXPECT_EQ(outcomes[4].kind, OutcomeKind::ok) << outcomes[4].reason;
}

TEST_F(TheProgram, ImpossibleStampsFailTheirRowAlone) {
  behave("mxnet", "good");
  for (const char* behaviour : {"equal-stamps", "backward-stamps", "huge-stamps", "skipped-steps"}) {
    behave("pytorch", behaviour);
    EXPECT_EQ(tbd(smoke(behaviour, {"--framework", "pytorch,mxnet"})), kCellFailed) << behaviour;
    EXPECT_THAT(err(), HasSubstr("failed: the worker reported")) << behaviour;
    EXPECT_THAT(out(), HasSubstr("mxnet")) << behaviour;
    std::vector<UnreadableRecord> unreadable;
    const std::vector<fs::path> set = {path(behaviour)};
    std::map<std::string, OutcomeKind> outcomes;
    for (const Record& record : read_records(set, unreadable))
      outcomes[record.run.workload.framework] = record.run.outcome.kind;
    EXPECT_EQ(outcomes["pytorch"], OutcomeKind::failed);
    EXPECT_EQ(outcomes["mxnet"], OutcomeKind::ok);
    EXPECT_TRUE(unreadable.empty());
  }
}

TEST_F(TheProgram, ClosedOutputPipeIsNoError) {
  EXPECT_EQ(run(cat("set -o pipefail; ", quoted({"list"}), " | head -c 1")), kDone);
  EXPECT_EQ(err(), "");
  EXPECT_EQ(run(cat(quoted({"list"}), " > /dev/full")), kCellFailed);
  EXPECT_THAT(err(), HasSubstr("cannot write the result to stdout"));
}

TEST_F(TheProgram, ASecondProcessOnASetIsRefusedAndHarmsNothing) {
  behave("pytorch", "ignores-stop");
  std::vector<std::string> arguments = smoke("set");
  arguments.insert(arguments.end(), {"--limit", "5s"});
  const auto first = begin(cat("exec ", quoted(arguments)), "first");
  ASSERT_TRUE(said("steps", "first")) << err("first");
  EXPECT_EQ(tbd({"run", "--resume", "set"}), kBadUsage);
  EXPECT_THAT(err(), HasSubstr(cat("is being written by process ", first->pid(), " on ")));
  EXPECT_EQ(tbd(smoke("set")), kBadUsage);
  EXPECT_EQ(first->wait(kLongEnough)->code, kDone) << err("first");
  EXPECT_EQ(tbd({"run", "--resume", "set"}), kDone) << err();
}

TEST_F(TheProgram, ASetWhoseProcessWasKilledGoesOn) {
  behave("pytorch", "ignores-stop");
  std::vector<std::string> arguments = smoke("set");
  arguments.insert(arguments.end(), {"--limit", "60s"});
  const auto first = begin(cat("exec ", quoted(arguments)), "first");
  ASSERT_TRUE(said("steps", "first")) << err("first");
  seconds_to_end(*first, SIGKILL);
  behave("pytorch", "good");
  EXPECT_EQ(tbd({"run", "--resume", "set"}), kDone) << err();
}

TEST_F(TheProgram, RunsOfOneSecondGetFoldersOfTheirOwn) {
  behave("pytorch", "good");
  const std::string one = quoted({"memory", "resnet50", "--config", "tiny", "--batch", "2", "--effort", "smoke"});
  run(cat("for i in 1 2 3 4; do ", one, " 2>$i.err & done; wait"));
  for (const char* i : {"1.err", "2.err", "3.err", "4.err"}) {
    EXPECT_THAT(read_file(path(i)), HasSubstr("records: results/"));
    EXPECT_THAT(read_file(path(i)), Not(HasSubstr("holds a record")));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(path("results")), {}), 4);
}

TEST_F(TheProgram, AResumedSetKeepsItsOptions) {
  behave("pytorch", "good");
  EXPECT_EQ(tbd(smoke("set")), kDone) << err();
  EXPECT_THAT(read_file(path("set/cells.plan")), AllOf(HasSubstr("peaks = no\n"), HasSubstr("check = no\n")));
  for (const auto& record : find_records(path("set"))) fs::remove_all(record);
  EXPECT_EQ(tbd({"run", "--resume", "set"}), kDone) << err();
  EXPECT_THAT(err(), Not(HasSubstr("peaks")));
}

TEST_F(TheProgram, ItEndsWithinASecondOrSoOfASignal) {
  behave("pytorch", "ignores-stop", "30");  // a step of half a minute
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string set = cat("set-", signal);
    const auto process = begin(cat("exec ", quoted(smoke(set))), set);
    ASSERT_TRUE(said("first step", set)) << err(set);
    EXPECT_LT(seconds_to_end(*process, signal), 5) << signal;
    ASSERT_TRUE(status_ && status_->code) << signal;
    EXPECT_EQ(*status_->code, kCellFailed) << signal;
    EXPECT_THAT(err(set), HasSubstr("'tbd run --resume")) << signal;
    EXPECT_EQ(read_record(find_records(path(set)).at(0)).run.outcome.kind, OutcomeKind::interrupted) << signal;
  }
}

TEST_F(TheProgram, PeaksEndOnASignalToo) {
  behave("pytorch", "good");
  std::vector<std::string> arguments = smoke("set");
  std::erase(arguments, "--no-peaks");
  const auto process = begin(cat("exec ", quoted(arguments)));
  ASSERT_TRUE(said("peaks")) << err();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(seconds_to_end(*process, SIGINT), 5);
  EXPECT_EQ(status_->code, kCellFailed);
}

TEST_F(TheProgram, AnInterruptedCheckPrintsTheVerdictsThatItHas) {
  behave("pytorch", "$(mkdir begun && echo exit-at-hello || echo hang-at-hello)");  // the second one hangs
  const auto process = begin(cat("exec ", quoted({"check", "--all"})));
  ASSERT_TRUE(said("squad_tiny: the reference")) << err();
  EXPECT_LT(seconds_to_end(*process, SIGINT), 5);
  EXPECT_EQ(status_->code, kCellFailed);
  EXPECT_THAT(err(), HasSubstr("check: interrupted after 1 of "));
  EXPECT_THAT(out(), AllOf(HasSubstr("bert"), HasSubstr("not checked")));
}

TEST_F(TheProgram, AWorkerThatSaysNothingIsNamed) {
  behave("pytorch", "hang-at-hello");
  const auto process = begin(cat("exec ", quoted(smoke("set"))));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(said("the worker of pytorch (process "));
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(), 15);
  seconds_to_end(*process, SIGINT);
}

TEST_F(TheProgram, ABadRecordDoesNotEndAReportOfOthers) {
  const fs::path records = fs::path(TBD_SOURCE_DIR) / "tests/golden/records/three";
  fs::copy(records, path("set"), fs::copy_options::recursive);
  const fs::path bad = find_records(path("set")).front();
  write_file(bad / "run.json", "{");
  EXPECT_EQ(tbd({"report", "set", "--format", "md"}), kDone);
  EXPECT_THAT(err(), AllOf(HasSubstr("skipped an unreadable record"), HasSubstr(bad.filename().string())));
  EXPECT_THAT(out(), AllOf(HasSubstr("Records that cannot be read"), HasSubstr("### Results")));
  EXPECT_EQ(tbd({"observe", "set"}), kDone);
  EXPECT_EQ(tbd({"report", (fs::path("set") / bad.filename()).string(), "--format", "md"}), kBadUsage);
}

// Two persons who report the same records: other homes, folders, caches, time zones and languages.
TEST_F(TheProgram, ReportsTheSameBytesWhateverSurroundsIt) {
  const std::string golden = cat(TBD_SOURCE_DIR, "/tests/golden");
  const std::string other = cat("cd '", golden, "' && HOME=/nowhere XDG_CACHE_HOME=/nowhere TBD_WORKERS=/nowhere ",
                                "TZ=Asia/Tokyo LC_ALL=de_DE.UTF-8 COLUMNS=40 ");
  for (const char* format : {"json", "csv", "md", "html"}) {
    const std::string mine = path(cat("mine.", format)), theirs = path(cat("theirs.", format));
    const int code = tbd({"report", golden + "/records/sweeps", "--format", format, "--out", mine});
    if (code == kBadUsage && std::string(format) == "html") GTEST_SKIP() << "NO PLOTLY: the page was not compared";
    ASSERT_EQ(code, kDone) << err();
    EXPECT_THAT(err(), Not(HasSubstr("check:"))) << "a report checks nothing";
    ASSERT_EQ(run(other + quoted({"report", "records/sweeps", "--format", format, "--out", theirs})), kDone) << err();
    EXPECT_TRUE(read_file(mine) == read_file(theirs)) << format;
  }
}

}  // namespace
}  // namespace tbd
