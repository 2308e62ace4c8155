#include "report/report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/sample_gpu.h"
#include "analysis/sample_record.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "record/evaluations.h"
#include "record/pictures.h"
#include "report/learned_curves.h"
#include "report/page.h"

namespace tbd {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kLibrary = "/* charts */";

std::vector<Record> four_cells() {
  return {sample_record(), sample_record({.input_mode = InputMode::kPipeline}),
          sample_record({.precision = Precision::kBf16}),
          sample_record({.input_mode = InputMode::kPipeline, .precision = Precision::kBf16})};
}

size_t count(const std::string& text, std::string_view part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

Json embedded_charts(const std::string& html) {
  const std::string open = "id=\"tbd-data\">";
  const size_t begin = html.find(open) + open.size();
  return parse_json(html.substr(begin, html.find("</script>", begin) - begin), "charts");
}

Json chart_of(const std::string& html, const std::string& id) {
  for (const Json& chart : embedded_charts(html))
    if (chart["id"] == id) return chart;
  return nullptr;
}

Record swept(const std::string& framework, int64_t batch, double step_seconds) {
  Record record = sample_record({.steps = 120, .step_seconds = step_seconds});
  record.run.workload.framework = framework;
  record.run.workload.batch = record.run.workload.samples_per_step = batch;
  record.launches[0].info.batch_seen = batch;
  record.hash = cat(framework, "-", batch);
  record.folder = cat("results/", framework, "-", batch);
  for (StepRow& row : record.launches[0].steps) row.units = static_cast<double>(batch);
  return record;
}

// Two frameworks at four batches; mxnet's largest did not fit.
std::vector<Record> two_sweeps() {
  std::vector<Record> records;
  for (const int64_t batch : {1, 2, 4, 8}) {
    records.push_back(swept("pytorch", batch, 0.02 * static_cast<double>(batch + 2)));
    records.push_back(swept("mxnet", batch, 0.03 * static_cast<double>(batch + 2)));
  }
  records.back().launches.clear();
  records.back().run.outcome = {.kind = OutcomeKind::oom, .reason = "the worker ran out of memory", .repro = ""};
  return records;
}

TEST(Report, DrawsThroughputAgainstBatchAndMarksOutOfMemory) {
  const Json chart = chart_of(report_html({two_sweeps()}, kLibrary), "x-model-resnet50-1");
  ASSERT_TRUE(chart.is_object());
  EXPECT_EQ(chart["mark"], "curves");
  ASSERT_EQ(chart["series"].size(), 3u);
  for (const Json& series : chart["series"]) {
    if (series["role"] == "gap") {
      EXPECT_EQ(series["x"], Json::array({8}));
      EXPECT_EQ(series["text"], Json::array({"oom"}));
    } else {
      EXPECT_EQ(series["x"], Json::array({1, 2, 4, 8})) << series["name"];
      EXPECT_EQ(series["y"][3].is_null(), series["name"] == "mxnet") << "a gap, not a zero";
      EXPECT_EQ(series["low"].size(), 4u);
    }
  }
}

TEST(Report, SaysInWhatRatesOfOneFrameworkDiffer) {
  std::vector<Record> records = two_sweeps();
  records.push_back(swept("pytorch", 4, 0.2));
  records.back().hash += "-other";
  records.back().run.workload.threads = 1;
  const std::string html = report_html({records}, kLibrary);
  const size_t matrix = html.find("<table class=\"matrix\">");
  const std::string cells = html.substr(matrix, html.find("</table>", matrix) - matrix);
  EXPECT_THAT(cells, HasSubstr("<div>1 thread: <strong>20"));
  EXPECT_EQ(count(cells, ": <strong>"), 2u) << "the other of pytorch, and not that of mxnet";
}

TEST(Report, MachinesNeverShareALine) {
  std::vector<Record> records = two_sweeps();
  for (Record record : two_sweeps()) {
    record.run.environment["cpu"]["model"] = "Another CPU";
    record.hash += "-other";
    record.folder += "-other";
    records.push_back(std::move(record));
  }
  const std::string html = report_html({records}, kLibrary);
  for (const char* id : {"x-model-resnet50-1", "x-model-resnet50-2"}) {
    const Json chart = chart_of(html, id);
    ASSERT_TRUE(chart.is_object()) << id;
    EXPECT_EQ(chart["series"].size(), 3u) << id;
    EXPECT_THAT(chart["title"].get<std::string>(), HasSubstr("machine ")) << id;
  }
  EXPECT_THAT(html, HasSubstr("machine A: Another CPU"));
  EXPECT_THAT(html, HasSubstr("machine B: Sample CPU"));
  EXPECT_THAT(html, HasSubstr("on 2 machines, which are kept apart"));
  EXPECT_TRUE(chart_of(html, "devices-1").is_object()) << "the same workloads, one machine over the other";
}

TEST(Report, ADuplicateIsListedAndNotDrawnTwice) {
  std::vector<Record> records = two_sweeps();
  records.push_back(swept("pytorch", 8, 0.5));
  records.back().hash = "twice";
  records.back().folder = "results/twice";
  const std::string html = report_html({records}, kLibrary);
  EXPECT_THAT(html, HasSubstr("Records of workloads that were measured more than once"));
  const Json chart = chart_of(html, "x-model-resnet50-1");
  ASSERT_TRUE(chart.is_object());
  for (const Json& series : chart["series"])
    EXPECT_TRUE(series["role"] == "gap" || series["x"].size() == 4u) << series["name"];
}

// The same workload in two sets: undisturbed, and later with the machine's other work.
std::vector<Record> measured_twice() {
  std::vector<Record> records = {swept("pytorch", 4, 0.1), swept("pytorch", 4, 0.2)};
  records[0].folder = "first/cell";
  records[1].folder = "second/cell";
  records[1].hash = "later";
  records[1].run.created = "2026-02-01T00:00:00Z";
  for (StepRow& row : records[1].launches[0].steps) row.runqueue_wait_ns = 20'000'000;
  return records;
}

TEST(Report, TheUndisturbedRecordOfAWorkloadIsDrawnAndAllAreListed) {
  const std::string html = report_html({measured_twice()}, kLibrary);
  const Json chart = chart_of(html, "throughput-1");
  ASSERT_TRUE(chart.is_object());
  EXPECT_EQ(chart["series"][0]["labels"], Json::array({"resnet50 (first)"}));
  EXPECT_THAT(html, HasSubstr("use the one with the best evidence"));
  EXPECT_THAT(html, HasSubstr("<h3>resnet50 (second)</h3>"));
  EXPECT_THAT(html, HasSubstr("Figures show another record of this workload: pytorch-4"));
  EXPECT_THAT(html, Not(HasSubstr("resnet50 #2")));
  const std::string markdown = print_report({measured_twice()}, Format::markdown);
  EXPECT_THAT(markdown, HasSubstr("| resnet50 (second) |"));
}

TEST(Report, ComparisonsUseOneRecordOfEachWorkload) {
  std::vector<Record> records = measured_twice();
  records.push_back(swept("mxnet", 4, 0.1));
  for (Record& record : records) record.run.verified = true;
  const std::string json = print_report({records}, Format::json);
  EXPECT_EQ(count(json, "\"table\":\"Frameworks side by side\""), 2u);
}

TEST(Report, ShowsClosureErrorsAndMissingPasses) {
  const std::string html = report_html({four_cells()}, kLibrary);
  EXPECT_EQ(count(html, "no such pass in these records"), 1u);
  EXPECT_THAT(html, HasSubstr("<summary>How well it closes: 0 of 6 closed, 1 open (FLOPs, ops against model), 5 not "
                              "measured</summary>"));
  const auto made = sample::made();
  sample::add_memory(made->record);
  const std::string text = print_report({std::vector<Record>{made->record}}, Format::csv);
  EXPECT_THAT(text, HasSubstr("Traced window minus the sum of its parts,0 ns,0 ns,1,0 ns,closed"));
  EXPECT_THAT(text,
              HasSubstr("Allocator's live bytes minus the ledger's,0 B,0 B,1,0 B where evidence is exact,closed"));
}

TEST(Report, BeginsWithTheAnswersAndOneChart) {
  std::vector<Record> records = {swept("pytorch", 4, 0.2), swept("mxnet", 4, 0.1)};
  for (Record& record : records) record.run.verified = true;
  const std::string html = report_html({records}, kLibrary);
  const size_t answers = html.find("<ul class=\"answers\">"), chart = html.find("id=\"throughput-1\""),
               verification = html.find("<details class=\"closure\">"), cards = html.find("class=\"cards\"");
  EXPECT_THAT(html.substr(answers, chart - answers), HasSubstr("undecided; mxnet had the highest rate"));
  EXPECT_LT(answers, chart);
  EXPECT_LT(chart, verification);
  EXPECT_LT(verification, cards);
  ASSERT_NE(cards, std::string::npos);
}

TEST(Report, NetworksOfDifferentUnitsShareTheFirstChart) {
  std::vector<Record> records;
  for (const char* model : {"bert", "minigo", "resnet50"})
    for (const char* framework : {"pytorch", "mxnet"}) {
      Record& record = records.emplace_back(swept(framework, 4, framework == std::string("mxnet") ? 0.2 : 0.1));
      record.run.workload.model = record.run.workload.unit = model;
      record.hash = cat(framework, model);
    }
  const std::string html = report_html({records}, kLibrary);
  const Json chart = chart_of(html, "frameworks-1");
  ASSERT_TRUE(chart.is_object());
  EXPECT_EQ(chart["order"].size(), 3u);
  for (const Json& series : chart["series"]) {
    ASSERT_EQ(series["y"].size(), 3u);
    EXPECT_NEAR(series["y"][0].get<double>(), series["name"] == "mxnet" ? 0.5 : 1, 0.01);
  }
  EXPECT_LT(html.find("id=\"frameworks-1\""), html.find("id=\"throughput-1\""));
  records.pop_back();
  EXPECT_FALSE(chart_of(report_html({records}, kLibrary), "frameworks-1").is_object()) << "two networks in both";
}

TEST(Report, CollapsesManyWorkloadsWithANote) {
  std::vector<Record> records;
  for (int64_t batch = 1; batch <= 30; ++batch) records.push_back(swept("pytorch", batch, 0.05));
  const std::string html = report_html({records}, kLibrary);
  EXPECT_THAT(html, HasSubstr("12 of 30 workloads are drawn here"));
  size_t step_charts = 0;
  for (const Json& chart : embedded_charts(html))
    step_charts += chart["id"].get<std::string>().starts_with("step-times");
  EXPECT_EQ(step_charts, 12u);
  EXPECT_EQ(count(print_report({records}, Format::csv), "# Step times: "), 30u) << "other formats hold all";
}

TEST(Report, DrawsNonFiniteLossesAsGaps) {
  Record record = sample_record();
  record.launches[0].steps[3].loss = std::nan("");
  const Json chart = chart_of(report_html({std::vector<Record>{record}}, kLibrary), "l-model-resnet50-1");
  const Json& y = chart["series"][0]["y"];
  EXPECT_EQ(std::ranges::count(y, Json(nullptr)), 1);
}

TEST(Report, AcceptsARecordOfOneStep) {
  EXPECT_NO_THROW(report_html({std::vector<Record>{sample_record({.steps = 1})}}, kLibrary));
}

TEST(Report, EveryFigureLinksToADefinitionThatIsThere) {
  const std::string html = report_html({two_sweeps()}, kLibrary);
  for (size_t at = html.find("href=\"#metric-"); at != std::string::npos; at = html.find("href=\"#metric-", at + 1)) {
    const std::string id = html.substr(at + 7, html.find('"', at + 7) - at - 7);
    EXPECT_THAT(html, HasSubstr(cat("id=\"", id, "\""))) << id;
  }
}

TEST(Report, HoldsEveryPageChartAndLibraryOnce) {
  const std::string html = report_html({four_cells()}, kLibrary);
  for (const char* id : {"summary", "throughput", "step-times", "memory", "environment", "methods"})
    EXPECT_THAT(html, HasSubstr(cat("<section id=\"", id, "\"")));
  EXPECT_EQ(count(html, kLibrary), 1u);
  EXPECT_EQ(embedded_charts(html).size(), 9u);
  EXPECT_EQ(count(html, "<figure>"), 9u);
  EXPECT_EQ(count(html, "class=\"csv\""), 9u);
}

TEST(Report, ShowsWhereTimeAndMemoryGo) {
  const auto made = sample::made();
  made->record.run.workload.model = "net";
  sample::add_memory(made->record);
  const std::string html = report_html({std::vector<Record>{made->record}}, kLibrary);
  for (const char* id : {"profile", "loss-bar", "roofline-1", "memory-classes", "memory-at-peak", "memory-over-step-1"})
    EXPECT_EQ(count(html, cat("id=\"", id, "\"")), 1u) << id;
  EXPECT_THAT(html, HasSubstr("kernel inefficiency"));
  double shares = 0;
  for (const Json& chart : embedded_charts(html))
    if (chart["id"] == "loss-bar")
      for (const Json& series : chart["series"]) shares += series["y"][0].get<double>();
  EXPECT_NEAR(shares, 100, 1e-9);
}

TEST(Report, HasAChapterOfWorkloadsOnAGpu) {
  const auto made = sample::made_on_gpu(Precision::kBf16);
  sample::add_gpu_memory(made->record);
  const std::vector<Record> records = {made->record};
  const std::string html = report_html({records}, kLibrary);
  EXPECT_EQ(count(html, "<section id=\"gpu\""), 1u);
  for (const char* said :
       {"Use of the GPU", "tensor cores", "GPU memory", "Device memory by data structure",
        "Longest kernels of below-average utilization", "Idle time of the device by what was queued"})
    EXPECT_THAT(html, HasSubstr(said));
  const std::string csv = print_report({records}, Format::csv);
  EXPECT_THAT(
      csv,
      HasSubstr("\"Device memory of the process that no part explains, of all\",5.75 %,5.75 %,1,1 % or 64 MiB,closed"));
  EXPECT_THAT(csv, HasSubstr("# Tables 5 and 6: longest kernels of below-average utilization, pytorch"));
  EXPECT_THAT(report_html({four_cells()}, kLibrary), Not(HasSubstr("<section id=\"gpu\"")));
}

TEST(Report, OmitsMemoryOnlyRecordsFromSpeedTables) {
  const auto made = sample::made();
  made->record.launches.clear();
  sample::add_memory(made->record);
  const std::string html = report_html({std::vector<Record>{made->record}}, kLibrary);
  EXPECT_THAT(html, HasSubstr("none was timed"));
  EXPECT_THAT(html, Not(HasSubstr("<section id=\"throughput\"")));
  EXPECT_THAT(html, HasSubstr("<section id=\"memory-classes\""));
}

TEST(Report, WritesOneCsvFilePerTable) {
  std::map<std::string, std::string> files;
  for (const auto& [name, content] : report_csv_files({four_cells()})) {
    EXPECT_TRUE(files.emplace(name, content).second) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."), std::string::npos) << name;
    EXPECT_THAT(content, Not(HasSubstr("# ")));
  }
  EXPECT_EQ(files.size(), report_tables({four_cells()}).size());
  const std::vector<std::string> lines = split(files.at("results.csv"), '\n');
  EXPECT_THAT(lines.at(0), HasSubstr(",throughput,throughput_low,throughput_high,"));
  for (const std::string& each : split(lines.at(1), ',')) EXPECT_EQ(each.find("…"), std::string::npos) << each;
  Record hostile = sample_record();
  hostile.run.workload.model = "../../etc/passwd";
  for (const auto& [name, content] : report_csv_files({std::vector<Record>{hostile}}))
    EXPECT_EQ(name.find('/'), std::string::npos) << name;
}

TEST(Report, NamesRecordsThatCannotBeRead) {
  const LeftOut bad = {.unreadable = {{"set/net-<b8>", "set/net-<b8>/run.json: not JSON"}}};
  const std::string html = report_html({four_cells(), std::span(&bad, 1)}, kLibrary);
  EXPECT_THAT(html, HasSubstr("<section id=\"left-out\""));
  EXPECT_THAT(html, HasSubstr("set/net-&lt;b8&gt;/run.json: not JSON"));
}

TEST(Report, SaysWhatABudgetLeftOut) {
  const LeftOut some = {.budget_seconds = 1800, .cells = {{"net-<b8>", "tbd run net --batch 8", 12.5, "dear"}}};
  const std::string html = report_html({four_cells(), std::span(&some, 1)}, kLibrary);
  EXPECT_THAT(html, HasSubstr("<section id=\"left-out\""));
  EXPECT_THAT(html, HasSubstr("net-&lt;b8&gt;"));
  EXPECT_THAT(html, HasSubstr("tbd run net --batch 8"));
  EXPECT_THAT(report_html({four_cells()}, kLibrary), Not(HasSubstr("id=\"left-out\"")));
}

TEST(Report, CountsSamplesThatWereLeftOut) {
  std::vector<Record> records = four_cells();
  for (Record& record : records)
    record.launches.back().info.host["data"] =
        Json{{"images", 8}, {"bad_file_count", 2}, {"notes", {"3 images left out: they do not fit"}}};
  const std::string html = report_html({records}, kLibrary);
  EXPECT_THAT(html, HasSubstr("<section id=\"left-out\""));
  EXPECT_EQ(count(html, "3 images left out: they do not fit"), 1u);
  EXPECT_THAT(html, HasSubstr("2 files could not be used"));
  EXPECT_THAT(html, HasSubstr(" and 3 more"));
}

// A record of the golden cases, whose folder holds two pictures.
Record pictured_record() {
  Record record = sample_record();
  record.folder = TBD_SOURCE_DIR "/tests/golden/records/pictured/resnet50-fp32-resident";
  return record;
}

TEST(Report, ShowsPicturesInTheChapterOfTheirNetwork) {
  const std::string html = report_html({std::vector<Record>{pictured_record()}}, kLibrary);
  EXPECT_EQ(count(html, "<img"), 2u);
  EXPECT_EQ(count(html, "src=\"data:image/png;base64,iVBORw0KGgo"), 2u);
  EXPECT_THAT(html, HasSubstr("<figcaption>2 boxes with a score above 0.5: a bird 0.91, a vehicle 0.62</figcaption>"));
  EXPECT_THAT(html, HasSubstr("alt=\"Samples &lt;of&gt; a generator\""));
  const size_t chapter = html.find("<section id=\"model-resnet50\""), picture = html.find("<img");
  ASSERT_NE(chapter, std::string::npos);
  EXPECT_GT(picture, chapter);
  EXPECT_LT(picture, html.find("</section>", chapter));
}

TEST(Report, SaysWhyPicturesCannotBeRead) {
  const TemporaryFolder folder;
  make_folder(folder.path() / "pictures");
  write_file(folder.path() / "pictures/pictures.json",
             R"({"version": 1, "pictures": [{"file": "a.gif", "title": "x"}]})");
  Record record = sample_record();
  record.folder = folder.path();
  const std::string html = report_html({std::vector<Record>{record}}, kLibrary);
  EXPECT_EQ(count(html, "<img"), 0u);
  EXPECT_THAT(html, HasSubstr("They cannot be read: "));
  EXPECT_THAT(html, HasSubstr("a.gif&#39; is not the name of a .png file"));
}

TEST(Report, FoldsPicturesBeyondADozen) {
  const TemporaryFolder folder;
  std::vector<Picture> pictures;
  for (int i = 0; i < 15; ++i) pictures.push_back({cat(i, ".png"), cat("picture ", i), "", "\x89PNG\r\n\x1a\n"});
  write_pictures(folder.path(), pictures);
  Record record = sample_record();
  record.folder = folder.path();
  const std::string html = report_html({std::vector<Record>{record}}, kLibrary);
  EXPECT_EQ(count(html, "<img"), 12u);
  EXPECT_THAT(html, HasSubstr("pictures/14.png"));
}

TEST(Report, LoadsNoExternalResources) {
  const std::string html = report_html({four_cells()}, kLibrary);
  EXPECT_THAT(html, Not(HasSubstr("http://")));
  EXPECT_THAT(html, Not(HasSubstr("https://")));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(Report, SameRecordsInAnyOrderGiveTheSameBytes) {
  std::vector<Record> records = four_cells();
  const std::string html = report_html({records}, kLibrary);
  std::swap(records[0], records[3]);
  EXPECT_EQ(report_html({records}, kLibrary), html);
}

TEST(Report, HostileNamesStayText) {
  const std::string hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&";
  Record record = sample_record();
  MeasuredWorkload& w = record.run.workload;
  for (std::string* s :
       {&w.model, &w.config, &w.framework, &w.framework_version, &w.unit, &w.optimizer, &w.repro, &w.model_hash})
    *s = hostile;
  w.mode = Mode(hostile);
  w.allocator = Allocator(hostile);
  w.device = Device(hostile);
  w.precision = Precision(hostile);
  w.layout = ImageLayout(hostile);
  w.input_mode = InputMode(hostile);
  record.hash = record.run.created = record.run.tool = hostile;
  record.run.flags = {hostile};
  record.run.outcome = {.kind = OutcomeKind::failed, .reason = hostile, .repro = hostile};
  *record.run.environment = {{hostile, hostile}};
  *record.run.peaks = {{"isa", {{hostile, 1.0}}}};
  record.launches[0].info.pass = Pass::kClean;
  const std::string html = report_html({std::vector<Record>{record, sample_record()}}, kLibrary);
  EXPECT_EQ(count(html, "<script"), 3u);
  EXPECT_EQ(count(html, "</script"), 3u);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_NO_THROW(embedded_charts(html));
}

TEST(Report, ReplacesInvalidUtf8) {
  Record record = sample_record();
  record.run.workload.model = "\xff\xfe";
  EXPECT_NO_THROW(report_html({std::vector<Record>{record}}, kLibrary));
}

TEST(Report, ShowsAWorkloadWithoutStepsAsARow) {
  Record record = sample_record();
  record.launches.clear();
  record.run.outcome = {.kind = OutcomeKind::oom, .reason = "the worker ran out of memory", .repro = ""};
  const std::string html = report_html({std::vector<Record>{record}}, kLibrary);
  EXPECT_THAT(html, HasSubstr("ran out of memory"));
  EXPECT_THAT(html, HasSubstr("no number"));
  EXPECT_EQ(embedded_charts(html).size(), 0u) << "a chart without marks";
}

TEST(Report, AMissingLibraryIsRefusedWithTheRemedy) {
  try {
    report_html({four_cells()}, "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("tbd setup"));
  }
}

TEST(Report, RefusesAChartLibraryThatClosesTheScriptTag) {
  EXPECT_THROW(report_html({four_cells()}, "x</script>"), Error);
}

TEST(Report, WithoutRecordsIsRefused) { EXPECT_THROW(report_html({}, kLibrary), Error); }

TEST(Report, ShowsTheInputVerdictInTheSummary) {
  const std::vector<Record> records = {sample_record(),
                                       sample_record({.input_wait = 0.1, .input_mode = InputMode::kPipeline})};
  EXPECT_THAT(report_html({records}, kLibrary), HasSubstr("input-bound</strong> – training waits for its input"));
}

TEST(Report, CsvOfAChartHoldsEveryStep) {
  const std::string csv =
      chart_of(report_html({std::vector<Record>{sample_record()}}, kLibrary), "step-times-1")["csv"];
  EXPECT_THAT(csv, testing::StartsWith("launch,step,step_time_s,units,stable\nclean-1,1,"));
  EXPECT_EQ(count(csv, "\n"), 121u);
}

TEST(Report, OtherFormatsHoldTheSameTables) {
  const std::vector<Record> records = four_cells();
  EXPECT_THAT(print_report({records}, Format::markdown), HasSubstr("### Results"));
  EXPECT_THAT(print_report({records}, Format::csv), HasSubstr("# Results\n"));
  for (const std::string& line : split(print_report({records}, Format::json), '\n'))
    EXPECT_TRUE(line.empty() || parse_json(line, "line").contains("table"));
}

TEST(Report, DoesNotDependOnHowRecordPathsAreWritten) {
  std::vector<std::string> pages;
  for (const char* place : {"/home/one/results/", "results/", ""}) {
    std::vector<Record> records = {swept("pytorch", 4, 0.02), swept("pytorch", 4, 0.02), swept("mxnet", 4, 0.02)};
    records[1].hash = "another";
    records[0].folder = cat(place, "b");
    records[1].folder = cat(place, "a");
    records[2].folder = cat(place, "c");
    pages.push_back(report_html({records}, kLibrary));
  }
  EXPECT_EQ(pages[0], pages[1]);
  EXPECT_EQ(pages[0], pages[2]);
}

TEST(Report, DistinguishesRecordsWithoutFolderNamesByHash) {
  std::vector<Record> records = {swept("pytorch", 4, 0.02), swept("pytorch", 4, 0.02)};
  records[0].hash = "0123456789abcdef";
  records[1].hash = "fedcba9876543210";
  records[0].folder = "cell";
  records[1].folder = "/somewhere/else/cell";
  const std::string html = report_html({records}, kLibrary);
  EXPECT_THAT(html, HasSubstr("(0123456789ab)"));
  EXPECT_THAT(html, Not(HasSubstr("somewhere")));
}

Launch training_launch(int64_t number, int64_t first, std::vector<std::optional<double>> losses) {
  Launch launch;
  launch.info.pass = Pass::kTrain;
  launch.info.number = number;
  for (const std::optional<double>& loss : losses) {
    launch.steps.push_back({.step = first++, .completed_ns = first});
    launch.steps.back().loss = loss;
  }
  return launch;
}

// Interrupted in step 4 and resumed after step 2; the loss of step 5 is not known.
class LearningPage : public testing::Test {
 protected:
  LearningPage() : record_(sample_record()) {
    record_.folder = folder_.path();
    record_.launches = {training_launch(1, 1, {8, 7, 60, 50}), training_launch(2, 3, {6, 5, std::nullopt, 4})};
    make_folder(folder_.path() / "launches/train-2");
    const std::vector<EvaluationRow> rows = {{.step = 2, .training_seconds = 1.5, .metrics = {{"top1", 0.25}}},
                                             {.step = 6, .training_seconds = 3.5, .metrics = {{"top1", 0.75}}}};
    write_file(folder_.path() / "launches/train-2" / kEvaluationsFile, evaluation_lines(rows));
  }
  Page page() const { return learning_page(report_cells(std::span(&record_, 1), {})); }

  TemporaryFolder folder_;
  Record record_;
};

TEST_F(LearningPage, TakesLossesThatStandAndLeavesOutUnknownOnes) {
  const Page made = page();
  ASSERT_EQ(made.charts.size(), 4U) << "the loss, and one metric against steps, samples and time";
  const ChartSeries& loss = made.charts[0].series.at(0);
  EXPECT_THAT(loss.x, testing::ElementsAre(1, 2, 3, 4, 6));
  EXPECT_THAT(loss.y, testing::ElementsAre(8, 7, 6, 5, 4));
}

TEST_F(LearningPage, ShowsTheTimeToQuality) {
  EXPECT_THAT(page().html, Not(HasSubstr("Time to quality"))) << "without a goal";
  (*record_.run.environment)["training"]["until"] = "top1=0.5";
  EXPECT_THAT(page().html, AllOf(HasSubstr("Time to quality"), HasSubstr("1 of 1")));
}

TEST_F(LearningPage, DrawsAMetricAgainstStepsAndTrainingTime) {
  const Page made = page();
  EXPECT_THAT(made.charts.at(1).series.at(0).x, testing::ElementsAre(2, 6));
  EXPECT_THAT(made.charts.at(2).series.at(0).x, testing::ElementsAre(2 * 8, 6 * 8)) << "a batch of 8";
  EXPECT_THAT(made.charts.at(3).series.at(0).x, testing::ElementsAre(1.5, 3.5));
  EXPECT_THAT(made.charts.at(3).series.at(0).y, testing::ElementsAre(0.25, 0.75));
  EXPECT_EQ(made.tables.at(0).rows.size(), 2U);
}

LearnedCurve learned(uint64_t seed, std::map<int64_t, double> losses, const std::vector<double>& top1) {
  LearnedCurve curve{.attempt = {.network = "resnet50", .setting = "pytorch", .seed = seed, .samples_per_step = 4},
                     .losses = std::move(losses)};
  for (const double value : top1) {
    const auto step = static_cast<int64_t>(10 * curve.attempt.rows.size());
    const double seconds = static_cast<double>(step) * static_cast<double>(seed);
    curve.attempt.rows.push_back({.step = step, .training_seconds = seconds, .metrics = {{"top1", value}}});
  }
  return curve;
}

TEST(LearnedCurves, ShowWhatSeedsSpan) {
  const LearnedSetting both{
      "pytorch", {learned(1, {{1, 4}, {2, 3}}, {0.1, 0.9}), learned(3, {{1, 6}, {2, 3}, {3, 2}}, {0.3, 0.5, 0.7})}};
  const ChartSeries loss = learned_loss(both);
  EXPECT_EQ(loss.name, "pytorch, 2 seeds");
  EXPECT_THAT(loss.y, testing::ElementsAre(5, 3, 2));
  EXPECT_THAT(loss.low, testing::ElementsAre(4, 3, 2));
  EXPECT_THAT(loss.high, testing::ElementsAre(6, 3, 2));
  const ChartSeries top1 = learned_metric(both, "top1", LearnedAxis::seconds);
  EXPECT_THAT(top1.x, testing::ElementsAre(0, 20, 60)) << "mean time of those that still trained";
  EXPECT_THAT(top1.y, testing::ElementsAre(testing::Optional(testing::DoubleEq(0.2)), 0.7, 0.8))
      << "the first ended at 0.9 and keeps it";
  EXPECT_THAT(top1.high, testing::ElementsAre(0.3, 0.9, 0.9));
  EXPECT_THAT(learned_metric(both, "top1", LearnedAxis::samples).x, testing::ElementsAre(0, 40, 80));
  EXPECT_THAT(learned_metric(both, "bleu", LearnedAxis::steps).x, testing::IsEmpty());
}

TEST(LearnedCurves, AreDrawnByDecadesWhereTheySpanOne) {
  const auto spans = [](std::vector<std::optional<double>> y) {
    return span_a_decade(std::vector<ChartSeries>{{.name = "", .y = y}});
  };
  EXPECT_TRUE(spans({2000, 150}));
  EXPECT_FALSE(spans({15, 2}));
  EXPECT_FALSE(spans({15, 0}));
  EXPECT_FALSE(spans({}));
}

TEST(LearnedCurves, OfOneSeedHaveNoRange) {
  const LearnedSetting one{"mxnet", {learned(7, {{1, 4}}, {0.1})}};
  EXPECT_EQ(learned_loss(one).name, "mxnet, seed 7");
  EXPECT_THAT(learned_loss(one).low, testing::IsEmpty());
}

TEST_F(LearningPage, IsEmptyWithoutATraining) {
  const Record timed = sample_record();
  EXPECT_TRUE(learning_page(report_cells(std::span(&timed, 1), {})).charts.empty());
}

}  // namespace
}  // namespace tbd
