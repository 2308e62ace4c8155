#include "analysis/table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "base/json.h"
#include "base/testing_growth.h"

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

TEST(Table, AnUnknownFormatIsRefused) {
  EXPECT_EQ(format_from("md"), Format::markdown);
  EXPECT_THROW(format_from("xml"), Error);
}

}  // namespace
}  // namespace tbd
