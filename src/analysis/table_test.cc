#include "analysis/table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "analysis/fit.h"
#include "analysis/table_parts.h"
#include "base/json.h"
#include "base/testing_growth.h"
#include "base/text.h"

namespace tbd {
namespace {

using testing::HasSubstr;
using testing::Not;

Table sample() {
  return {.title = "Cells",
          .columns = {{"model", "model", Unit::none},
                      {"step_time", "step time", Unit::seconds},
                      {"share", "share", Unit::fraction}},
          .rows = {{std::string("resnet50"), 0.25, 0.5}, {std::string("a|b"), {}, 1.0 / 3}},
          .notes = {}};
}

TEST(Table, TextIsAligned) {
  EXPECT_EQ(to_text(sample()),
            "Cells\n"
            "model     step time   share\n"
            "resnet50     250 ms  50.0 %\n"
            "a|b               –  33.3 %\n");
}

TEST(Table, FormatsLongTablesInLinearTime) {
  const auto format = [](int64_t rows) {
    Table table{.columns = {{"n", "n", Unit::count}, {"m", "m", Unit::count}}};
    for (int64_t i = 0; i < rows; ++i) table.rows.push_back({i, i});
    EXPECT_EQ(std::ranges::count(to_text(table), '\n'), rows + 1);
    EXPECT_EQ(std::ranges::count(to_markdown(table), '\n'), rows + 2);
  };
  EXPECT_LT(growth_by_ten(20'000, format), kLinearGrowth);
}

TEST(Table, OnlyAlignedTextIsShortened) {
  const auto two = [](std::string_view text) { return std::string(text, 0, 2); };
  const Table table{.columns = {{"name", "name", Unit::none, two}}, .rows = {{std::string("long")}}};
  EXPECT_EQ(to_text(table), "name\nlo\n");
  EXPECT_EQ(to_csv(table), "name\nlong\n");
  EXPECT_THAT(to_html(table), HasSubstr("long"));
}

TEST(Table, MarkdownEscapesPipes) {
  EXPECT_EQ(to_markdown(sample()),
            "### Cells\n\n"
            "| model    | step time |  share |\n"
            "|----------|----------:|-------:|\n"
            "| resnet50 |    250 ms | 50.0 % |\n"
            "| a\\|b     |         – | 33.3 % |\n");
}

TEST(Table, CsvAndJsonKeepAllDigits) {
  EXPECT_EQ(to_csv(sample()), "model,step_time,share\nresnet50,0.25,0.5\na|b,,0.3333333333333333\n");
  EXPECT_EQ(to_json_lines(sample()),
            "{\"model\":\"resnet50\",\"step_time\":0.25,\"share\":0.5}\n"
            "{\"model\":\"a|b\",\"step_time\":null,\"share\":0.3333333333333333}\n");
}

TEST(Table, CsvQuotesWhatNeedsIt) {
  const Table table{.columns = {{"a,b", ""}}, .rows = {{std::string("say \"no\"\n")}}};
  EXPECT_EQ(to_csv(table), "\"a,b\"\n\"say \"\"no\"\"\n\"\n");
}

TEST(Table, HostileTextStaysText) {
  const Table table{.columns = {{"x", "<b>"}}, .rows = {{std::string("<script>alert('1')</script>\x1b[2J")}}};
  EXPECT_THAT(to_html(table), Not(HasSubstr("<script>")));
  EXPECT_THAT(to_html(table), HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(to_text(table), Not(HasSubstr("\x1b")));
  EXPECT_THAT(to_markdown(table), Not(HasSubstr("|<")));
}

TEST(Table, PrintsNanAsNullInJson) {
  const Table table{.columns = {{"x", "x"}}, .rows = {{std::numeric_limits<double>::quiet_NaN()}}};
  EXPECT_EQ(to_json_lines(table), "{\"x\":null}\n");
  EXPECT_THAT(to_text(table), HasSubstr("not a number"));
}

// Two rows of a run, as wide as a terminal is not.
Table wide() {
  const std::string reason = "the worker ended with signal 9 while it compiled the second phase";
  return {.title = "",
          .columns = {{.key = "model", .title = "model", .drop = 0},
                      {.key = "framework", .title = "framework", .drop = 0},
                      {.key = "rate", .title = "images/s", .unit = Unit::per_second, .drop = 0},
                      {.key = "minor", .title = "step p95", .unit = Unit::seconds, .drop = 2},
                      {.key = "share", .title = "share of the time", .unit = Unit::fraction},
                      {.key = "reason", .title = "reason"}},
          .rows = {{std::string("resnet50"), std::string("pytorch"), 31.5, 0.25, 0.5, reason},
                   {std::string("resnet50"), std::string("tensorflow"), 28.25, 0.5, 0.25, std::string("none")}},
          .notes = {}};
}

size_t longest_line(const std::string& text) {
  size_t longest = 0;
  for (const std::string& line : split(text, '\n')) longest = std::max(longest, text_columns(line));
  return longest;
}

TEST(Table, ThatFitsIsPrintedAsItIs) { EXPECT_EQ(to_text(sample(), 80), to_text(sample())); }

TEST(Table, InAFileIsNeverCut) {
  EXPECT_EQ(to_text(wide(), kUnbounded), to_text(wide()));
  EXPECT_EQ(print(wide(), Format::csv, 40), to_csv(wide()));
  EXPECT_EQ(print(wide(), Format::markdown, 40), to_markdown(wide()));
}

TEST(Table, SaysOnceWhatIsEqualInAllRowsAndWrapsText) {
  EXPECT_EQ(to_text(wide(), 80),
            "In all rows: model resnet50\n"
            "                               share\n"
            "                        step  of the\n"
            "framework   images/s     p95    time  reason\n"
            "pytorch        31.50  250 ms  50.0 %  the worker ended with signal 9 while it\n"
            "                                      compiled the second phase\n"
            "tensorflow     28.25  500 ms  25.0 %  none\n");
}

TEST(Table, LeavesOutColumnsThatGoFirstAndNamesThem) {
  Table table = wide();
  for (Column& column : table.columns) column.title = cat(column.title, "_made_wide");
  const std::string text = to_text(table, 80);
  EXPECT_LE(longest_line(text), 80);
  EXPECT_THAT(text, HasSubstr("Too wide for this terminal: step p95_made_wide. A wider"));
  EXPECT_THAT(text, HasSubstr("28.25"));
}

TEST(Table, LeavesNoNumberWithoutItsPercentSign) {
  EXPECT_EQ(wrap("it took 12.5 % more", 13), (std::vector<std::string>{"it took", "  12.5 % more"}));
}

TEST(Table, KeepsEveryWordAtEveryWidth) {
  for (const size_t width : {30, 48, 60, 79, 80, 100, 120, 200}) {
    const std::string text = to_text(wide(), width);
    EXPECT_LE(longest_line(text), width);
    for (const char* word : {"resnet50", "tensorflow", "31.50", "28.25", "compiled", "signal", "none"})
      EXPECT_THAT(text, HasSubstr(word)) << width;
  }
}

TEST(Table, OfOneRowThatDoesNotFitIsALineForEachValue) {
  Table table = wide();
  table.rows.pop_back();
  EXPECT_THAT(to_text(table, 80), HasSubstr("framework: pytorch\nimages/s: 31.50\nstep p95: 250 ms\n"));
}

TEST(Table, BelowEightyColumnsIsALineForEachValue) {
  EXPECT_THAT(to_text(wide(), 40), HasSubstr("framework: tensorflow\nimages/s: 28.25\n"));
}

TEST(Table, SaysIdenticalNotesOnceWithACount) {
  Table table = sample();
  table.notes = {"same", "other", "same"};
  EXPECT_THAT(to_text(table), HasSubstr("same (2 times)\nother\n"));
  EXPECT_THAT(to_markdown(table), HasSubstr("\nsame (2 times)\n\nother\n"));
  EXPECT_THAT(to_html(table), HasSubstr(">same (2 times)<"));
}

TEST(Table, AnUnknownFormatIsRefused) {
  EXPECT_EQ(format_from("md"), Format::markdown);
  EXPECT_THROW(format_from("xml"), Error);
}

}  // namespace
}  // namespace tbd
