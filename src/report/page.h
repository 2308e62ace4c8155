// A page of the report: text, tables and charts, from the cells alone. One file a page, listed in report.cc.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "report/cells.h"
#include "report/chart.h"

namespace tbd {

struct Page {
  std::string id, title;
  std::string html;  // before the charts; escaped already
  std::vector<Chart> charts;
  std::string below;          // after the charts; escaped already
  std::vector<Table> tables;  // those that Markdown, CSV and JSON print; the html holds them, too
};

Page summary_page(std::span<const ReportCell> cells);
Page throughput_page(std::span<const ReportCell> cells);
Page step_times_page(std::span<const ReportCell> cells);
Page profile_page(std::span<const ReportCell> cells);         // empty without a traced launch
Page memory_classes_page(std::span<const ReportCell> cells);  // empty without a launch of pass memory
Page memory_page(std::span<const ReportCell> cells);
Page environment_page(std::span<const ReportCell> cells);
Page methods_page(std::span<const ReportCell> cells);

}  // namespace tbd
