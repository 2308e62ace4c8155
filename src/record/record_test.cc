#include "record/record.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "record/link_sweep.h"
#include "record/reader.h"
#include "record/seal.h"
#include "record/steps.h"
#include "record/writer.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

RunInfo sample_run() {
  RunInfo run;
  run.workload.model = "resnet50";
  run.workload.framework = "pytorch";
  run.workload.batch = 8;
  run.workload.seed = ~uint64_t{0};
  run.workload.repro = "tbd run resnet50 --batch 8";
  run.parameters = 25'557'032;
  run.ops = {{.node = "conv1", .op = "conv2d", .forward = {.flop_model = 236'027'904, .bytes = 7}, .backward = {}}};
  *run.environment = {{"cpu", {{"model", "x"}}}};
  *run.peaks = {{"isa", {{"fp32", 1e11}}}};
  run.flags = {"threads-over-cores"};
  return run;
}

std::vector<StepRow> sample_steps(int64_t count) {
  std::vector<StepRow> rows;
  for (int64_t i = 1; i <= count; ++i)
    rows.push_back(
        {.step = i, .completed_ns = i * 1'000, .units = 8, .rss_bytes = 1 << 20, .loss = 1.0 / static_cast<double>(i)});
  return rows;
}

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

class RecordFolder : public testing::Test {
 protected:
  fs::path folder() const { return temporary_.path() / "cell"; }
  void write_whole() {
    RecordWriter writer(folder(), sample_run());
    LaunchInfo launch{.load_seconds = 0.5};
    writer.begin_launch(launch);
    writer.append(sample_steps(3));
    launch.peak_rss_bytes = 1 << 30;
    writer.end_launch(launch);
    writer.finish(sample_run(), {});
  }
  TemporaryFolder temporary_;
};

TEST_F(RecordFolder, ComesBackAsWritten) {
  write_whole();
  const Record record = read_record(folder());
  EXPECT_EQ(record.run.state, RunState::complete);
  EXPECT_EQ(record.run.outcome.kind, OutcomeKind::ok);
  RunInfo expected = sample_run();
  expected.state = RunState::complete;
  EXPECT_EQ(to_json(record.run).dump(), to_json(expected).dump());
  ASSERT_EQ(record.launches.size(), 1u);
  EXPECT_EQ(record.launches[0].info.peak_rss_bytes, 1 << 30);
  ASSERT_EQ(record.launches[0].steps.size(), 3u);
  EXPECT_EQ(record.launches[0].steps[2].loss, 1.0 / 3);
  EXPECT_FALSE(record.launches[0].steps[2].steal_ticks) << "an unread value stays unknown";
}

TEST_F(RecordFolder, ARecordNamedTwiceIsReadOnce) {
  write_whole();
  fs::create_directory_symlink(folder(), temporary_.path() / "link");
  const fs::path places[] = {temporary_.path() / "link", folder(), folder() / "", temporary_.path()};
  std::vector<UnreadableRecord> unreadable;
  const std::vector<Record> records = read_records(places, unreadable);
  EXPECT_TRUE(unreadable.empty());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].folder, temporary_.path() / "link");
}

TEST_F(RecordFolder, ImpossibleNumbersAreRefusedByFileAndKey) {
  write_whole();
  const auto refused = [&](const fs::path& file, const Json::json_pointer& key, const Json& value) {
    const std::string whole = read_file(file);
    Json json = parse_json(whole, "test");
    json[key] = value;
    write_file(file, json.dump());
    const std::string why = refusal([&] { read_record(folder()); });
    write_file(file, whole);
    EXPECT_THAT(why, HasSubstr(file.string()));
    return why;
  };
  using Key = Json::json_pointer;
  const fs::path run = folder() / "run.json", launch = folder() / "launches/clean-1/launch.json";
  EXPECT_THAT(refused(run, Key("/train_flops"), -1), HasSubstr("'train_flops' is -1: it cannot be negative"));
  EXPECT_THAT(refused(run, Key("/parameters"), -5), HasSubstr("'parameters' is -5"));
  EXPECT_THAT(refused(run, Key("/workload/batch"), -2), HasSubstr("'batch' is -2"));
  EXPECT_THAT(refused(run, Key("/peaks/isa"), {{"fp32", -1e9}}), HasSubstr("'peaks.isa.fp32'"));
  EXPECT_THAT(refused(launch, Key("/cores"), -2), HasSubstr("'cores' is -2"));
  EXPECT_THAT(refused(launch, Key("/load_seconds"), -0.5), HasSubstr("'load_seconds'"));
  EXPECT_EQ(refusal([&] { read_record(folder()); }), "accepted");
}

// Another user's rights for the files, which root's own do not show.
class AsNobody {
 public:
  AsNobody() : user_(::geteuid()) {
    if (user_ == 0 && ::seteuid(65534) != 0) ADD_FAILURE() << "cannot become nobody";
  }
  ~AsNobody() {
    if (::geteuid() != user_ && ::seteuid(user_) != 0) ADD_FAILURE() << "cannot become root again";
  }

 private:
  uid_t user_;
};

TEST_F(RecordFolder, ReportsUnreadableFiles) {
  write_whole();
  fs::permissions(temporary_.path(), fs::perms::all);
  const auto why = [&](const fs::path& closed) {
    fs::permissions(closed, fs::perms::none);
    const std::string said = refusal([&] {
      const AsNobody nobody;
      std::vector<UnreadableRecord> unreadable;
      read_records(std::vector{temporary_.path()}, unreadable);
    });
    fs::permissions(closed, fs::perms::all);
    return said;
  };
  for (const fs::path& closed : {folder() / "launches", folder() / "launches/clean-1/steps.csv", folder() / "run.json"})
    EXPECT_EQ(why(closed), cat("cannot read ", closed.string(), ": Permission denied"));
  EXPECT_EQ(why(folder() / "launches/clean-1"),
            cat("cannot read ", (folder() / "launches/clean-1/launch.json").string(), ": Permission denied"));
  EXPECT_EQ(why(folder()), cat("cannot read ", (folder() / "run.json").string(), ": Permission denied"));
}

TEST_F(RecordFolder, ALaunchIsSealedWhenItEnds) {
  RecordWriter writer(folder(), sample_run());
  const fs::path launch = writer.begin_launch({});
  writer.append(sample_steps(3));
  write_file(launch / "trace.tbdt", "events");
  write_file(launch / "worker.log", "chatter");
  EXPECT_FALSE(parse_json(read_file(launch / "launch.json"), "begun").contains("files"));
  writer.end_launch({});
  const Seal seal = seal_from_json(parse_json(read_file(launch / "launch.json"), "ended")["files"]);
  EXPECT_EQ(seal, seal_of(launch));
  ASSERT_EQ(seal.size(), 2u);
  EXPECT_EQ(seal.at("steps.csv").rows, 3);
  EXPECT_EQ(seal.at("trace.tbdt").sha256, sha256_hex("events"));
  EXPECT_EQ(seal.at("trace.tbdt").bytes, 6);
}

TEST_F(RecordFolder, TheHashFollowsTheContentAlone) {
  write_whole();
  const std::string hash = read_record(folder()).hash;
  fs::rename(folder(), temporary_.path() / "moved");
  EXPECT_EQ(read_record(temporary_.path() / "moved").hash, hash);
  write_file(temporary_.path() / "moved/launches/clean-1/steps.csv", steps_header());
  EXPECT_NE(read_record(temporary_.path() / "moved").hash, hash);
}

TEST_F(RecordFolder, ReportsTheStepCountOfAKilledRun) {
  const pid_t child = ::fork();
  if (child == 0) {
    RecordWriter writer(folder(), sample_run());
    writer.begin_launch({});
    writer.append(sample_steps(7));
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const Record record = read_record(folder());
  EXPECT_EQ(record.run.outcome.kind, OutcomeKind::interrupted);
  EXPECT_THAT(record.run.outcome.reason, AllOf(HasSubstr("clean-1"), HasSubstr("7 steps")));
  EXPECT_EQ(record.launches[0].info.outcome.kind, OutcomeKind::interrupted);
}

TEST_F(RecordFolder, AFullDiskIsReportedAndWhatWasWrittenIsReadable) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    RecordWriter writer(folder(), sample_run());
    writer.begin_launch({});
    const rlimit limit{4'000, 4'000};  // bytes of a file, as a full disk would cut it
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string sentence = refusal([&] { writer.append(sample_steps(1'000)); });
    ::_exit(sentence.find("cannot append to the record") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const Record record = read_record(folder());
  EXPECT_EQ(record.run.state, RunState::interrupted);
  EXPECT_GT(record.launches[0].steps.size(), 50u);
  EXPECT_EQ(record.launches[0].dropped_lines, 1);
}

TEST_F(RecordFolder, ANewerVersionIsRefusedWithASentence) {
  write_whole();
  Json json = parse_json(read_file(folder() / "run.json"), "run.json");
  json["version"] = kRecordVersion + 1;
  write_file(folder() / "run.json", json.dump());
  EXPECT_THAT(refusal([&] { read_record(folder()); }),
              AllOf(HasSubstr("run.json"), HasSubstr("version 2"), HasSubstr("newer tbd")));
}

TEST_F(RecordFolder, AnUnknownKeyOfTheSameVersionIsPassedOver) {
  write_whole();
  Json json = parse_json(read_file(folder() / "run.json"), "run.json");
  json["new_key"] = 1;
  write_file(folder() / "run.json", json.dump());
  EXPECT_EQ(read_record(folder()).run.workload.model, "resnet50");
}

TEST_F(RecordFolder, EveryCutOfRunJsonIsRefusedWithItsName) {
  write_whole();
  const std::string whole = read_file(folder() / "run.json");
  for (size_t length = 0; length + 2 < whole.size(); length += 13) {
    write_file(folder() / "run.json", whole.substr(0, length));
    EXPECT_THAT(refusal([&] { read_record(folder()); }), HasSubstr("run.json")) << length;
  }
}

TEST_F(RecordFolder, AFileThatMayNeverEndIsRefusedWithItsName) {
  write_whole();
  const fs::path run = folder() / "run.json", steps = folder() / "launches/clean-1/steps.csv";
  fs::remove(steps);
  fs::create_symlink("/dev/zero", steps);
  EXPECT_EQ(refusal([&] { read_record(folder()); }), cat("cannot read ", steps.string(), ": it is not a regular file"));
  fs::remove(run);
  ASSERT_EQ(::mkfifo(run.c_str(), 0600), 0);
  EXPECT_EQ(refusal([&] { read_record(folder()); }), cat("cannot read ", run.string(), ": it is not a regular file"));
}

TEST_F(RecordFolder, ARecordIsNeverOverwritten) {
  write_whole();
  EXPECT_THAT(refusal([&] { RecordWriter writer(folder(), sample_run()); }), HasSubstr("already holds a record"));
}

TEST_F(RecordFolder, AResultSetIsAFolderOfRecords) {
  for (const char* cell : {"b", "a"}) RecordWriter writer(temporary_.path() / "results/set" / cell, sample_run());
  fs::create_directory(temporary_.path() / "results/set/other");
  const fs::path set = temporary_.path() / "results/set";
  EXPECT_EQ(find_records(set), (std::vector<fs::path>{set / "a", set / "b"}));
  EXPECT_EQ(find_records(set / "a"), std::vector<fs::path>{set / "a"});
  EXPECT_EQ(find_records("@latest", temporary_.path() / "results").size(), 2u);
  EXPECT_THAT(refusal([&] { find_records(set / "other"); }), HasSubstr("holds no record"));
  EXPECT_THAT(refusal([&] { find_records("@latest", temporary_.path() / "none"); }), HasSubstr("@latest"));
}

TEST(Outcomes, NamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(OutcomeKind::interrupted); ++i)
    EXPECT_EQ(outcome_from(name(static_cast<OutcomeKind>(i))), static_cast<OutcomeKind>(i));
  EXPECT_THAT(refusal([] { outcome_from("fine"); }), HasSubstr("'fine'"));
}

TEST(Steps, EveryCutDropsAtMostOneLine) {
  const std::string whole = steps_header() + format_steps(sample_steps(4));
  for (size_t length = 0; length <= whole.size(); ++length) {
    int64_t dropped = 0;
    const std::vector<StepRow> rows = parse_steps(whole.substr(0, length), dropped);
    const size_t lines =
        static_cast<size_t>(std::count(whole.begin(), whole.begin() + static_cast<long>(length), '\n'));
    EXPECT_EQ(rows.size(), lines == 0 ? 0 : lines - 1) << length;
    EXPECT_EQ(dropped, length > 0 && whole[length - 1] != '\n') << length;
  }
}

TEST(Steps, AMalformedLineInTheMiddleIsAnError) {
  int64_t dropped = 0;
  EXPECT_THAT(refusal([&] { parse_steps("step,completed_ns,units\n1,x,8\n2,5,8\n", dropped); }), HasSubstr("line 2"));
  EXPECT_THAT(refusal([&] { parse_steps("step,completed_ns,units\n1,9,8\n2,5,8\n", dropped); }),
              HasSubstr("out of order"));
  EXPECT_THAT(refusal([&] { parse_steps("step,completed_ns,units\n1,9,8\n2,9,8\n", dropped); }),
              HasSubstr("out of order"));
  EXPECT_THAT(refusal([&] { parse_steps("step,units\n1,9\n", dropped); }), HasSubstr("completed_ns"));
}

TEST(Steps, OtherColumnsAndOrdersAreRead) {
  int64_t dropped = 0;
  const auto rows = parse_steps("units,new,completed_ns,step,loss\n8,?,5,1,nan\n", dropped);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].completed_ns, 5);
  EXPECT_TRUE(std::isnan(rows[0].loss.value()));
}

TEST(Record, KeepsItsRequestWhole) {
  RunInfo run = sample_run();
  run.request = {.model = "my nets/net.json", .framework = "pytorch@2.11", .batch = 8, .mode = Mode::kGraph};
  for (const char* data : {"it's here", "run", "--mode", "a \\ b", " "}) {
    run.request.data = data;
    EXPECT_EQ(run_from_json(to_json(run)).request, run.request);
  }
}

TEST(Record, RequestsOfOldRecordsComeFromTheirCommandLine) {
  RunInfo run = sample_run();
  run.workload.model = "net";
  run.workload.mode = Mode::kEager;
  run.workload.threads = 2;
  Workload request{.model = "my nets/net.json", .framework = "pytorch@/opt/a b", .batch = 8};
  request.threads = 2;
  request.layout = ImageLayout::kNhwc;
  request.input_mode = InputMode::kPipeline;
  request.seed = ~uint64_t{0};
  run.workload.layout = ImageLayout::kNhwc;
  run.workload.input_mode = InputMode::kPipeline;
  run.workload.precision = Precision::kFp32;
  for (const char* data : {"it's here", "run", "--mode"}) {
    request.data = data;
    run.workload.repro = repro_line(request, "quick");
    Json json = to_json(run);
    json.erase("request");
    EXPECT_EQ(run_from_json(json).request, request);
    EXPECT_EQ(run_from_json(json).workload.data, data);
  }
}

TEST(Record, AllocatorFrameworkOfOlderRecordsMeansStock) {
  RunInfo run = sample_run();
  run.workload.allocator = Allocator::kKept;
  Json json = to_json(run);
  EXPECT_EQ(json["workload"]["allocator"], "kept");
  EXPECT_EQ(run_from_json(json).workload.allocator, Allocator::kKept);
  json["workload"]["allocator"] = "framework";
  EXPECT_EQ(run_from_json(json).workload.allocator, Allocator::kStock);
  json["workload"].erase("allocator");
  EXPECT_EQ(run_from_json(json).workload.allocator, Allocator::kStock);
}

TEST(LinkSweepFile, ComesBackAsItWas) {
  LinkSweep one = {.framework = "pytorch", .framework_version = "2.15.0", .engine = "gloo"};
  for (const DType dtype : {DType::f32, DType::bf16})
    one.sizes.push_back({.dtype = dtype, .bytes = 256, .times_ns = {1'000, 2'000}});
  one.sizes[1].busy_ns = 700;
  const std::string text = to_text(one, {});
  const LinkSweep back = link_sweep_from(text, "file");
  EXPECT_EQ(to_text(back, {}), text);
  EXPECT_EQ(back.sizes.size(), 2u);
  EXPECT_EQ(back.sizes[0].busy_ns, std::nullopt) << "as files were before";
  EXPECT_EQ(back.sizes[1].busy_ns, 700);
  std::string hostile = text;
  hostile.replace(hostile.find("\"version\": 1"), 12, "\"version\": 2");
  EXPECT_THROW((void)link_sweep_from(hostile, "file"), Error);
  one.sizes[1].busy_ns = -1;
  EXPECT_THROW((void)link_sweep_from(to_text(one, {}), "file"), Error);
  one.sizes[1].busy_ns = {};
  one.sizes[0].times_ns[0] = 0;
  EXPECT_THROW((void)link_sweep_from(to_text(one, {}), "file"), Error);
  EXPECT_THROW((void)link_sweep_from("{}", "file"), Error);
}

}  // namespace
}  // namespace tbd
