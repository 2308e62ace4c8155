// What `tbd run` says before it measures: dry runs, budgets, shards, sets to go on with. No worker is started here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/launchers.h"
#include "cli/run_files.h"
#include "cli/run_request.h"
#include "measure/cores.h"
#include "runner/prediction.h"
#include "runner/set_lock.h"

namespace tbd::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

struct RunOutcome {
  int code = 0;
  std::string out, err;
};

class RunCommand : public testing::Test {
 protected:
  RunOutcome run(std::vector<std::string> arguments) {
    std::ostringstream out, err;
    Context context{.out = out, .err = err, .environment = environment_};
    context.environment["HOME"] = folder_.path().string();
    context.build_folder = folder_.path() / "build";
    context.cache_folder = folder_.path() / "cache";
    context.source_folder = TBD_SOURCE_DIR;
    arguments.insert(arguments.begin(), "run");
    context.arguments = std::move(arguments);
    const int code = run_program(context);
    return {code, out.str(), err.str()};
  }
  // The lines of JSON that have this key.
  static std::vector<Json> rows(const RunOutcome& said, const std::string& key) {
    std::vector<Json> found;
    for (const std::string& line : split(said.out, '\n'))
      if (!line.empty() && parse_json(line, "row").contains(key)) found.push_back(parse_json(line, "row"));
    return found;
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::string plan(const std::string& text) const {
    write_file(path("a.plan"), text);
    return path("a.plan").string();
  }

  std::map<std::string, std::string> environment_;

 private:
  TemporaryFolder folder_;
};

constexpr const char* kSweeps =
    "passes = clean, trace\nlimit = 20s\nconfig = tiny\n[a]\nmodel = resnet50, inception_v3\nbatch = 2, 4, 8, 16\n";

TEST_F(RunCommand, APlanIsFoundByItsNameFromAnyFolder) {
  for (const char* name : {"smoke.plan", "smoke", "plans/smoke.plan"}) {
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(path(""));
    const RunOutcome said = run({"--plan", name, "--dry-run", "--json"});
    std::filesystem::current_path(before);
    EXPECT_EQ(said.code, kDone) << name << ": " << said.err;
  }
  const RunOutcome wrong = run({"--plan", "smok.plan", "--dry-run"});
  EXPECT_EQ(wrong.code, kBadUsage);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("smok.plan"), HasSubstr("smoke.plan")));
}

TEST_F(RunCommand, MoreClassFoldersThanClassesAreRefusedBeforeAnythingRuns) {
  for (int i = 0; i < 12; ++i) std::filesystem::create_directories(path("photos") / "train" / cat("class", i));
  const std::vector<std::string> tiny = {"resnet50", "--config", "tiny", "--data", path("photos").string()};
  for (const bool dry : {true, false}) {
    std::vector<std::string> arguments = tiny;
    if (dry) arguments.push_back("--dry-run");
    const RunOutcome said = run(arguments);
    EXPECT_EQ(said.code, kBadUsage);
    EXPECT_THAT(said.err, HasSubstr("has 12 class folders, but resnet50 (tiny) has 10 classes"));
    EXPECT_EQ(std::ranges::count(said.err, '\n'), 1) << said.err;
  }
  EXPECT_EQ(run({"resnet50", "--data", path("photos").string(), "--dry-run"}).code, kDone) << "1000 classes";
}

TEST_F(RunCommand, DataMayBeNamedThatTheSetUpMade) {
  const std::filesystem::path made = path("cache") / "data" / "pictures";
  for (int i = 0; i < 12; ++i) std::filesystem::create_directories(made / "train" / cat("class", i));
  std::ofstream(made / "data.json") << "{}";
  const RunOutcome said = run({"resnet50", "--config", "tiny", "--data", "pictures", "--dry-run"});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr(cat(made.string(), " has 12 class folders")));
}

TEST_F(RunCommand, ADryRunSaysWhatAPlanTakesAndDecides) {
  const RunOutcome said = run({"--plan", plan(kSweeps), "--dry-run", "--json"});
  ASSERT_EQ(said.code, kDone) << said.err;
  const std::vector<Json> cells = rows(said, "model"), observations = rows(said, "observation");
  ASSERT_EQ(cells.size(), 8u);
  EXPECT_GT(at<int64_t>(cells[1], "predicted_memory_bytes"), at<int64_t>(cells[0], "predicted_memory_bytes"));
  EXPECT_GT(at<double>(cells[0], "predicted_seconds"), 0);
  EXPECT_TRUE(at<bool>(cells[0], "measured"));
  ASSERT_EQ(observations.size(), 13u);
  EXPECT_TRUE(at<bool>(observations[0], "decidable"));
  EXPECT_FALSE(at<bool>(observations[1], "decidable"));
  EXPECT_THAT(at<std::string>(observations[1], "lacks"), HasSubstr("recurrent"));
  EXPECT_THAT(said.err, IsEmpty());
}

TEST_F(RunCommand, ADryRunForetellsADescribedGpu) {
  const std::string gpu = path("gpu.json").string();
  write_file(gpu,
             R"({"name": "a GPU", "memory": "8GiB", "bandwidth": 1e12, "flop_rate": {"fp32": 2e13, "bf16": 8e13}})");
  const std::vector<std::string> sweep = {"resnet50", "--batch", "32,256", "--precision", "fp32,bf16"};
  std::vector<std::string> on_gpu = sweep;
  on_gpu.insert(on_gpu.end(), {"--dry-run", "--json", "--on", gpu});
  const RunOutcome said = run(on_gpu);
  ASSERT_EQ(said.code, kDone) << said.err;
  const std::vector<Json> cells = rows(said, "model");
  ASSERT_EQ(cells.size(), 4u);
  for (const Json& cell : cells) {
    EXPECT_EQ(at<std::string>(cell, "device"), "cuda:0");
    EXPECT_EQ(at<bool>(cell, "fits"), at<int64_t>(cell, "batch") == 32) << cell;
    EXPECT_LT(at<double>(cell, "predicted_step_seconds"), 1) << "of the cores, for which it takes seconds";
  }
  EXPECT_THAT(at<std::string>(rows(said, "cells").at(0), "rates"), ::testing::StartsWith("a GPU, described: "));
  std::vector<std::string> measured = sweep;
  measured.insert(measured.end(), {"--on", gpu});
  EXPECT_THAT(run(measured).err, HasSubstr("--on describes a GPU for --dry-run alone"));
}

TEST_F(RunCommand, BudgetLeavesOutWorkloadsWithReasons) {
  const Json whole = rows(run({"--plan", plan(kSweeps), "--dry-run", "--json"}), "cells").at(0);
  const double seconds = at<double>(whole, "predicted_seconds");
  std::vector<std::string> budgeted = {"--plan", plan(kSweeps), "--dry-run",
                                       "--json", "--budget",    cat(static_cast<int64_t>(0.6 * seconds), "s")};
  const Json shortened = rows(run(budgeted), "cells").at(0);
  EXPECT_LT(at<double>(shortened, "limit_seconds"), at<double>(whole, "limit_seconds"))
      << "shorter launches decide more";
  EXPECT_EQ(at<int64_t>(shortened, "decidable_observations"), at<int64_t>(whole, "decidable_observations"));
  budgeted.insert(budgeted.end(), {"--limit", cat(at<double>(whole, "limit_seconds"), "s")});
  const RunOutcome said = run(budgeted);
  ASSERT_EQ(said.code, kDone) << said.err;
  int left_out = 0;
  for (const Json& cell : rows(said, "model")) {
    if (at<bool>(cell, "measured")) continue;
    ++left_out;
    EXPECT_THAT(at<std::string>(cell, "reason"), HasSubstr("of the budget"));
  }
  EXPECT_GE(left_out, 2);
  const Json total = rows(said, "cells").at(0);
  EXPECT_LE(at<double>(total, "predicted_seconds"), at<double>(total, "budget_seconds"));
  EXPECT_NEAR(at<double>(total, "predicted_seconds_of_all"), seconds, 0.2 * seconds);
  EXPECT_EQ(run({"--plan", plan(kSweeps), "--dry-run", "--budget", "1s"}).code, kBadUsage);
  EXPECT_THAT(run({"resnet50", "--dry-run", "--budget", "soon"}).err, HasSubstr("--budget needs a time above 0"));
}

TEST_F(RunCommand, ABudgetGoesIntoMoreLaunchesWhereNobodyNamesTheirNumber) {
  const auto total = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"--plan", plan(kSweeps), "--dry-run", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return rows(run(all), "cells").at(0);
  };
  EXPECT_EQ(at<int64_t>(total({}), "launches"), 3);
  const Json long_time = total({"--budget", "10h"});
  EXPECT_EQ(at<int64_t>(long_time, "launches"), 5);
  EXPECT_EQ(at<double>(long_time, "limit_seconds"), 20);
  EXPECT_EQ(at<int64_t>(total({"--budget", "10h", "--launches", "2"}), "launches"), 2);
  EXPECT_EQ(at<int64_t>(total({"--budget", "10h", "--limit", "20s"}), "launches"), 3);
}

TEST_F(RunCommand, ShardsTogetherAreThePlan) {
  const auto named = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--plan", plan(kSweeps), "--dry-run", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<std::string> names;
    for (const Json& cell : rows(run(arguments), "model"))
      names.push_back(cat(at<std::string>(cell, "model"), at<int64_t>(cell, "batch")));
    return names;
  };
  std::vector<std::string> parts = named({"--shard", "1/2"});
  EXPECT_EQ(parts.size(), 4u);
  for (const std::string& each : named({"--shard", "2/2"})) parts.push_back(each);
  EXPECT_THAT(parts, UnorderedElementsAreArray(named({})));
  EXPECT_EQ(run({"--plan", plan(kSweeps), "--shard", "9/9", "--dry-run"}).code, kDone);  // of eight cells
  for (const char* bad : {"0/2", "3/2", "1", "1/2/3", "a/b"})
    EXPECT_THAT(run({"resnet50", "--shard", bad, "--dry-run"}).err, HasSubstr("--shard needs a part")) << bad;
}

TEST_F(RunCommand, ResumeRefusesOtherAxes) {
  EXPECT_THAT(run({"--resume", path("none").string()}).err, HasSubstr("has no cells.plan"));
  const std::vector<Workload> cells = {{.model = "resnet50", .config = "tiny", .batch = 2}};
  RunRequest begun{.cells = cells, .options = {.effort = Effort::smoke, .out = path("set")}, .check = false};
  begun.options.passes = {Pass::kClean, Pass::kMemory};
  begun.options.limit_seconds = 7;
  begun.options.peaks = false;
  std::filesystem::create_directory(path("set"));
  PlanFiles(begun, {}).keep();
  const RunOutcome said = run({"--resume", path("set").string(), "--dry-run", "--json"});
  ASSERT_EQ(said.code, kDone) << said.err;
  EXPECT_EQ(rows(said, "model").size(), 1u);
  EXPECT_THAT(run({"resnet50", "--resume", path("set").string()}).err, HasSubstr("--resume continues a result set"));
  EXPECT_THAT(run({"--effort", "quick", "--resume", path("set").string()}).err, HasSubstr("--resume continues"));
  EXPECT_THAT(run({"resnet50", "--again", "failed"}).err, HasSubstr("--again needs --resume"));
  EXPECT_THAT(run({"--resume", path("set").string(), "--again", "faild"}).err, HasSubstr("did you mean 'failed'"));
  EXPECT_THAT(run({"resnet50", "--config", "tiny", "--effort", "smoke", "--out", path("set").string()}).err,
              HasSubstr("continue with 'tbd run --resume"));
  RunArguments given;
  given.resume = path("set").string();
  given.again = {"failed", "unsteady"};
  const RunRequest request = run_request(given, {});
  EXPECT_EQ(request.cells, cells);
  EXPECT_TRUE(request.options.resume);
  EXPECT_EQ(request.options.limit_seconds, 7);
  EXPECT_FALSE(request.options.peaks);
  EXPECT_FALSE(request.check);
  EXPECT_EQ(request.options.effort, Effort::smoke);
  EXPECT_THAT(request.options.passes, ElementsAre(Pass::kClean, Pass::kMemory));
  EXPECT_EQ(std::ranges::count(request.options.again, OutcomeKind::unsteady), 1);
}

TEST_F(RunCommand, AnAxisBesideAPlanIsRefused) {
  for (const char* axis : {"--seed=3", "--data=photos", "--memory=4GiB", "--batch=4", "--matmul=onednn"})
    EXPECT_THAT(run({"--plan", plan(kSweeps), axis, "--dry-run"}).err, HasSubstr("give only one of a model")) << axis;
}

TEST_F(RunCommand, ABadValueIsNamedWithItsOption) {
  const auto said = [&](const char* option, const char* value) {
    return run({"resnet50", option, value, "--dry-run"}).err;
  };
  EXPECT_THAT(said("--batch", "0"), HasSubstr("--batch needs a positive whole number, got '0'"));
  EXPECT_THAT(said("--batch", "sweep,4"), HasSubstr("--batch: a sweep must be the only value"));
  EXPECT_THAT(said("--batch", "largest"), HasSubstr("the largest batch needs a memory budget"));
  EXPECT_THAT(said("--threads", "-1"), HasSubstr("--threads needs a positive whole number, got '-1'"));
  EXPECT_THAT(said("--workers", "0"), HasSubstr("--workers needs a positive whole number, got '0'"));
  EXPECT_THAT(said("--workers", "-1"), HasSubstr("--workers needs a positive whole number, got '-1'"));
  EXPECT_THAT(said("--workers", "1.5"), HasSubstr("--workers needs a positive whole number, got '1.5'"));
  EXPECT_THAT(said("--exchange", "all"), HasSubstr("unknown exchange 'all', did you mean 'all_reduce'"));
  EXPECT_THAT(said("--wire", "fp32"), HasSubstr("unknown wire type 'fp32'; known: same, bf16, fp16"));
  EXPECT_THAT(said("--bucket", "0"), HasSubstr("--bucket needs a size such as 4GiB"));
  EXPECT_THAT(said("--exchange", "none"), HasSubstr("exchange says how several workers train together"));
  EXPECT_THAT(said("--seed", "x"), HasSubstr("--seed needs a whole number of at least 0, got 'x'"));
  EXPECT_THAT(said("--memory", "4"), HasSubstr("--memory needs a size such as 4GiB"));
  EXPECT_THAT(said("--precision", "fp31"), HasSubstr("unknown precision 'fp31', did you mean 'fp32'"));
}

TEST_F(RunCommand, DoesNotRetryOutOfMemoryUnderAMemoryBudget) {
  const auto again_oom = [](std::optional<int64_t> budget) {
    return std::ranges::count(outcomes_again({"failed"}, {{.model = "bert", .memory_budget_bytes = budget}}),
                              OutcomeKind::oom);
  };
  EXPECT_EQ(again_oom(std::nullopt), 1);
  EXPECT_EQ(again_oom(1 << 30), 0);
}

TEST_F(RunCommand, ADryRunRefusesWhatTheRunWould) {
  const RunOutcome framework = run({"resnet50", "--framework", "jax", "--dry-run"});
  EXPECT_EQ(framework.code, kBadUsage);
  EXPECT_THAT(framework.err, HasSubstr("'jax'"));
  const RunOutcome folder = run({"resnet50", "--data", path("none").string(), "--dry-run"});
  EXPECT_EQ(folder.code, kBadUsage);
  EXPECT_THAT(folder.err, HasSubstr("there is no data folder"));
}

TEST_F(RunCommand, RefusesWhatSeveralWorkersCannotDo) {
  const auto said = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"resnet50", "--config", "tiny", "--dry-run"});
    const RunOutcome outcome = run(more);
    EXPECT_EQ(outcome.code, kBadUsage) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(said({"--workers", "5000"}), HasSubstr(", got 5000: each needs a core of its own, and "));
  EXPECT_THAT(said({"--workers", "2", "--device", "cuda:0", "--link", "1Gbit"}),
              HasSubstr("a link of 1Gbit is made between workers on processors"));
  EXPECT_THAT(said({"--workers", "2", "--batch", "largest", "--memory", "1GiB"}), HasSubstr("with one worker, got 2"));
  EXPECT_THAT(said({"--workers", "5000"}), HasSubstr(" usable here; --oversubscribe lets them share cores"));
  EXPECT_THAT(said({"--workers", "5000000", "--oversubscribe"}),
              HasSubstr("--oversubscribe lets 64 workers share a core"));
}

TEST_F(RunCommand, LetsWorkersShareCoresWhereItIsAskedTo) {
  const std::string workers = cat(2 * static_cast<int64_t>(usable_cores()) + 1);
  EXPECT_EQ(run({"resnet50", "--config", "tiny", "--dry-run", "--workers", workers, "--oversubscribe"}).code, kDone);
}

TEST_F(RunCommand, SaysHowALauncherStartsAsManyCopies) {
  const auto words = [](const std::string& launcher, const std::map<std::string, std::string>& environment = {}) {
    return launcher_words({.rank = 0, .size = 4, .launcher = launcher}, environment);
  };
  EXPECT_EQ(words("torchrun"), "torchrun --no-python --nproc-per-node 4");
  EXPECT_EQ(words("torchrun", {{"LOCAL_WORLD_SIZE", "4"}}), "torchrun --no-python --nproc-per-node 4");
  EXPECT_EQ(words("torchrun", {{"LOCAL_WORLD_SIZE", "2"}}), "torchrun --no-python --nnodes 2 --nproc-per-node 2");
  EXPECT_EQ(words("openmpi"), "mpirun -np 4");
  EXPECT_EQ(words("openmpi", {{"MASTER_ADDR", "a"}}), "mpirun -np 4 -x MASTER_ADDR");
  EXPECT_EQ(words("pmi"), "mpiexec -n 4");
  EXPECT_EQ(words("slurm"), "srun -n 4");
}

TEST_F(RunCommand, RefusesHostsThatCannotBe) {
  const auto said = [&](const std::string& hosts, const std::string& workers = "2") {
    const RunOutcome outcome =
        run({"resnet50", "--config", "tiny", "--dry-run", "--hosts", hosts, "--workers", workers});
    EXPECT_EQ(outcome.code, kBadUsage) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(said(","), HasSubstr("--hosts needs a name before each comma and colon, got ','"));
  EXPECT_THAT(said("a,:2"), HasSubstr("--hosts needs a name"));
  EXPECT_THAT(said("a:0,b"), HasSubstr("a number of workers after the colon, such as a:2, got 'a:0'"));
  EXPECT_THAT(said("a,b,a"), HasSubstr("--hosts names 'a' twice: for two workers there write a:2"));
  EXPECT_THAT(said("-oProxyCommand=x,b"), HasSubstr("is an option, no host"));
  EXPECT_THAT(said("a,b", "3"), HasSubstr("--hosts has places for 2 workers, and --workers is 3"));
  EXPECT_THAT(said("a,b", "1"), HasSubstr("it needs 2 or more"));
}

TEST_F(RunCommand, TakesItsPlaceAmongCopies) {
  using Variables = std::map<std::string, std::string>;
  const auto place = [](const Variables& environment) {
    const auto where = rendezvous_of(environment, "");
    return where ? cat(where->launcher, " ", where->rank, " of ", where->size, " at ", where->address) : "alone";
  };
  const Variables of_two = {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_PORT", "29500"}};
  EXPECT_EQ(place({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEP_NUM_TASKS", "2"}}), "alone")
      << "a batch script is no rank";
  EXPECT_EQ(place({{"RANK", "0"}, {"WORLD_SIZE", "1"}}), "alone");
  EXPECT_EQ(place(of_two), "torchrun 1 of 2 at 127.0.0.1");
  EXPECT_EQ(rendezvous_of(of_two, "")->ports.front(), 29501) << "their own store has the port";
  EXPECT_TRUE(rendezvous_of(of_two, "")->loopback);
  EXPECT_EQ(place({{"OMPI_COMM_WORLD_RANK", "3"},
                   {"OMPI_COMM_WORLD_SIZE", "4"},
                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                   {"MASTER_ADDR", "node7"}}),
            "openmpi 3 of 4 at node7");
  EXPECT_EQ(place({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}}), "pmi 1 of 2 at 127.0.0.1");
  EXPECT_EQ(place({{"SLURM_PROCID", "1"},
                   {"SLURM_STEP_ID", "0"},
                   {"SLURM_STEP_NUM_TASKS", "2"},
                   {"SLURM_STEP_NUM_NODES", "1"}}),
            "slurm 1 of 2 at 127.0.0.1");
  const Variables nested = {{"RANK", "3"},
                            {"WORLD_SIZE", "4"},
                            {"LOCAL_WORLD_SIZE", "2"},
                            {"GROUP_RANK", "1"},
                            {"GROUP_WORLD_SIZE", "2"},
                            {"TORCHELASTIC_RUN_ID", "7"},
                            {"MASTER_ADDR", "a"},
                            {"SLURM_PROCID", "1"},
                            {"SLURM_STEP_ID", "0"},
                            {"SLURM_STEP_NUM_TASKS", "2"}};
  EXPECT_EQ(place(nested), "torchrun 3 of 4 at a") << "srun started one torchrun on each machine";
  const auto met = rendezvous_of(of_two, "node3:4000");
  EXPECT_EQ(cat(met->address, ":", met->ports.front(), " ", met->ports.size()), "node3:4000 1");
  EXPECT_FALSE(met->loopback);
  EXPECT_EQ(rendezvous_of(of_two, "")->token.size(), 64u);
}

TEST_F(RunCommand, RefusesPlacesThatCannotBe) {
  struct Case {
    std::map<std::string, std::string> environment;
    std::vector<std::string> options;
    const char* sentence;
  };
  const std::map<std::string, std::string> alone = {};
  const Case cases[] = {
      {{{"RANK", "2"}, {"WORLD_SIZE", "2"}},
       {},
       "RANK=2 WORLD_SIZE=2: a rank is a whole number from 0 to below the size"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
       {},
       "RANK=0 WORLD_SIZE=2 and OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 disagree"},
      {{{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}},
       {},
       "nothing says where rank 0 is: to mpirun's options add -x MASTER_ADDR="},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}, {"TBD_TOKEN", "secret"}},
       {},
       "TBD_TOKEN needs 16 or more hexadecimal digits"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}},
       {"--rendezvous", "here"},
       "--rendezvous needs a host and a port, such as localhost:29501, got 'here'"},
      {alone, {"--rendezvous", "a:1"}, "--rendezvous says where the copies that a launcher starts meet"},
      {alone, {"--workers", "2", "--hosts", "slurm"}, "--hosts slurm needs an allocation of Slurm (salloc, sbatch)"},
  };
  for (const Case& each : cases) {
    environment_ = each.environment;
    std::vector<std::string> words = {"resnet50", "--config", "tiny", "--dry-run"};
    words.insert(words.end(), each.options.begin(), each.options.end());
    const RunOutcome outcome = run(words);
    EXPECT_EQ(outcome.code, kBadUsage) << each.sentence;
    EXPECT_THAT(outcome.err, HasSubstr(each.sentence));
  }
}

TEST_F(RunCommand, ASetThatIsBeingMeasuredIsRefused) {
  const SetLock set(path("set"));
  const RunRequest begun{.cells = {{.model = "resnet50", .config = "tiny"}}, .options = {.out = path("set")}};
  PlanFiles(begun, {}).keep();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"--resume", path("set").string()}, {"resnet50", "--out", path("set").string()}}) {
    const RunOutcome said = run(command);
    EXPECT_EQ(said.code, kBadUsage);
    EXPECT_THAT(said.err, HasSubstr("is being written by process "));
  }
}

TEST_F(RunCommand, APlanThatIsRefusedLeavesNothing) {
  const RunRequest request{.cells = {{.model = "bert"}}, .options = {.out = path("a") / "b"}};
  const std::vector<LeftOutCell> left = {{"resnet50-b8", "tbd run resnet50", 3, "why"}};
  {
    const SetLock set(request.options.out);
    const PlanFiles files(request, left);
  }
  EXPECT_FALSE(std::filesystem::exists(path("a")));
  const SetLock set(request.options.out);
  PlanFiles(request, left).keep();
  const Json left_out = parse_json(read_file(path("a") / "b" / "left-out.json"), "left-out.json");
  EXPECT_EQ(at<std::string>(left_out["left_out"][0], "reason"), "why");
  EXPECT_EQ(cells(kept_plan(path("a") / "b", {})).at(0).model, "bert");
}

TEST_F(RunCommand, BundledPlansAreValid) {
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(TBD_SOURCE_DIR) / "plans")) {
    SCOPED_TRACE(file.path().filename());
    EXPECT_FALSE(cells(read_plan(file.path())).empty());
  }
}

// Sums of predicted times, on a machine of two cores at 3 GHz.
double predicted_seconds(const std::string& name) {
  const Plan plan = read_plan(std::filesystem::path(TBD_SOURCE_DIR) / "plans" / name);
  RunOptions options{.effort = plan.effort.value_or(Effort::quick)};
  if (!plan.passes.empty()) options.passes = plan.passes;
  options.limit_seconds = plan.limit_seconds;
  const Hardware hardware{
      .machine = {.cores = 2, .memory = int64_t{16} << 30},
      .rates = {.flop_rate = {{"fp32", 190e9}}, .bandwidth = 10e9, .threads = 2, .source = "a test"}};
  return total_seconds(predict(cells(plan), options, hardware));
}

TEST_F(RunCommand, PredictsUnderThreeMinutesForTheSmokePlan) { EXPECT_LT(predicted_seconds("smoke.plan"), 180); }

TEST_F(RunCommand, SizesAreReadWithTheirUnits) {
  EXPECT_THAT(run({"resnet50", "--memory", "4", "--dry-run"}).err, HasSubstr("--memory needs a size such as 4GiB"));
  const RunOutcome small = run({"resnet50", "--batch", "sweep<=4", "--memory", "600MB", "--dry-run", "--json"});
  ASSERT_EQ(small.code, kDone) << small.err;
  ASSERT_EQ(rows(small, "model").size(), 3u);
  EXPECT_FALSE(at<bool>(rows(small, "model")[2], "fits"));
}

}  // namespace
}  // namespace tbd::cli
