#include "analysis/trace/mllog_tables.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace tbd {
namespace {

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<double> logged_throughput(const Mllog& log) {
  for (const char* key : {"tracked_stats", "throughput"})
    if (const MllogEvent* event = log.last(key)) {
      if (event->value.is_number()) return event->value.get<double>();
      if (event->value.is_object() && event->value.contains("throughput") && event->value["throughput"].is_number())
        return event->value["throughput"].get<double>();
    }
  return std::nullopt;
}

Table run_table(const Mllog& log) {
  Table table{.title = "MLPerf run", .columns = {{"what", "what"}, {"value", "value"}}};
  const auto add = [&](std::string_view what, const std::string& value) {
    table.rows.push_back({std::string(what), value});
  };
  for (const char* key : {"submission_benchmark", "submission_platform", "global_batch_size", "train_samples", "seed"})
    if (const MllogEvent* event = log.last(key)) add(key, text_of(event->value));
  const MllogEvent *start = log.first("run_start"), *stop = log.last("run_stop");
  if (start && stop && stop->time_ms >= start->time_ms)
    add("run_start to run_stop", format_seconds(static_cast<double>(stop->time_ms - start->time_ms) / 1e3));
  if (stop)
    add("status", text_of(stop->metadata.is_object() && stop->metadata.contains("status") ? stop->metadata["status"]
                                                                                          : Json("not said")));
  else
    add("status", "the run did not stop");
  if (const auto rate = logged_throughput(log)) add("throughput, samples/s", significant(*rate, 4));
  if (const MllogEvent* accuracy = log.last("eval_accuracy")) add("last eval_accuracy", text_of(accuracy->value));
  return table;
}

struct IntervalTotal {
  int64_t count = 0, total_ms = 0, longest_ms = 0;
};

Table interval_table(const Mllog& log) {
  std::map<std::string, IntervalTotal> intervals;
  std::map<std::string, int64_t> open;
  for (const MllogEvent& event : log.events) {
    if (event.key.ends_with("_start")) open[event.key.substr(0, event.key.size() - 6)] = event.time_ms;
    if (!event.key.ends_with("_stop")) continue;
    const std::string name = event.key.substr(0, event.key.size() - 5);
    const auto begin = open.find(name);
    if (begin == open.end() || event.time_ms < begin->second) continue;
    IntervalTotal& interval = intervals[name];
    const int64_t length = event.time_ms - begin->second;
    ++interval.count;
    interval.total_ms += length;
    interval.longest_ms = std::max(interval.longest_ms, length);
    open.erase(begin);
  }
  Table table{.title = "Intervals of the MLPerf log"};
  table.columns = {{"name", "name"},
                   {"count", "count", Unit::count},
                   {"total_s", "total", Unit::seconds},
                   {"longest_s", "longest", Unit::seconds}};
  for (const auto& [name, interval] : intervals)
    table.rows.push_back({name, interval.count, static_cast<double>(interval.total_ms) / 1e3,
                          static_cast<double>(interval.longest_ms) / 1e3});
  return table;
}

}  // namespace

std::vector<Table> mllog_tables(const Mllog& log) {
  std::vector<Table> tables = {run_table(log)};
  if (Table intervals = interval_table(log); !intervals.rows.empty()) tables.push_back(std::move(intervals));
  if (log.malformed > 0) tables.front().notes = {cat(log.malformed, " malformed lines, first: ", log.first_malformed)};
  return tables;
}

}  // namespace tbd
