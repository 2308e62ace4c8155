// What every trace must stand, however it came about: analysis in each window with its identities, tables, JSON, and
// export that is read back.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "analysis/trace/trace_tables.h"
#include "base/error.h"
#include "base/json.h"
#include "trace/export/chrome.h"
#include "trace/export/csv.h"
#include "trace/import/kineto.h"

namespace tbd::fuzz {

inline void check(bool holds) {
  if (!holds) std::abort();
}

inline void survive_analysis(const Trace& trace, int32_t rank, TraceWindow window) {
  try {
    const RankAnalysis a = analyze_rank(trace, rank, window);
    check(a.masks.window() == a.window.length());
    check(total(a.causes) == a.masks.idle());
    for (const StreamAnalysis& stream : a.streams) check(total(stream.causes) == stream.idle_ns);
    for (const Table& table : trace_tables(std::span(&a, 1))) to_html(table);
    to_text(fault_table(trace, std::span(&a, 1)));
    to_json(a).dump(-1, ' ', false, Json::error_handler_t::replace);
    comparison_tables(std::span(&a, 1), std::span(&a, 1));
  } catch (const Error&) {  // nothing to analyse, or sums that do not fit
  }
}

inline void survive_export(const Trace& trace, int32_t rank) {
  std::ostringstream chrome, csv;
  write_chrome(trace, rank, {}, chrome);
  write_csv(trace, {}, csv);
  const std::string text = chrome.str();
  Trace again;
  import_kineto(*memory_source(text), again);
}

inline void survive(const Trace& trace) {
  for (const int32_t rank : ranks_of(trace)) {
    for (const TraceWindow window : {TraceWindow::activity, TraceWindow::steps, TraceWindow::trace})
      survive_analysis(trace, rank, window);
    survive_export(trace, rank);
  }
}

// The bytes as a trace of one format: a trace that stands all of it, or one Error.
template <class Import>
int judge(const uint8_t* data, size_t size, const Import& import) {
  try {
    Trace trace;
    import(std::string_view(reinterpret_cast<const char*>(data), size), trace);
    survive(trace);
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace tbd::fuzz
