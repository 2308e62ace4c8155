#include "analysis/profile/counter_use.h"

#include <algorithm>
#include <set>

#include "analysis/profile/parts.h"
#include "base/json.h"

namespace tbd {
namespace {

constexpr const char* kShared = "it counted a part of the time only: something else used the processor's counters";

size_t index_of(Counter counter) { return static_cast<size_t>(counter); }

std::optional<double> known_quotient(std::optional<double> a, std::optional<double> b) {
  if (!a || !b || *b <= 0) return std::nullopt;
  return *a / *b;
}

// Of the untraced steps beside the traced ones.
std::vector<CounterRow> untraced_counts(const Record& record, const Launch& launch) {
  const std::filesystem::path file = worker_folder(record, launch) / "counters.csv";
  if (!launch.info.traced || !std::filesystem::exists(file)) return {};
  std::set<int64_t> wanted;
  for (const size_t i : untraced_beside(launch)) wanted.insert(launch.steps[i].step);
  std::vector<CounterRow> rows = read_counters(file);
  std::erase_if(rows, [&](const CounterRow& row) { return !wanted.contains(row.step); });
  return rows;
}

void add_support(CounterUse& use, const LaunchInfo& info) {
  const Json counters = info.host->value("counters", Json::object());
  use.with_kernel = counters.value("with_kernel", true);
  use.cache_line_bytes = maybe<int64_t>(counters, "cache_line_bytes");
  const Json absent = counters.value("absent", Json::object());
  for (size_t i = 0; i < kCounters; ++i)
    use.absent[i] = absent.value(std::string(name(static_cast<Counter>(i))), std::string());
}

void add_means(CounterUse& use, std::span<const CounterRow> rows) {
  for (size_t i = 0; i < kCounters; ++i) {
    double sum = 0;
    int64_t known = 0;
    for (const CounterRow& row : rows)
      if (row.counts[i]) {
        sum += static_cast<double>(*row.counts[i]);
        ++known;
      }
    if (known > 0)
      use.per_step[i] = sum / static_cast<double>(known);
    else if (use.absent[i].empty())
      use.absent[i] = kShared;
  }
}

std::string spaced(std::string_view id) {
  std::string text(id);
  std::ranges::replace(text, '_', ' ');
  return text;
}

// Why a figure of two counters is unknown: that of the first that is.
std::string first_reason(const CounterUse& use, std::initializer_list<Counter> counters) {
  for (const Counter counter : counters)
    if (!use.of(counter)) return use.absent[index_of(counter)];
  return "";
}

}  // namespace

std::optional<double> CounterUse::instructions_per_cycle() const {
  return known_quotient(of(Counter::instructions), of(Counter::cycles));
}

std::optional<double> CounterUse::clock_rate() const {
  if (!with_kernel) return std::nullopt;
  const std::optional<double> rate = known_quotient(of(Counter::cycles), of(Counter::task_clock_ns));
  return rate ? std::optional(1e9 * *rate) : std::nullopt;
}

std::optional<double> CounterUse::miss_bytes() const {
  const std::optional<double> misses = of(Counter::cache_misses);
  if (!misses || !cache_line_bytes) return std::nullopt;
  return *misses * static_cast<double>(*cache_line_bytes);
}

std::optional<CounterUse> counter_use(const Record& record, std::span<const Launch* const> launches) {
  CounterUse use;
  std::vector<CounterRow> rows;
  for (const Launch* launch : launches) {
    const std::vector<CounterRow> counted = untraced_counts(record, *launch);
    if (counted.empty()) continue;
    add_support(use, launch->info);
    rows.insert(rows.end(), counted.begin(), counted.end());
  }
  if (rows.empty()) return std::nullopt;
  use.steps = std::ssize(rows);
  add_means(use, rows);
  return use;
}

Table counter_table(const CounterUse& use) {
  Table table{.title = "Hardware counters"};
  table.columns = {{"what", "what"}, {"value", "a step"}, {"unit", ""}, {"how", "how, or why not"}};
  const auto add = [&](std::string what, std::optional<double> value, const char* unit, std::string how) {
    table.rows.push_back({std::move(what), cell(value), std::string(unit), std::move(how)});
  };
  const auto why = [&](std::optional<double> value, std::initializer_list<Counter> of, const char* how) {
    return value ? std::string(how) : first_reason(use, of);
  };
  using enum Counter;
  const std::optional<double> per_cycle = use.instructions_per_cycle(), rate = use.clock_rate();
  add("instructions per cycle", per_cycle, "", why(per_cycle, {cycles, instructions}, "of all threads"));
  add("clock", rate ? std::optional(1e-9 * *rate) : std::nullopt, "GHz",
      use.with_kernel ? why(rate, {cycles, task_clock_ns}, "cycles over time on processors")
                      : "the kernel's own cycles may not be counted here");
  add("bytes of cache misses", use.miss_bytes(), "B",
      use.of(cache_misses) && !use.cache_line_bytes ? "the bytes of a cache line are not known"
                                                    : why(use.miss_bytes(), {cache_misses}, "misses times a line"));
  for (size_t i = 0; i < kCounters; ++i)
    if (static_cast<Counter>(i) != task_clock_ns)
      add(spaced(name(static_cast<Counter>(i))), use.per_step[i], "", use.absent[i]);
  const std::optional<double> busy = use.of(task_clock_ns);
  add("time on processors", busy ? std::optional(1e-9 * *busy) : std::nullopt, "s",
      use.absent[index_of(task_clock_ns)]);
  table.notes = {cat("Means of ", use.steps, " untraced steps beside the traced ones, all threads of the worker",
                     use.with_kernel ? "." : "; the kernel's own work is not counted here.")};
  return table;
}

Json to_json(const CounterUse& use) {
  Json per_step = Json::object(), absent = Json::object();
  for (size_t i = 0; i < kCounters; ++i) {
    const std::string id(name(static_cast<Counter>(i)));
    per_step[id] = or_null(use.per_step[i]);
    if (!use.absent[i].empty()) absent[id] = use.absent[i];
  }
  return {{"steps", use.steps},
          {"with_kernel", use.with_kernel},
          {"per_step", std::move(per_step)},
          {"absent", std::move(absent)},
          {"instructions_per_cycle", or_null(use.instructions_per_cycle())},
          {"clock_hz", or_null(use.clock_rate())},
          {"cache_miss_bytes", or_null(use.miss_bytes())}};
}

}  // namespace tbd
