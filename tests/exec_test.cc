// `tbd exec` as a person runs it, on programs that train, and on some that do all else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>

#include "analysis/cell.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "processes_of.h"
#include "record/reader.h"
#include "runner/exec/exec.h"
#include "runner/exec/watched_command.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr double kExecLongEnough = 120;  // seconds, of a command on a busy machine

// A shell's loop that tells of a step by a byte.
constexpr const char* kTorchvisionLoop =
    "import torch, torchvision\ntorch.set_num_threads(1)\n"
    "m = torchvision.models.squeezenet1_1(num_classes=10)\no = torch.optim.SGD(m.parameters(), lr=0.01)\n"
    "x, y = torch.randn(1, 3, 64, 64), torch.zeros(1, dtype=torch.long)\nwhile True:\n"
    "  o.zero_grad(); torch.nn.functional.cross_entropy(m(x), y).backward(); o.step()\n";
constexpr const char* kSteps = "while :; do sleep 0.02; printf . >&$TBD_STEP_FD; done";

class Exec : public testing::Test {
 protected:
  struct Said {
    ExitStatus status;
    std::string out, err;
  };

  void SetUp() override {
    if (!fs::exists(TBD_PROGRAM)) GTEST_SKIP() << "NO PROGRAM: " << TBD_PROGRAM << " is not built";
  }

  fs::path path(const std::string& name) const { return folder_.path() / name; }

  // `tbd WORDS` in the test's folder; words as a shell reads them.
  std::unique_ptr<Subprocess> begin_tbd(const std::string& words) const {
    const std::string line =
        cat("cd '", folder_.path().string(), "' && exec >said.out 2>said.err && exec '", TBD_PROGRAM, "' ", words);
    return std::make_unique<Subprocess>(SpawnOptions{.argv = {"/bin/bash", "-c", line}, .environment = environment_});
  }
  Said run_tbd(const std::string& words) const {
    const auto begun = begin_tbd(words);
    return said_by(*begun);
  }
  std::unique_ptr<Subprocess> begin(const std::string& arguments, const std::string& command) const {
    return begin_tbd(cat("exec --out set ", arguments, " -- ", command));
  }
  Said said_by(Subprocess& begun) const {
    const std::optional<ExitStatus> status = begun.wait(kExecLongEnough);
    return {status.value_or(ExitStatus()), read_file(path("said.out")), read_file(path("said.err"))};
  }
  Said exec(const std::string& arguments, const std::string& command) const {
    const auto begun = begin(arguments, command);
    return said_by(*begun);
  }
  // The row of a program that is measured.
  Json row(const std::string& arguments, const std::string& command) const {
    const Said said = exec(cat("--json ", arguments), command);
    EXPECT_TRUE(said.status.ok()) << said.status.words() << "\n" << said.err;
    return said.out.empty() ? Json::object() : parse_json(said.out, "row");
  }
  // The reason of a program that is not.
  std::string fault(const std::string& arguments, const std::string& command,
                    const std::string& outcome = "failed") const {
    const Said said = exec(cat("--json ", arguments), command);
    EXPECT_EQ(said.status.code, 3) << said.err;
    const Json row = parse_json(said.out, "row");
    EXPECT_EQ(row["outcome"], outcome);
    return row["reason"];
  }

  // A torch whose optimizer steps on a GPU, and a program that trains with it for ever.
  void write_program_of_a_gpu() const {
    fs::create_directories(path("modules/torch/optim"));
    write_file(path("modules/torch/__init__.py"), "__version__ = '2.1'\nfrom . import optim\n");
    write_file(path("modules/torch/optim/__init__.py"), "from . import optimizer\n");
    write_file(path("modules/torch/optim/optimizer.py"),
               "hooks = []\nregister_optimizer_step_post_hook = hooks.append\nclass P: device = 'cuda:0'\n"
               "class Optimizer:\n  param_groups = [{'params': [P]}]\n  def step(self):\n"
               "    for hook in hooks: hook(self, (), {})\n");
    write_file(path("train.py"),
               "import time, torch\no = torch.optim.optimizer.Optimizer()\nwhile True: time.sleep(0.02); o.step()\n");
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> environment_ = {
      {"PATH", "/usr/bin:/bin"}, {"HOME", folder_.path().string()}, {"PYTHONPATH", "modules"}};
};

TEST(ProgramName, IsThatOfTheScriptElseOfTheModuleElseOfTheProgram) {
  const auto name_of = [](const std::string& command) { return program_name(split(command, ' ')); };
  EXPECT_EQ(name_of("numactl -C 0 python3 -u src/train.py --data x"), "train.py");
  EXPECT_EQ(name_of("python3 -m trainer.main --lr 1"), "trainer.main");
  EXPECT_EQ(name_of("/opt/bin/train -m x data.bin"), "train");
}

TEST(HookFacts, PassOverLinesThatTheyDoNotKnow) {
  const HookFacts facts =
      hook_facts("python 3.11 7\nhooked keras\nhooked keras\n\nsteps\nx y\nsteps keras 7 3.1\nunho");
  EXPECT_EQ(facts.python, "3.11");
  EXPECT_THAT(facts.hooked, ElementsAre("keras"));
  EXPECT_EQ(facts.framework, "keras");
  EXPECT_EQ(facts.framework_version, "3.1");
  EXPECT_EQ(facts.device, "");
}

TEST_F(Exec, MeasuresAShellLoopByTheBytesThatItWrites) {
  const Json measured = row("--launches 2 --steps 20 --units 8 --unit images", cat("bash -c '", kSteps, "' train.sh"));
  EXPECT_EQ(measured["model"], "train.sh");
  EXPECT_EQ(measured["framework"], "external");
  EXPECT_EQ(measured["mode"], "external");
  EXPECT_EQ(measured["unit"], "images");
  EXPECT_EQ(measured["launches"], 2);
  EXPECT_GE(measured["steps"], 40);
  EXPECT_GE(measured["step_time_median"], 0.02);
  EXPECT_NEAR(measured["throughput"].get<double>() * measured["step_time_median"].get<double>(), 8, 4);
  for (const char* unknown : {"flop_rate", "mfu"}) {
    EXPECT_TRUE(measured[unknown].is_null());
    EXPECT_NE(measured["reasons"][unknown], "");
  }
  EXPECT_EQ(measured["repro"],
            cat("tbd exec --steps 20 --launches 2 --units 8 --unit images -- bash -c '", kSteps, "' train.sh"));
}

TEST_F(Exec, LeavesARecordWithWhatTheHostDid) {
  row("--launches 1 --seconds 1.5", cat("bash -c '", kSteps, "'"));
  const Record record = read_record(path("set/bash-external"));
  ASSERT_EQ(record.launches.size(), 1U);
  const Launch& launch = record.launches[0];
  EXPECT_EQ(record.run.parameters, std::nullopt);
  EXPECT_EQ(record.run.train_flops, std::nullopt);
  EXPECT_FALSE(launch.info.environment_hash.empty());
  EXPECT_GT(launch.info.peak_rss_bytes, 0);
  EXPECT_GT(launch.info.first_step_seconds, 0);
  EXPECT_TRUE(launch.info.host->contains("use"));
  ASSERT_GT(launch.steps.size(), 20U);
  EXPECT_TRUE(launch.steps.back().foreign_ns);
  EXPECT_TRUE(launch.steps[10].user_cpu_ns);
  const CellResult cell = summarize(record);
  EXPECT_TRUE(cell["cpu_utilization"].value) << cell["cpu_utilization"].reason;
}

TEST_F(Exec, MeasuresByLinesOfOutputAndShowsThem) {
  const Said said = exec("--json --launches 1 --steps 20 --step-regex '^step [0-9]+'",
                         "bash -c 'while :; do sleep 0.02; echo step $((++i)); echo loss 3 >&2; done'");
  EXPECT_TRUE(said.status.ok()) << said.err;
  EXPECT_GE(parse_json(said.out, "row")["steps"], 20);
  EXPECT_THAT(said.err, AllOf(HasSubstr("step 7\n"), HasSubstr("loss 3\n")));
}

TEST_F(Exec, TakesItsStepsFromTheHookOfAFramework) {
  write_program_of_a_gpu();
  const Json measured = row("--launches 1 --steps 20", "python3 train.py");
  EXPECT_EQ(measured["framework"], "pytorch");
  EXPECT_EQ(measured["framework_version"], "2.1");
  EXPECT_EQ(measured["device"], "cuda:0");
  EXPECT_EQ(measured["synchronisation"], "none");
  EXPECT_GE(measured["steps"], 20);
}

TEST_F(Exec, WatchesTheGpuThatItsHookNames) {
  write_program_of_a_gpu();
  environment_["LD_LIBRARY_PATH"] = TBD_BINARY_DIR "/scripted";
  environment_["TBD_SCRIPTED_NVML"] = "driver";
  write_file(path("driver"),
             "nvmlDeviceGetCount_v2 1\n0 nvmlDeviceGetName NVIDIA T4\n0 nvmlDeviceGetUtilizationRates 90 40\n"
             "0 nvmlDeviceGetPowerUsage 70000\n");
  const Said said = exec("--launches 1 --steps 80", "python3 train.py");
  ASSERT_TRUE(said.status.ok()) << said.err;
  EXPECT_THAT(said.out, StartsWith("train.py, cuda:0: pytorch trains "));
  EXPECT_THAT(said.out, HasSubstr("train.py pytorch  90.0 %")) << "of a batch nothing is known";
  const std::vector<fs::path> records = find_records(path("set"));
  ASSERT_EQ(records.size(), 1u);
  const Record record = read_record(records[0]);
  ASSERT_TRUE(record.launches.at(0).info.gpu.has_value());
  const Json& gpu = **record.launches[0].info.gpu;
  EXPECT_EQ(gpu["name"], "NVIDIA T4");
  EXPECT_NEAR(gpu["use"]["util_gpu"]["mean"], 0.9, 1e-12) << gpu.dump();
  EXPECT_TRUE(fs::exists(records[0] / "launches/clean-1/gpu.csv"));
}

TEST_F(Exec, MeasuresATorchvisionLoop) {
  const char* home = std::getenv("HOME");
  const fs::path python = fs::path(home ? home : "/") / ".cache/tbd/peers/bin/python";
  if (!fs::exists(python)) GTEST_SKIP() << "NO PYTORCH: " << python << " is not there";
  write_file(path("train.py"), kTorchvisionLoop);
  const Json measured = row("--launches 1 --steps 10", cat(python.string(), " train.py"));
  EXPECT_EQ(measured["framework"], "pytorch");
  EXPECT_EQ(measured["device"], "cpu");
  EXPECT_GE(measured["steps"], 10);
}

TEST_F(Exec, AProgramThatEndsByItselfIsMeasuredUntilThen) {
  const Json measured =
      row("--launches 1 --seconds 60", "bash -c 'for i in {1..40}; do sleep 0.02; printf . >&$TBD_STEP_FD; done'");
  EXPECT_EQ(measured["steps_total"], 40);
}

TEST_F(Exec, SecondCommandsOfOneSetGetFoldersOfTheirOwn) {
  row("--launches 1 --steps 3", cat("bash -c '", kSteps, "'"));
  row("--launches 1 --steps 3", cat("bash -c '", kSteps, "'"));
  EXPECT_EQ(find_records(path("set")).size(), 2U);
}

TEST_F(Exec, SaysWhereItLookedForTheStepsOfAProgramThatNeverSteps) {
  EXPECT_THAT(fault("", "true"), AllOf(HasSubstr("exited with code 0 before its first step"),
                                       HasSubstr("no byte came on descriptor 7 (TBD_STEP_FD)"),
                                       HasSubstr("no Python read the hooks for PyTorch, Keras and MXNet")));
  EXPECT_THAT(fault("", "python3 -c 'import os'"), HasSubstr("imported none of PyTorch, Keras and MXNet"));
  EXPECT_THAT(fault("--step-regex x", "true"), HasSubstr("no line of its output matched --step-regex"));
  EXPECT_THAT(fault("--timeout 0.5", "sleep 60", "timeout"), HasSubstr("no step in 500 ms"));
}

TEST_F(Exec, AFrameworkWhoseHookIsAbsentIsNamed) {
  fs::create_directories(path("modules/torch/optim"));
  write_file(path("modules/torch/__init__.py"), "from .optim import optimizer\n");
  write_file(path("modules/torch/optim/__init__.py"), "");
  write_file(path("modules/torch/optim/optimizer.py"), "");
  EXPECT_THAT(fault("", "python3 -c 'import torch'"),
              AllOf(HasSubstr("a framework takes no hook: pytorch AttributeError"),
                    HasSubstr("register_optimizer_step_post_hook")));
}

TEST_F(Exec, OneStepIsNotEnough) {
  EXPECT_THAT(fault("", "bash -c 'printf . >&$TBD_STEP_FD'"), HasSubstr("ended after one step"));
}

TEST_F(Exec, AnEndThatIsAnErrorIsOne) {
  EXPECT_THAT(fault("", "bash -c 'for i in 1 2 3; do sleep 0.01; printf . >&$TBD_STEP_FD; done; exit 5'"),
              HasSubstr("the program exited with code 5 after 3 steps"));
  EXPECT_THAT(fault("", "bash -c 'kill -9 $$'"), HasSubstr("killed by signal 9 (Killed) before its first step"));
}

TEST_F(Exec, AProgramThatClosesItsDescriptorIsGivenUpAndToldWhy) {
  EXPECT_THAT(fault("--timeout 1", "bash -c 'printf .. >&$TBD_STEP_FD; exec 7>&-; exec sleep 60'", "timeout"),
              HasSubstr("no step for 1.00 s after 2 steps; it has closed descriptor 7 (TBD_STEP_FD)"));
}

TEST_F(Exec, NothingOfAProgramThatForksAndIgnoresSignalsIsLeft) {
  write_file(path("marked-fork.sh"), cat("trap '' TERM\n(trap '' TERM; while :; do sleep 0.1; done) &\n", kSteps));
  row("--launches 1 --steps 5", "bash marked-fork.sh");
  EXPECT_THAT(processes_of("marked-fork.sh"), ElementsAre());
}

TEST_F(Exec, AGigabyteOfOutputIsNoTrouble) {
  const std::string program = "bash -c 'head -c 1G /dev/zero; printf .. >&$TBD_STEP_FD; echo; echo step; echo step'";
  const auto to_nowhere = [&](const std::string& arguments) {
    const auto begun = begin(arguments, program + " 2>/dev/null");
    return said_by(*begun);
  };
  EXPECT_EQ(parse_json(to_nowhere("--json --launches 1 --effort smoke").out, "row")["steps_total"], 2);
  const Said by_lines = to_nowhere("--json --launches 1 --effort smoke --step-regex ^step");
  EXPECT_EQ(parse_json(by_lines.out, "row")["steps_total"], 2);
}

TEST_F(Exec, StepsThatAreToldAtOnceAreMarked) {
  const Json measured =
      row("--launches 1 --seconds 1", "bash -c 'while :; do sleep 0.05; printf .... >&$TBD_STEP_FD; done'");
  EXPECT_THAT(measured["flags"].dump(), HasSubstr("bunched-steps"));
  EXPECT_LT(measured["step_time_median"], 0.05);
}

TEST_F(Exec, AnInterruptEndsTheProgramAndKeepsWhatWasMeasured) {
  const auto begun = begin("--json --launches 1", cat("bash -c '", kSteps, "' marked-interrupt"));
  while (!fs::exists(path("set/bash-external/launches/clean-1/steps.csv"))) usleep(10'000);
  usleep(1'000'000);
  ::kill(begun->pid(), SIGINT);
  const Said said = said_by(*begun);
  EXPECT_EQ(said.status.code, 3);
  EXPECT_EQ(parse_json(said.out, "row")["outcome"], "interrupted");
  EXPECT_GT(parse_json(said.out, "row")["steps_total"], 0);
  EXPECT_THAT(processes_of("marked-interrupt"), ElementsAre());
}

TEST_F(Exec, BadUsageIsRefusedBeforeAnythingIsWritten) {
  const auto refused = [&](const std::string& arguments, const std::string& command) {
    const Said said = exec(arguments, command);
    EXPECT_EQ(said.status.code, 2) << said.err;
    return said.err;
  };
  EXPECT_THAT(refused("", ""), HasSubstr("exec needs a command behind --"));
  EXPECT_THAT(refused("", "no-such-program"), HasSubstr("'no-such-program': no such program in PATH"));
  EXPECT_THAT(refused("--step-regex '('", "true"), HasSubstr("is no extended regular expression"));
  EXPECT_THAT(refused("--units 0", "true"), HasSubstr("--units must be above 0, got 0"));
  EXPECT_THAT(refused("--steps 0", "true"), HasSubstr("--steps needs a positive whole number"));
  EXPECT_FALSE(fs::exists(path("set")));
}

// A framework of a few lines whose profiler writes what torch.profiler would, and a loop that trains `steps` steps.
class ProfileExec : public Exec {
 protected:
  void add_torch() const {
    fs::create_directories(path("modules/torch/optim"));
    fs::create_directories(path("modules/torch/autograd"));
    write_file(path("modules/torch/__init__.py"),
               "__version__ = '2.1'\nfrom . import autograd, optim, profiler\n"
               "class cuda: is_initialized = staticmethod(lambda: False)\n");
    write_file(path("modules/torch/optim/__init__.py"), "from . import optimizer\n");
    write_file(path("modules/torch/optim/optimizer.py"),
               "hooks = []\nregister_optimizer_step_post_hook = hooks.append\nclass P: device = 'cpu'\n"
               "class Optimizer:\n  param_groups = [{'params': [P]}]\n  def step(self):\n"
               "    for hook in hooks: hook(self, (), {})\n");
    write_file(path("modules/torch/autograd/__init__.py"), "from . import profiler\n");
    write_file(path("modules/torch/autograd/profiler.py"),
               "import time\nevents = None\nclass record_function:\n  cat = 'user_annotation'\n"
               "  def __init__(self, name): self.name = name\n"
               "  def __enter__(self): self.begin = time.perf_counter_ns()\n"
               "  def __exit__(self, *_):\n    if events is not None:\n"
               "      events.append({'ph': 'X', 'cat': self.cat, 'name': self.name, 'pid': 1, 'tid': 1,\n"
               "        'ts': self.begin / 1000, 'dur': (time.perf_counter_ns() - self.begin) / 1000})\n"
               "class op(record_function): cat = 'cpu_op'\n");
    write_file(path("modules/torch/profiler.py"),
               "import gzip, json\nfrom .autograd import profiler as ranges\n"
               "class ProfilerActivity: CPU, CUDA = 1, 2\nclass profile:\n"
               "  def __init__(self, activities): pass\n  def start(self): ranges.events = []\n"
               "  def stop(self): self.events, ranges.events = ranges.events, None\n"
               "  def export_chrome_trace(self, path):\n"
               "    with gzip.open(path, 'wt') as file: json.dump({'traceEvents': self.events}, file)\n");
  }
  std::string training(const std::string& steps) const {
    write_file(path("train.py"), cat("import itertools, time, torch\nfrom torch.autograd.profiler import op\n"
                                     "o = torch.optim.optimizer.Optimizer()\nfor _ in ",
                                     steps,
                                     ":\n"
                                     "  with op('aten::mm'): time.sleep(0.02)\n  time.sleep(0.005)\n  o.step()\n"));
    return "python3 train.py";
  }
  Json profile(const std::string& arguments, const std::string& command) const {
    const Said said = run_tbd(cat("profile --exec --out set --json ", arguments, " -- ", command));
    EXPECT_TRUE(said.status.ok()) << said.status.words() << "\n" << said.err;
    return said.out.empty() ? Json::object() : parse_json(said.out, "profile");
  }
  // What is said where there is no trace; the clean launch is kept all the same.
  std::string untraced(const std::string& arguments, const std::string& command, const std::string& record) const {
    const Said said = run_tbd(cat("profile --exec --out set ", arguments, " -- ", command));
    EXPECT_EQ(said.status.code, 3) << said.err;
    EXPECT_EQ(said.out, "");
    const Record kept = read_record(path(cat("set/", record)));
    EXPECT_EQ(kept.run.outcome.kind, OutcomeKind::ok);
    EXPECT_EQ(kept.launches[0].info.outcome.kind, OutcomeKind::ok);
    EXPECT_TRUE(summarize(kept)["step_time_median"].value);
    const Launch* trace = last_launch(kept, Pass::kTrace);
    EXPECT_TRUE(trace && trace->info.outcome.kind == OutcomeKind::failed);
    return said.err;
  }
};

TEST_F(ProfileExec, TracesStepsAfterTheCleanOnesInOneRunOfTheProgram) {
  add_torch();
  const Json seen = profile("--seconds 0.5", training("itertools.count()"));
  EXPECT_EQ(seen["steps"], 3);
  EXPECT_NEAR(seen["compute_utilization"].get<double>(), 0.8, 0.15);
  EXPECT_EQ(seen["named_ops"][0]["name"], "aten::mm");
  EXPECT_EQ(seen["named_ops"][0]["count"], 3);
  EXPECT_GT(seen["loss_ns"]["compute"], 0);
  EXPECT_NEAR(seen["overhead"]["ratio"].get<double>(), 1, 0.5);
  EXPECT_NEAR(seen["agreement"].get<double>(), 1, 0.5);
  const Record record = read_record(path("set/train-external"));
  ASSERT_EQ(record.launches.size(), 2U);
  const Launch &clean = record.launches[0], &trace = record.launches[1];
  EXPECT_EQ(clean.info.folder_name(), "clean-1");
  EXPECT_EQ(trace.info.folder_name(), "trace-1");
  EXPECT_LT(clean.steps.back().completed_ns, trace.steps.front().completed_ns) << "one run of the program";
  const auto [first, last] = trace.info.traced->at(0);
  EXPECT_EQ(last - first, 4);
  EXPECT_GE(first, 6) << "as many steps as are traced go before";
  EXPECT_GE(trace.steps.back().step, last + 5) << "and after";
  EXPECT_TRUE(fs::exists(path("set/train-external/launches/trace-1/trace.json.gz")));
  EXPECT_EQ(record.run.workload.repro, "tbd profile --exec --seconds 0.5 -- python3 train.py");
}

TEST_F(ProfileExec, ItsRecordIsReadByTheOtherCommands) {
  add_torch();
  const std::string command = training("itertools.count()");
  profile("--seconds 0.5 --profile-steps 4", command);
  profile("--seconds 0.5", command);
  const Said again = run_tbd("profile set/train-external --trace timeline.json");
  EXPECT_TRUE(again.status.ok()) << again.err;
  EXPECT_THAT(again.out, AllOf(HasSubstr("train.py, pytorch 2.1, cpu"), HasSubstr("Where the time went"),
                               HasSubstr("traced step to untraced step beside it"), HasSubstr("without the trace"),
                               HasSubstr("tbd ab --exec 'python3 train.py' --exec 'the changed command'")));
  EXPECT_THAT(read_file(path("timeline.json")), HasSubstr("aten::mm"));
  const Said verified = run_tbd("verify set");
  EXPECT_TRUE(verified.status.ok()) << verified.out << verified.err;
  const Said analyzed = run_tbd("analyze set/train-external/launches/trace-1/trace.tbdt --window steps --json");
  EXPECT_EQ(parse_json(analyzed.out, "rank")["steps"].size(), 6U) << analyzed.err;
  const Said raw = run_tbd("analyze set/train-external/launches/trace-1/trace.json.gz --json");
  EXPECT_EQ(parse_json(raw.out, "rank")["steps"].size(), 6U) << raw.err;
  const Said report = run_tbd("report set --out report.html");
  EXPECT_TRUE(report.status.ok()) << report.err;
  const Said compared = run_tbd("compare set/train-external set/train-external-2");
  EXPECT_TRUE(compared.status.ok()) << compared.err;
}

TEST_F(ProfileExec, TracesFromAStepThatIsNamed) {
  add_torch();
  const Json seen = profile("--profile-from 12 --profile-steps 2", training("itertools.count()"));
  EXPECT_EQ(seen["steps"], 2);
  const Record record = read_record(path("set/train-external"));
  const size_t clean = record.launches[0].steps.size();
  EXPECT_EQ(clean, 7U);
  EXPECT_EQ(record.launches[1].info.traced->at(0)[0] + static_cast<int64_t>(clean), 12);
}

TEST_F(ProfileExec, AProgramThatEndsByItselfIsStartedOnceMoreAndTracedInItsMiddle) {
  add_torch();
  const Json seen = profile("--seconds 60", training("range(41)"));
  EXPECT_EQ(seen["steps"], 3);
  const Record record = read_record(path("set/train-external"));
  ASSERT_EQ(record.launches.size(), 2U);
  EXPECT_EQ(record.launches[0].steps.size(), 41U);
  EXPECT_EQ(record.launches[1].info.traced->at(0)[0], 19);
}

TEST_F(ProfileExec, ACommandIsAlsoTakenAsOneWord) {
  add_torch();
  training("itertools.count()");
  const Said said = run_tbd("profile --out set --seconds 0.3 --exec 'python3 train.py'");
  EXPECT_TRUE(said.status.ok()) << said.err;
  EXPECT_THAT(said.out, HasSubstr("aten::mm"));
}

TEST_F(ProfileExec, AProgramThatEndsBeforeTheWindowIsSaidSo) {
  add_torch();
  EXPECT_THAT(untraced("--profile-from 100", training("range(20)"), "train-external"),
              HasSubstr("the program ended by itself after 20 steps, before step 100, at which the traced window was"));
  EXPECT_THAT(untraced("--seconds 60", training("range(6)"), "train-external-2"),
              HasSubstr("ended by itself after 6 steps: too few for a window of 5 traced steps"));
  EXPECT_THAT(untraced("--profile-from 12", training("range(13)"), "train-external-3"),
              HasSubstr("exited with code 0 after 13 steps, before its trace of the steps 12 to 16 was written"));
  EXPECT_THAT(untraced("--profile-from 12", training("range(9)"), "train-external-4"),
              HasSubstr("exited with code 0 after 9 steps, before step 12"));
}

TEST_F(ProfileExec, AProgramWithoutAHookOrAProfilerIsSaidSo) {
  EXPECT_THAT(untraced("--seconds 0.3", cat("bash -c '", kSteps, "'"), "bash-external"),
              HasSubstr("no trace: no hook of PyTorch, Keras or MXNet told of its steps"));
  add_torch();
  write_file(path("modules/torch/profiler.py"), "");
  EXPECT_THAT(untraced("--seconds 0.3", training("itertools.count()"), "train-external"),
              HasSubstr("the profiler of pytorch failed: AttributeError"));
}

TEST_F(ProfileExec, AProgramThatNeverStepsIsSaidSo) {
  const Said said = run_tbd("profile --exec --out set -- python3 -c 'import os'");
  EXPECT_EQ(said.status.code, 3);
  EXPECT_THAT(said.err, HasSubstr("imported none of PyTorch, Keras and MXNet"));
}

TEST_F(ProfileExec, ATraceThatCannotBeReadIsSaidSo) {
  add_torch();
  write_file(path("modules/torch/profiler.py"),
             "class ProfilerActivity: CPU = 1\nclass profile:\n  def __init__(self, activities): pass\n"
             "  def start(self): pass\n  def stop(self): pass\n"
             "  def export_chrome_trace(self, path): open(path, 'w').write('{}')\n");
  EXPECT_THAT(untraced("--seconds 0.3", training("itertools.count()"), "train-external"),
              HasSubstr("its trace cannot be used"));
}

TEST_F(ProfileExec, BadUsageIsRefused) {
  const auto refused = [&](const std::string& words) {
    const Said said = run_tbd(words);
    EXPECT_EQ(said.status.code, 2) << said.err;
    return said.err;
  };
  EXPECT_THAT(refused("profile --exec"), HasSubstr("--exec needs a command"));
  EXPECT_THAT(refused("profile --exec --batch 8 -- true"), HasSubstr("--batch is of a model"));
  EXPECT_THAT(refused("profile --exec --profile-from 7 -- true"), HasSubstr("--profile-from needs at least 8 for 3"));
  EXPECT_THAT(refused("profile resnet50 --profile-from 9"), HasSubstr("are of --exec"));
  EXPECT_FALSE(fs::exists(path("set")));
}

TEST_F(ProfileExec, ProfilesATorchvisionLoop) {
  const char* home = std::getenv("HOME");
  const fs::path python = fs::path(home ? home : "/") / ".cache/tbd/peers/bin/python";
  if (!fs::exists(python)) GTEST_SKIP() << "NO PYTORCH: " << python << " is not there";
  write_file(path("train.py"), kTorchvisionLoop);
  const Json seen = profile("--steps 10", cat(python.string(), " train.py"));
  EXPECT_EQ(seen["steps"], 3);
  EXPECT_GT(seen["compute_utilization"].get<double>(), 0.3);
  std::vector<std::string> ops;
  for (const Json& op : seen["named_ops"]) ops.push_back(op["name"]);
  EXPECT_THAT(ops, testing::Contains("aten::max_pool2d_with_indices"));
  const Said verified = run_tbd("verify set");
  EXPECT_TRUE(verified.status.ok()) << verified.out << verified.err;
}

// A Python that has these modules, in the place that docs/exec.md names; empty without it.
std::string python_with(const std::string& place) {
  const char* home = std::getenv("HOME");
  const fs::path python = fs::path(home ? home : "/") / ".cache/tbd" / place / "bin/python";
  return fs::exists(python) ? python.string() : "";
}

TEST_F(ProfileExec, MeasuresAndProfilesARealKerasFit) {
  const std::string python = python_with("exec-keras");
  if (python.empty()) GTEST_SKIP() << "NO KERAS: ~/.cache/tbd/exec-keras is not there (docs/exec.md)";
  write_file(
      path("fit.py"),
      "import keras, numpy as np\nkeras.utils.set_random_seed(0)\nlayers = keras.layers\n"
      "m = keras.Sequential([layers.Input((16, 16, 3)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(1)])\n"
      "m.compile(optimizer='sgd', loss='mse', steps_per_execution=STEPS)\n"
      "x, y = np.zeros((320, 16, 16, 3), 'float32'), np.zeros((320, 1), 'float32')\n"
      "m.fit(x, y, batch_size=32, epochs=1000, verbose=0)\n");
  const std::string text = read_file(path("fit.py"));
  for (const char* steps : {"1", "5"}) {
    write_file(path("fit.py"), cat(text.substr(0, text.find("STEPS")), steps, text.substr(text.find("STEPS") + 5)));
    const Json measured = row("--launches 1 --steps 10", cat(python, " fit.py"));
    EXPECT_EQ(measured["framework"], "keras");
    EXPECT_GE(measured["steps"], 10);
    const Json seen = profile("--steps 10", cat(python, " fit.py"));
    EXPECT_GE(seen["steps"], 3);
    EXPECT_GT(seen["compute_utilization"].get<double>(), 0.1);
  }
}

TEST_F(ProfileExec, MeasuresAndProfilesARealGluonTrainer) {
  const std::string python = python_with("exec-mxnet");
  if (python.empty()) GTEST_SKIP() << "NO MXNET: ~/.cache/tbd/exec-mxnet is not there (docs/exec.md)";
  write_file(path("gluon.py"),
             "import mxnet as mx\nfrom mxnet import autograd, gluon\nnet = gluon.nn.HybridSequential()\n"
             "net.add(gluon.nn.Conv2D(8, 3), gluon.nn.Flatten(), gluon.nn.Dense(10))\nnet.initialize()\n"
             "net.hybridize()\nt = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01})\n"
             "loss = gluon.loss.SoftmaxCrossEntropyLoss()\n"
             "x, y = mx.nd.zeros((8, 3, 32, 32)), mx.nd.zeros((8,))\nwhile True:\n"
             "  with autograd.record(): l = loss(net(x), y)\n  l.backward(); t.step(8); l.wait_to_read()\n");
  const Json measured = row("--launches 1 --steps 10", cat(python, " gluon.py"));
  EXPECT_EQ(measured["framework"], "mxnet");
  EXPECT_EQ(measured["framework_version"], "1.9.1");
  EXPECT_GE(measured["steps"], 10);
  const Json seen = profile("--steps 10", cat(python, " gluon.py"));
  EXPECT_EQ(seen["steps"], 3);
  EXPECT_GT(seen["compute_utilization"].get<double>(), 0.05);
}

// Launches of two loops take turns; the one that sleeps less steps faster.
TEST_F(Exec, TwoProgramsTakeTurnsAndAreJudgedPairByPair) {
  const auto loop = [](const char* seconds) {
    return cat("while :; do sleep ", seconds, "; printf . >&$TBD_STEP_FD; done");
  };
  write_file(path("slow.sh"), loop("0.06"));
  write_file(path("fast.sh"), loop("0.02"));
  const std::string line =
      cat("cd '", folder_.path().string(), "' && exec >said.out 2>said.err && exec '", TBD_PROGRAM,
          "' ab --exec 'sh slow.sh' --exec 'sh fast.sh' --pairs 3 --seconds 0.4 --out set --json --fail-on slower");
  Subprocess begun({.argv = {"/bin/bash", "-c", line},
                    .environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", folder_.path().string()}}});
  const Said said = said_by(begun);
  ASSERT_TRUE(said.status.ok()) << said.status.words() << "\n" << said.err;
  const Json judged = parse_json(said.out, "row");
  EXPECT_EQ(judged["pairs"], 3);
  EXPECT_GT(judged["ratio"].get<double>(), 1.2);
  EXPECT_EQ(judged["b"], "sh fast.sh");
  const Record a = read_record(path("set/slow-external")), b = read_record(path("set/fast-external"));
  EXPECT_EQ(a.launches.size(), 3u);
  EXPECT_EQ(b.launches.size(), 3u);
  EXPECT_LT(a.launches[0].info.start, b.launches[2].info.start) << "in turns";
}

}  // namespace
}  // namespace tbd
