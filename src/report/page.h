// A page of the report: text, tables and charts, from the cells alone. One file a page, listed in report.cc.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "report/cells.h"
#include "report/chart.h"

namespace tbd {

struct Page {
  std::string id, title;  // the title is escaped where it is written
  std::string html;       // before the charts; escaped already
  std::vector<Chart> charts;
  std::string below;          // after the charts; escaped already
  std::vector<Table> tables;  // those that Markdown, CSV and JSON print, of all cells; the html may fold some
  bool model = false;         // a section of one model: reached from the matrix, not from the bar of links
};

Page summary_page(const Content& content, std::span<const ReportCell> timed);
Page observations_page(const Content& content);  // empty where nothing could be decided
std::vector<Page> model_pages(const Content& content);
Page cpu_utilization_page(const Content& content);     // empty without a number
Page left_out_page(const Content& content);            // empty where nothing was
Page devices_page(const Content& content);             // empty on one device
Page gpu_page(std::span<const ReportCell> cells);      // empty without a workload on a GPU
Page scaling_page(std::span<const ReportCell> timed);  // empty without several workers
Page throughput_page(std::span<const ReportCell> cells);
Page step_times_page(std::span<const ReportCell> cells);
Page profile_page(std::span<const ReportCell> cells);         // empty without a traced launch
Page memory_classes_page(std::span<const ReportCell> cells);  // empty without a launch of pass memory
Page memory_page(std::span<const ReportCell> cells);
Page learning_page(std::span<const ReportCell> cells);  // empty without a training to a result
Page gap_page(std::span<const ReportCell> cells);       // empty without rivals of one network
Page then_page(std::span<const ReportCell> cells);
Page paper_tables_page(std::span<const ReportCell> cells);
Page environment_page(std::span<const ReportCell> cells);
Page methods_page(std::span<const ReportCell> cells);

}  // namespace tbd
