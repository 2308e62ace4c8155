// The report: one self-contained HTML file from records alone, and its tables in the other formats.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/table.h"
#include "record/left_out.h"
#include "record/record.h"

namespace tbd {

// The page. `plotly` is the text of plotly.min.js. Same records and library, same bytes; nothing in a record can become
// markup or script: text is escaped, and a content security policy admits the page's own scripts alone.
// Throws Error(invalid) without records, Error(unsupported) with the remedy without a library.
std::string report_html(std::span<const Record> records, std::string_view plotly,
                        std::span<const LeftOut> left_out = {});

// Writes the page to `out`, atomically, with the library this program was built with.
void write_report(std::span<const Record> records, const std::filesystem::path& out);

// The report's tables, without charts.
std::vector<Table> report_tables(std::span<const Record> records, std::span<const LeftOut> left_out = {});
// The same as files of one table each: their names, by the tables' titles ("results.csv"), and their content.
std::vector<std::pair<std::string, std::string>> report_csv_files(std::span<const Record> records,
                                                                  std::span<const LeftOut> left_out = {});
// The same as one text. JSON: one object per row with the table's title under "table".
std::string print_report(std::span<const Record> records, Format format, std::span<const LeftOut> left_out = {});

}  // namespace tbd
