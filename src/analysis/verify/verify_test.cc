// Planted errors: a good record with one thing changed, and the check that must see it.
#include "analysis/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/cell.h"
#include "analysis/sample_gpu.h"
#include "analysis/sample_record.h"
#include "base/hash.h"
#include "record/reader.h"
#include "record/steps.h"
#include "record/writer.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// What a record's files are, consistent in all that verify looks at.
class Planted : public testing::Test {
 protected:
  void SetUp() override {
    Record record = sample_record({.launches = 2});
    record.run.train_flops = 300'000 / 8;
    const auto made = sample::made();
    record.run.ops = made->record.run.ops;
    record.run.environment["hash"] = hash_of(record.run.environment);
    *record.run.peaks = {{"isa", {{"fp32", 1e9}}}, {"gemm", {{"fp32", 0.8e9}}}, {"bandwidth", 1e9}, {"threads", 2}};
    for (Launch& launch : record.launches) {
      launch.info.environment_hash = record.run.environment["hash"];
      for (StepRow& row : launch.steps) row.samples = 8;
    }
    Record passes;
    passes.folder = folder();
    fs::create_directories(folder());
    sample::add_memory(passes);
    passes.launches.back().info.host["memory"]["ledger_live_bytes"] = 100;
    record.launches.push_back(made->record.launches[0]);
    record.launches.push_back(passes.launches[0]);
    write(record);
    fs::create_directories(folder() / "launches/trace-1");
    sample::write_steps(folder() / "launches/trace-1/trace.tbdt", 12);
  }

  static std::string hash_of(const Json& environment) {
    Json identity = Json::object();
    for (const char* group : {"cpu", "limits", "software", "variables"})
      if (environment.contains(group)) identity[group] = environment[group];
    return sha256_hex(identity.dump());
  }

  fs::path folder() const { return place_.path() / "cell"; }
  fs::path steps() const { return folder() / "launches/clean-1/steps.csv"; }

  void write(const Record& record) const {
    write_file(folder() / "run.json", to_json(record.run).dump(1));
    for (const Launch& launch : record.launches) {
      const fs::path at = folder() / "launches" / launch.info.folder_name();
      fs::create_directories(at);
      write_file(at / "launch.json", to_json(launch.info).dump(1));
      if (!launch.steps.empty()) write_file(at / "steps.csv", steps_header() + format_steps(launch.steps));
    }
  }

  void edit_json(const fs::path& file, const std::function<void(Json&)>& edit) const {
    Json json = parse_json(read_file(file), "test");
    edit(json);
    write_file(file, json.dump(1));
  }

  // As `tbd run` leaves it: each launch ended by the writer.
  void seal() const {
    const Record record = read_record(folder());
    const auto writer = RecordWriter::reopen(folder(), record.run);
    for (const Launch& launch : record.launches) writer->end_launch(launch.info);
    writer->finish(record.run, record.run.outcome);
  }

  // steps.csv of clean-1 anew, whose launch.json stays.
  void edit_steps(const std::function<void(std::vector<StepRow>&)>& edit) const {
    std::vector<StepRow> rows = read_record(folder()).launches[0].steps;
    edit(rows);
    write_file(steps(), steps_header() + format_steps(rows));
  }

  CheckVerdict verdict_of(const std::string& name) const {
    for (const Check& check : verify(folder()))
      if (check.check == name) return check.verdict;
    ADD_FAILURE() << "no check " << name;
    return CheckVerdict::unknown;
  }

  // Names of the checks that differ.
  std::vector<std::string> found(const VerifyOptions& options = {}) const {
    std::vector<std::string> names;
    for (const Check& check : verify(folder(), options))
      if (check.verdict == CheckVerdict::differs)
        names.push_back(check.check + (check.check == "readable" ? ": " + check.reason : ""));
    return names;
  }

  TemporaryFolder place_;
};

TEST_F(Planted, AcceptsAnIntactRecord) {
  EXPECT_THAT(found(), testing::IsEmpty());
  int64_t ok = 0;
  for (const Check& check : verify(folder())) ok += check.verdict == CheckVerdict::ok;
  EXPECT_GT(ok, 60);
}

// Its FLOP rates are then those of the rows that the steps had.
TEST_F(Planted, AcceptsARecordOfRaggedRows) {
  RunInfo run = read_record(folder()).run;
  run.ops[0].row = RowCost{.most = 40, .forward = {.flop_model = 1'000}, .backward = {.flop_model = 3'000}};
  write_file(folder() / "run.json", to_json(run).dump(1));
  for (const char* launch : {"clean-1", "clean-2"}) {
    std::vector<StepRow> rows = read_record(folder()).launches[launch == std::string("clean-2")].steps;
    for (StepRow& row : rows) row.rows = 10 + row.step % 3;
    write_file(folder() / "launches" / launch / "steps.csv", steps_header() + format_steps(rows));
  }
  EXPECT_THAT(found(), testing::IsEmpty());
  EXPECT_EQ(verdict_of("flop_rate"), CheckVerdict::ok);
}

TEST_F(Planted, AcceptsASealedRecord) {
  seal();
  EXPECT_THAT(found(), testing::IsEmpty());
  EXPECT_EQ(verdict_of("clean-1: steps.csv as sealed"), CheckVerdict::ok);
  EXPECT_EQ(verdict_of("trace-1: trace.tbdt as sealed"), CheckVerdict::ok);
}

TEST_F(Planted, ReportsAnOlderRecordAsUnsealed) {
  EXPECT_EQ(verdict_of("clean-1: raw files"), CheckVerdict::unknown);
  EXPECT_FALSE(unchecked(verify(folder())));
}

// A tenth of each step's time, and the processor time that goes with it.
void divide_by_ten(std::vector<StepRow>& rows) {
  const int64_t began = rows.front().completed_ns;
  for (StepRow& row : rows) {
    row.completed_ns = began + (row.completed_ns - began) / 10;
    row.user_cpu_ns = *row.user_cpu_ns / 10;
    row.system_cpu_ns = *row.system_cpu_ns / 10;
  }
}

TEST_F(Planted, FindsEveryChangeOfSealedRawData) {
  seal();
  const std::string whole = read_file(steps());
  const std::vector<std::function<void(std::vector<StepRow>&)>> edits = {
      divide_by_ten, [](std::vector<StepRow>& rows) { rows.resize(rows.size() / 2); },
      [](std::vector<StepRow>& rows) { rows.back().loss = 1; },
      [](std::vector<StepRow>& rows) {
        const StepRow first = rows.front();
        rows.assign(300, first);
        for (size_t i = 0; i < rows.size(); ++i) {
          rows[i].step += static_cast<int64_t>(i);
          rows[i].completed_ns += 1'000'000 * static_cast<int64_t>(i);
          rows[i].user_cpu_ns = 1'000'000;
          rows[i].system_cpu_ns = 0;
        }
      }};
  for (const auto& edit : edits) {
    edit_steps(edit);
    EXPECT_THAT(found(), testing::Contains("clean-1: steps.csv as sealed"));
    write_file(steps(), whole);
  }
  fs::remove(folder() / "launches/trace-1/trace.tbdt");
  write_file(folder() / "launches/clean-2/counters.csv", "step\n");
  EXPECT_THAT(found(), testing::IsSupersetOf({"trace-1: trace.tbdt as sealed", "clean-2: counters.csv as sealed"}));
}

TEST_F(Planted, IgnoresAMissingLogFile) {
  write_file(folder() / "launches/clean-1/worker.log", "chatter");
  seal();
  fs::remove(folder() / "launches/clean-1/worker.log");
  EXPECT_THAT(found(), testing::IsEmpty());
}

TEST_F(Planted, FindsStepsTooShortForTheirProcessorTime) {
  edit_steps([](std::vector<StepRow>& rows) {
    for (StepRow& row : rows) row.completed_ns = 1'500'000'000 + (row.completed_ns - 1'500'000'000) / 10;
  });
  EXPECT_THAT(found(), testing::Contains("clean-1: processor time"));
}

TEST_F(Planted, ToleratesProcessorTimeShiftedByOneStep) {
  edit_steps([](std::vector<StepRow>& rows) {
    *rows[40].user_cpu_ns += 150'000'000;  // of two cores, within one period
    *rows[41].user_cpu_ns -= 150'000'000;
  });
  EXPECT_EQ(verdict_of("clean-1: processor time"), CheckVerdict::ok);
}

// Probes every tenth step, the second launch's half as fast in part: what is undisturbed is found a second time.
TEST_F(Planted, RecomputesTheVerdictOfProbedBlocks) {
  Record record = read_record(folder());
  for (Launch& launch : record.launches) {
    int64_t added = 0;
    for (size_t i = 0; i < launch.steps.size(); ++i) {
      StepRow& row = launch.steps[i];
      row.completed_ns += added;
      if (i % 10 != 9) continue;
      row.pause_ns = 1'000'000;
      row.fma_flop_rate = i > launch.steps.size() / 2 ? 50'000'000'000 : 99'000'000'000 + static_cast<int64_t>(i);
      row.read_byte_rate = 9'000'000'000 + static_cast<int64_t>(7 * i % 5);
      row.foreign_ns = 0;
      added += *row.pause_ns;
    }
  }
  write(record);
  EXPECT_THAT(found(), testing::IsEmpty());
  EXPECT_EQ(verdict_of("undisturbed_share"), CheckVerdict::ok);
  EXPECT_EQ(verdict_of("throughput_undisturbed"), CheckVerdict::ok);
  EXPECT_EQ(verdict_of("step_time_floor"), CheckVerdict::ok);
}

TEST_F(Planted, FindsARemovedStepRow) {
  std::vector<std::string> lines = split(read_file(steps()), '\n');
  lines.erase(lines.begin() + 40);
  write_file(steps(), join(lines, "\n"));
  EXPECT_THAT(found(), testing::Contains("clean-1: step numbers"));
}

TEST_F(Planted, FindsChangedUnits) {
  Record record = read_record(folder());
  record.launches[0].steps[30].units = 9;
  write(record);
  EXPECT_THAT(found(), testing::Contains("clean-1: units"));
}

TEST_F(Planted, FindsChangedSamples) {
  Record record = read_record(folder());
  record.launches[0].steps[30].samples = 7;
  write(record);
  EXPECT_THAT(found(), testing::Contains("clean-1: samples of a step"));
}

TEST_F(Planted, FindsTimestampsOutOfOrder) {
  std::string text = read_file(steps());
  std::vector<std::string> lines = split(text, '\n');
  lines[20] = lines[19].replace(0, 2, "20");
  write_file(steps(), join(lines, "\n"));
  EXPECT_FALSE(found().empty());
}

TEST_F(Planted, FindsAChangedFlopCount) {
  edit_json(folder() / "run.json", [](Json& run) { run["train_flops"] = 99; });
  EXPECT_THAT(found(), testing::ElementsAre("FLOPs of the op table"));
}

TEST_F(Planted, FindsChangedBatchAndParameterCounts) {
  edit_json(folder() / "launches/clean-2/launch.json", [](Json& launch) { launch["batch_seen"] = 4; });
  edit_json(folder() / "launches/clean-1/launch.json", [](Json& launch) { launch["parameters_seen"] = 4; });
  EXPECT_THAT(found(), testing::IsSupersetOf({"clean-2: batch seen", "clean-1: parameters seen"}));
}

TEST_F(Planted, FindsARemovedLaunch) {
  fs::remove_all(folder() / "launches/clean-1");
  EXPECT_THAT(found(), testing::ElementsAre("launches of pass clean"));
}

TEST_F(Planted, FindsAChangedEnvironment) {
  edit_json(folder() / "run.json", [](Json& run) { run["environment"]["cpu"]["cores"] = 64; });
  EXPECT_THAT(found(), testing::ElementsAre("environment hash"));
}

TEST_F(Planted, FindsPeaksThatContradictEachOther) {
  edit_json(folder() / "run.json", [](Json& run) { run["peaks"]["gemm"]["fp32"] = 2e9; });
  EXPECT_THAT(found(), testing::Contains("peaks: matrix product of fp32"));
}

TEST_F(Planted, FindsANonFiniteLoss) {
  Record record = read_record(folder());
  record.launches[1].steps[70].loss = std::nan("");
  write(record);
  EXPECT_THAT(found(), testing::Contains("outcome"));
}

TEST_F(Planted, FindsAnEditedMemoryLog) {
  const fs::path file = folder() / "launches/memory-1/memory.safetensors";
  MemoryLog log = read_memory_log(file);
  log.blocks[0].requested = 90;
  log.blocks[0].held = 96;
  write_memory_log(file, log);
  EXPECT_THAT(found(), testing::IsSupersetOf({"memory-1: live at the end, bytes", "memory-1: held at the end, bytes",
                                              "memory-1: allocator's peak, bytes"}));
}

TEST_F(Planted, FindsUnexplainedResidentMemoryWhenEvidenceIsExact) {
  const fs::path file = folder() / "launches/memory-1/launch.json";
  edit_json(file, [](Json& launch) { launch["host"]["memory"]["resident_bytes"] = int64_t{1} << 30; });
  EXPECT_THAT(found(), testing::ElementsAre("memory-1: closure"));
  const fs::path log_file = folder() / "launches/memory-1/memory.safetensors";
  MemoryLog log = read_memory_log(log_file);
  log.evidence = MemoryEvidence::partial;
  write_memory_log(log_file, log);
  EXPECT_THAT(found(), testing::IsEmpty());
}

TEST_F(Planted, FindsUnexplainedDeviceMemory) {
  Record record = read_record(folder());
  record.run.workload.device = record.run.request.device = Device("cuda:0");
  record.launches.pop_back();
  record.folder = folder();
  sample::add_gpu_memory(record);
  record.launches.back().info.host["memory"]["ledger_live_bytes"] = 100;
  write(record);
  EXPECT_EQ(verdict_of("memory-1: closure"), CheckVerdict::ok);
  EXPECT_THAT(found(), testing::IsEmpty());
  edit_json(folder() / "launches/memory-1/launch.json",
            [](Json& launch) { launch["host"]["memory"]["device_bytes"] = int64_t{1} << 30; });
  EXPECT_THAT(found(), testing::ElementsAre("memory-1: closure"));
  edit_json(folder() / "launches/memory-1/launch.json",
            [](Json& launch) { launch["host"]["memory"].erase("device_context_bytes"); });
  EXPECT_EQ(verdict_of("memory-1: closure"), CheckVerdict::unknown) << "nothing is claimed of what is not known";
}

TEST_F(Planted, TraceCut) {
  const fs::path file = folder() / "launches/trace-1/trace.tbdt";
  fs::resize_file(file, fs::file_size(file) - 20);
  const std::vector<std::string> names = found();
  EXPECT_TRUE(testing::Value(names, testing::Contains("trace-1: events lost")) ||
              testing::Value(names, testing::Contains("trace")))
      << join(names, ", ");
  fs::resize_file(file, 40);
  EXPECT_FALSE(found().empty());
}

TEST_F(Planted, FindsATraceWithFewerStepsThanRecorded) {
  sample::write_steps(folder() / "launches/trace-1/trace.tbdt", 6);
  EXPECT_FALSE(found().empty());
}

TEST_F(Planted, SumsNoTraceThatLostSwitchesBesideOneThatLostNone) {
  const fs::path launches = folder() / "launches";
  fs::copy(launches / "trace-1", launches / "trace-2", fs::copy_options::recursive);
  edit_json(launches / "trace-2/launch.json", [](Json& launch) { launch["number"] = 2; });
  sample::write_steps(launches / "trace-2/trace.tbdt", 12, {.rest = 1'050'000, .lost = 3});
  EXPECT_THAT(found(), testing::ElementsAre("trace-2: events lost"));
}

TEST_F(Planted, FindsAPrintedRowWithAnotherHashOrNumber) {
  const auto rows = [&](const Json& row) { return read_rows(row.dump() + "\n", "rows.json"); };
  Json row = to_json(summarize(read_record(folder())));
  EXPECT_THAT(found({.rows = rows(row)}), testing::IsEmpty());
  row["record_hash"] = "0123";
  EXPECT_THAT(found({.rows = rows(row)}), testing::ElementsAre("row: record_hash"));
  row = to_json(summarize(read_record(folder())));
  row["throughput"] = row["throughput"].get<double>() * (1 + 1e-9);
  EXPECT_THAT(found({.rows = rows(row)}), testing::ElementsAre("row: throughput"));
}

TEST_F(Planted, DamagedTruncatedAndEmptyFilesAreRows) {
  const std::string run = read_file(folder() / "run.json"), csv = read_file(steps());
  for (const size_t length : {size_t{0}, size_t{1}, run.size() / 2}) {
    write_file(folder() / "run.json", run.substr(0, length));
    EXPECT_THAT(found(), testing::ElementsAre(HasSubstr("readable"))) << length;
  }
  write_file(folder() / "run.json", run);
  for (const size_t length : {size_t{0}, size_t{4}, csv.size() / 2, csv.size() - 3}) {
    write_file(steps(), csv.substr(0, length));
    EXPECT_FALSE(verify(folder()).empty()) << length;
  }
  write_file(steps(), csv);
  write_file(folder() / "launches/clean-1/launch.json", "[]");
  EXPECT_FALSE(found().empty());
  write_file(folder() / "launches/memory-1/memory.safetensors", "");
  EXPECT_FALSE(found().empty());
}

TEST_F(Planted, ANewerVersionCannotBeChecked) {
  edit_json(folder() / "run.json", [](Json& run) { run["version"] = kRecordVersion + 1; });
  const std::vector<Check> checks = verify(folder());
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].verdict, CheckVerdict::unknown);
  EXPECT_FALSE(differs(checks));
  EXPECT_TRUE(unchecked(checks));
}

TEST_F(Planted, ReportsAFolderWithoutRunJson) {
  fs::remove(folder() / "run.json");
  ASSERT_EQ(records_or_what_is_left(place_.path()).size(), 1u);
  EXPECT_THAT(found(), testing::ElementsAre(HasSubstr("run.json is missing")));
  EXPECT_THROW(records_or_what_is_left(place_.path() / "nowhere"), Error);
}

const CheckVerdict kOk = CheckVerdict::ok, kDiffers = CheckVerdict::differs, kUnknown = CheckVerdict::unknown;

TEST(CheckTable, JoinsWhatCannotBeCheckedForTheSameReason) {
  const std::vector<Check> checks = {{"set/a", "clean-1: units", kUnknown, "", "", "samples are padded"},
                                     {"set/a", "clean-2: units", kUnknown, "", "", "samples are padded"},
                                     {"set/a", "throughput", kOk, "", "", ""},
                                     {"set/a", "energy_joules", kUnknown, "", "", "no energy meter"},
                                     {"set/b/", "trace-1: units", kUnknown, "", "", "samples are padded"},
                                     {"set/b/", "trace-1: closure", kUnknown, "", "", "open"},
                                     {"set/b/", "trace-1: events lost", kDiffers, "0", "7", "switches"}};
  EXPECT_EQ(to_text(check_table(checks, /*all=*/false)),
            "record     check                 verdict            stored  computed  reason\n"
            "b          trace-1: events lost  differs            0       7         switches\n"
            "2 records  units (3 times)       cannot be checked                    samples are padded\n"
            "a          energy_joules         cannot be checked                    no energy meter\n"
            "b          trace-1: closure      cannot be checked                    open\n"
            "7 checks: 1 ok, 1 differ, 5 cannot be made.\n");
  EXPECT_EQ(check_table(checks, /*all=*/true).rows.size(), checks.size());
}

TEST(Rows, NameFileAndLineOfAMalformedRow) {
  try {
    read_rows("{\"record\":\"a\"}\n{", "rows.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rows.json line 2"));
  }
}

}  // namespace
}  // namespace tbd
