#include "report/report.h"

#include <gmock/gmock.h>

#include "analysis/sample_profile.h"
#include "analysis/sample_record.h"
#include "base/json.h"

namespace tbd {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kLibrary = "/* charts */";

std::vector<Record> four_cells() {
  return {sample_record(), sample_record({.input_mode = "pipeline"}), sample_record({.precision = "bf16"}),
          sample_record({.input_mode = "pipeline", .precision = "bf16"})};
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

TEST(Report, HoldsEveryPageChartAndLibraryOnce) {
  const std::string html = report_html(four_cells(), kLibrary);
  for (const char* id : {"summary", "throughput", "step-times", "memory", "environment", "methods"})
    EXPECT_THAT(html, HasSubstr(cat("<section id=\"", id, "\"")));
  EXPECT_EQ(count(html, kLibrary), 1u);
  EXPECT_EQ(embedded_charts(html).size(), 6u);
  EXPECT_EQ(count(html, "<figure>"), 6u);
  EXPECT_EQ(count(html, "class=\"csv\""), 6u);
}

TEST(Report, ShowsWhereTimeAndMemoryGo) {
  const auto made = sample::made();
  made->record.run.workload.model = "net";
  sample::add_memory(made->record);
  const std::string html = report_html(std::vector<Record>{made->record}, kLibrary);
  for (const char* id : {"profile", "loss-bar", "roofline-1", "memory-classes", "memory-at-peak", "memory-over-step-1"})
    EXPECT_EQ(count(html, cat("id=\"", id, "\"")), 1u) << id;
  EXPECT_THAT(html, HasSubstr("kernel inefficiency"));
  double shares = 0;
  for (const Json& chart : embedded_charts(html))
    if (chart["id"] == "loss-bar")
      for (const Json& series : chart["series"]) shares += series["y"][0].get<double>();
  EXPECT_NEAR(shares, 100, 1e-9);
}

TEST(Report, ARecordOfMemoryAloneIsNotOfSpeed) {
  const auto made = sample::made();
  made->record.launches.clear();
  sample::add_memory(made->record);
  const std::string html = report_html(std::vector<Record>{made->record}, kLibrary);
  EXPECT_THAT(html, HasSubstr("none was timed"));
  EXPECT_THAT(html, Not(HasSubstr("<section id=\"throughput\"")));
  EXPECT_THAT(html, HasSubstr("<section id=\"memory-classes\""));
}

TEST(Report, NothingIsFetched) {
  const std::string html = report_html(four_cells(), kLibrary);
  EXPECT_THAT(html, Not(HasSubstr("http://")));
  EXPECT_THAT(html, Not(HasSubstr("https://")));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(Report, SameRecordsInAnyOrderGiveTheSameBytes) {
  std::vector<Record> records = four_cells();
  const std::string html = report_html(records, kLibrary);
  std::swap(records[0], records[3]);
  EXPECT_EQ(report_html(records, kLibrary), html);
}

TEST(Report, HostileNamesStayText) {
  const std::string hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&";
  Record record = sample_record();
  Workload& w = record.run.workload;
  for (std::string* s : {&w.model, &w.config, &w.framework, &w.framework_version, &w.mode, &w.device, &w.precision,
                         &w.layout, &w.allocator, &w.input_mode, &w.unit, &w.optimizer, &w.repro, &w.model_hash})
    *s = hostile;
  record.hash = record.run.created = record.run.tool = hostile;
  record.run.flags = {hostile};
  record.run.outcome = {.kind = OutcomeKind::failed, .reason = hostile, .repro = hostile};
  record.run.environment = {{hostile, hostile}};
  record.run.peaks = {{"isa", {{hostile, 1.0}}}};
  record.launches[0].info.pass = "clean";
  const std::string html = report_html(std::vector<Record>{record, sample_record()}, kLibrary);
  EXPECT_EQ(count(html, "<script"), 3u);
  EXPECT_EQ(count(html, "</script"), 3u);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_NO_THROW(embedded_charts(html));
}

TEST(Report, BytesThatAreNoTextAreReplaced) {
  Record record = sample_record();
  record.run.workload.model = "\xff\xfe";
  EXPECT_NO_THROW(report_html(std::vector<Record>{record}, kLibrary));
}

TEST(Report, ACellWithoutStepsIsARowNotAHole) {
  Record record = sample_record();
  record.launches.clear();
  record.run.outcome = {.kind = OutcomeKind::oom, .reason = "the worker ran out of memory", .repro = ""};
  const std::string html = report_html(std::vector<Record>{record}, kLibrary);
  EXPECT_THAT(html, HasSubstr("ran out of memory"));
  EXPECT_THAT(html, HasSubstr("no number"));
  EXPECT_EQ(embedded_charts(html).size(), 0u) << "a chart without marks";
}

TEST(Report, AMissingLibraryIsRefusedWithTheRemedy) {
  try {
    report_html(four_cells(), "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("tbd setup"));
  }
}

TEST(Report, ALibraryThatEndsItsScriptIsRefused) { EXPECT_THROW(report_html(four_cells(), "x</script>"), Error); }

TEST(Report, WithoutRecordsIsRefused) { EXPECT_THROW(report_html({}, kLibrary), Error); }

TEST(Report, TheInputVerdictStandsInTheSummary) {
  const std::vector<Record> records = {sample_record(), sample_record({.input_wait = 0.1, .input_mode = "pipeline"})};
  EXPECT_THAT(report_html(records, kLibrary), HasSubstr("input-bound</strong> – training waits for its input"));
}

TEST(Report, CsvOfAChartHoldsEveryStep) {
  const Json charts = embedded_charts(report_html(std::vector<Record>{sample_record()}, kLibrary));
  const std::string csv = charts[1]["csv"];
  EXPECT_THAT(csv, testing::StartsWith("launch,step,step_time_s,units,stable\nclean-1,1,"));
  EXPECT_EQ(count(csv, "\n"), 121u);
}

TEST(Report, OtherFormatsHoldTheSameTables) {
  const std::vector<Record> records = four_cells();
  EXPECT_THAT(print_report(records, Format::markdown), HasSubstr("### Results"));
  EXPECT_THAT(print_report(records, Format::csv), HasSubstr("# Results\n"));
  for (const std::string& line : split(print_report(records, Format::json), '\n'))
    EXPECT_TRUE(line.empty() || parse_json(line, "line").contains("table"));
}

}  // namespace
}  // namespace tbd
