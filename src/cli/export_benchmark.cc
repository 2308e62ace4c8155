#include "cli/export_benchmark.h"

#include "analysis/run_view.h"
#include "base/text.h"

namespace tbd::cli {
namespace {

// object[group][key]; null where there is none.
Json value_in(const Json& object, const char* group, const char* key) {
  if (!object.is_object() || !object.contains(group) || !object[group].is_object()) return nullptr;
  return object[group].value(key, Json());
}

Json context_of(const RunInfo& run) {
  Json context = {{"date", run.created}, {"executable", run.tool}};
  const auto add = [&](const char* name, const Json& value) {
    if (!value.is_null()) context[name] = value;
  };
  add("num_cpus", value_in(run.environment, "cpu", "logical_cpus"));
  if (const Json clock = value_in(run.environment, "cpu", "max_clock_hz"); clock.is_number())
    context["mhz_per_cpu"] = clock.get<double>() / 1e6;
  if (const Json governor = value_in(run.environment, "cpu", "governor"); governor.is_string())
    context["cpu_scaling_enabled"] = governor != "performance";
  context["caches"] = Json::array();
  for (const Json& cache : value_in(run.environment, "cpu", "caches"))
    if (cache.is_object())
      context["caches"].push_back({{"type", cache.value("type", Json())},
                                   {"level", cache.value("level", Json())},
                                   {"size", cache.value("bytes", Json())}});
  if (const Json load = value_in(run.environment, "load", "load_average"); load.is_number())
    context["load_avg"] = Json::array({load});
  add("tbd_model_hash", run.workload.model_hash);
  return context;
}

std::string benchmark_name(const MeasuredWorkload& w) {
  return cat(w.model, "/", w.framework, "/", w.precision, "/batch:", w.batch, "/threads:", w.threads,
             w.workers == 1 ? "" : cat("/workers:", w.workers), w.link.empty() ? "" : cat("/link:", w.link));
}

// Processor time of the steps after warming up in seconds; nullopt where a step does not know it.
std::optional<double> cpu_seconds(const LaunchView& launch) {
  double sum = 0;
  for (const StepRow& row : launch.window()) {
    if (!row.user_cpu_ns || !row.system_cpu_ns) return std::nullopt;
    sum += static_cast<double>(*row.user_cpu_ns + *row.system_cpu_ns) / 1e9;
  }
  return sum;
}

Json entry_of(const LaunchView& launch, const std::string& name, size_t index, size_t count) {
  Json entry = {{"name", name},         {"run_name", name},          {"run_type", "iteration"},
                {"repetitions", count}, {"repetition_index", index}, {"threads", 1}};
  const auto steps = static_cast<double>(launch.window().size());
  if (launch.window().empty() || !(launch.seconds() > 0)) {
    entry["error_occurred"] = true;
    entry["error_message"] = launch.fault.empty() ? "no stable phase" : launch.fault;
    return entry;
  }
  entry["iterations"] = launch.window().size();
  entry["real_time"] = launch.seconds() / steps * 1e3;
  if (const auto cpu = cpu_seconds(launch)) entry["cpu_time"] = *cpu / steps * 1e3;
  entry["time_unit"] = "ms";
  entry["items_per_second"] = launch.units() / launch.seconds();
  if (const auto peak = launch.launch->info.peak_rss_bytes) entry["tbd_peak_rss_bytes"] = *peak;
  return entry;
}

}  // namespace

Json benchmark_json(const Record& record) {
  const RunView run = view(record);
  Json entries = Json::array();
  for (size_t i = 0; i < run.launches.size(); ++i)
    entries.push_back(entry_of(run.launches[i], benchmark_name(record.run.workload), i, run.launches.size()));
  return {{"context", context_of(record.run)}, {"benchmarks", std::move(entries)}};
}

}  // namespace tbd::cli
