#include "cli/export_mllog.h"

#include <ctime>
#include <ostream>

#include "analysis/cell.h"
#include "trace/import/mllog.h"

namespace tbd::cli {
namespace {

// "2026-01-31T12:00:00Z" in ms since the epoch; 0 where the label is another.
int64_t epoch_ms(const std::string& label) {
  std::tm time{};
  if (strptime(label.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) == nullptr) return 0;
  return static_cast<int64_t>(timegm(&time)) * 1000;
}

class Writer {
 public:
  Writer(std::ostream& out, int64_t time_ms) : out_(out), time_ms_(time_ms) {}
  void point(std::string key, Json value) { write("POINT_IN_TIME", std::move(key), std::move(value), nullptr); }
  void write(std::string type, std::string key, Json value, Json metadata) {
    out_ << mllog_line({.key = std::move(key),
                        .type = std::move(type),
                        .time_ms = time_ms_,
                        .value = std::move(value),
                        .metadata = std::move(metadata)});
  }
  void advance(int64_t ms) { time_ms_ += ms; }

 private:
  std::ostream& out_;
  int64_t time_ms_;
};

int64_t duration_ms(const Record& record) {
  int64_t total = 0;
  for (const Launch& launch : record.launches)
    if (!launch.steps.empty()) total += launch.steps.back().completed_ns / 1'000'000;
  return total;
}

}  // namespace

void write_mllog(const Record& record, std::ostream& out) {
  const MeasuredWorkload& w = record.run.workload;
  Writer log(out, epoch_ms(record.run.created));
  log.point("submission_benchmark", w.model);
  if (w.samples_per_step > 0) log.point("global_batch_size", w.samples_per_step);
  log.point("seed", w.seed);
  log.point("tbd_framework", cat(w.framework, " ", w.framework_version));
  log.point("tbd_precision", w.precision);
  log.point("tbd_model_hash", w.model_hash);
  log.point("tbd_note", "a check of the format, no MLPerf result");
  log.write("INTERVAL_START", "run_start", nullptr, nullptr);
  log.advance(duration_ms(record));
  if (const auto rate = summarize(record)["throughput"].value)
    log.write("POINT_IN_TIME", "tracked_stats", {{"throughput", *rate}}, {{"unit", cat(w.unit, "/s")}});
  const bool good = record.run.outcome.kind == OutcomeKind::ok;
  log.write("INTERVAL_END", "run_stop", nullptr, {{"status", good ? "success" : "aborted"}});
}

}  // namespace tbd::cli
