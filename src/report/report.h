// The report: one self-contained HTML file from records alone, and its tables in the other formats.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/observations/observations.h"
#include "analysis/table.h"
#include "record/left_out.h"
#include "record/record.h"

namespace tbd {

// What a report is made of.
struct ReportInput {
  std::span<const Record> records;
  std::span<const LeftOut> left_out = {};       // by time budgets, of the result sets
  std::span<const KnownNetwork> networks = {};  // that suggestions may name (analysis/observations)
};

// The page. `plotly` is the text of plotly.min.js. Same input and library, same bytes; nothing in a record can become
// markup or script: text is escaped, and a content security policy admits the page's own scripts alone.
// Throws Error(invalid) without records, Error(unsupported) with the remedy without a library.
std::string report_html(const ReportInput& input, std::string_view plotly);

// Writes the page to `out`, atomically, with the library this program was built with.
void write_report(const ReportInput& input, const std::filesystem::path& out);

// The report's tables, without charts.
std::vector<Table> report_tables(const ReportInput& input);
// The same as files of one table each: their names, by the tables' titles ("results.csv"), and their content.
std::vector<std::pair<std::string, std::string>> report_csv_files(const ReportInput& input);
// The same as one text. JSON: one object per row with the table's title under "table".
std::string print_report(const ReportInput& input, Format format);

}  // namespace tbd
