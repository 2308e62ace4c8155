// What the worker and others used of the processors: from the steps of the stable phase, or, where steps.csv lacks a
// column, from the launch's host fractions. Fractions of launches are averaged by the length of their windows. Of
// several workers also what went over their link, as rank 0's interface counted it.
#include "analysis/metric_parts.h"
#include "base/json.h"
#include "base/text.h"

namespace tbd {
namespace {

std::optional<double> fraction_of(const Launch& launch, std::string_view key) {
  const std::optional<Json> use = maybe<Json>(launch.info.host, "use");
  return use ? maybe<double>(*use, key) : std::nullopt;
}

Measured mean_fraction(const RunView& run, std::string_view key, const std::string& reason) {
  double weighted = 0;
  for (const LaunchView& launch : run.launches) {
    const std::optional<double> fraction = fraction_of(*launch.launch, key);
    if (!fraction) return absent(reason);
    weighted += *fraction * launch.seconds();
  }
  if (!(run.seconds() > 0)) return not_measured();
  return {.value = weighted / run.seconds()};
}

// Seconds of one core that the worker might have used: cores times window, over all launches.
std::optional<double> core_seconds(const RunView& run) {
  double sum = 0;
  for (const LaunchView& launch : run.launches) {
    if (!launch.launch->info.cores || !(*launch.launch->info.cores > 0)) return std::nullopt;
    sum += *launch.launch->info.cores * launch.seconds();
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

std::optional<double> cpu_seconds(const RunView& run) {
  const std::optional<int64_t> user = total(run, &StepRow::user_cpu_ns), system = total(run, &StepRow::system_cpu_ns);
  if (!user || !system) return std::nullopt;
  return static_cast<double>(*user + *system) * 1e-9;
}

Measured cpu_utilization(const RunView& run) {
  const std::optional<double> used = cpu_seconds(run), possible = core_seconds(run);
  if (used && possible) return {.value = *used / *possible};
  return mean_fraction(run, "util_cpu", "the worker's CPU time was not recorded");
}

Measured busy_cores(const RunView& run) {
  const std::optional<double> used = cpu_seconds(run);
  if (used && run.seconds() > 0) return {.value = *used / run.seconds()};
  return mean_fraction(run, "busy_cores", "the worker's CPU time was not recorded");
}

Measured cpu_time_per_step(const RunView& run) {
  std::vector<double> seconds;
  for (const LaunchView& launch : run.launches) {
    int64_t ns = 0;
    for (const StepRow& row : launch.window()) {
      if (!row.user_cpu_ns || !row.system_cpu_ns) return absent("the worker's CPU time was not recorded");
      ns += *row.user_cpu_ns + *row.system_cpu_ns;
    }
    if (ns > 0) seconds.push_back(1e-9 * static_cast<double>(ns) / static_cast<double>(launch.phase.steps()));
  }
  if (seconds.empty()) return absent("the worker's CPU time was not recorded");
  return between_launches(seconds);
}

Measured steal_share(const RunView& run) {
  const std::optional<int64_t> ticks = total(run, &StepRow::steal_ticks);
  const std::optional<double> possible = core_seconds(run);
  if (ticks && possible) return {.value = static_cast<double>(*ticks) / kStealTicksPerSecond / *possible};
  return mean_fraction(run, "steal_fraction", "steal time was not recorded");
}

Measured runqueue_share(const RunView& run) {
  const std::optional<int64_t> wait = total(run, &StepRow::runqueue_wait_ns);
  const std::optional<double> used = cpu_seconds(run);
  if (!wait || !used) return mean_fraction(run, "runqueue_fraction", "run-queue wait was not recorded");
  const double waited = static_cast<double>(*wait) * 1e-9;
  if (!(waited + *used > 0)) return absent("the worker used no CPU time");
  return {.value = waited / (waited + *used)};
}

Measured foreign_share(const RunView& run) {
  return mean_fraction(run, "foreign_fraction", "other processes' CPU time was not recorded");
}

void cpu_facts(const RunView& run, Facts& facts) {
  add_column("user_cpu_ns", "ns", &StepRow::user_cpu_ns, run, facts);
  add_column("system_cpu_ns", "ns", &StepRow::system_cpu_ns, run, facts);
  add_column("runqueue_wait_ns", "ns", &StepRow::runqueue_wait_ns, run, facts);
  add_column("steal_ticks", "1/100 s", &StepRow::steal_ticks, run, facts);
  for (const LaunchView& launch : run.launches) {
    facts.push_back({"cores", known(launch.launch->info.cores), "", launch_file(launch, "launch.json: cores")});
    const std::optional<Json> use = maybe<Json>(launch.launch->info.host, "use");
    for (const char* key : {"util_cpu", "busy_cores", "steal_fraction", "runqueue_fraction", "foreign_fraction"})
      if (const auto fraction = use ? maybe<double>(*use, key) : std::nullopt)
        facts.push_back({cat("of the whole launch: ", key), *fraction, "",
                         launch_file(launch, cat("launch.json: host.use.", key))});
  }
  add_totals(run, facts);
}

constexpr std::string_view kColumns =
    "Columns of steps.csv over the steps after warming up where every one has them; otherwise what the launch measured "
    "as a whole (host in launch.json), launches weighted by the length of their stable phases.";

std::optional<double> of_link(const LaunchView& launch, const char* key) {
  const auto link = maybe<Json>(*launch.launch->info.host, "link");
  return link ? maybe<double>(*link, key) : std::nullopt;
}

Measured bytes_per_step(const RunView& run) {
  double bytes = 0, steps = 0;
  for (const LaunchView& launch : run.launches) {
    const auto sent = of_link(launch, "sent_bytes"), of = of_link(launch, "steps");
    if (!sent || !of) return absent("the link's bytes were not counted");
    bytes += *sent;
    steps += *of;
  }
  if (!(steps > 0)) return absent("no step was measured");
  return {.value = bytes / steps};
}

void bytes_facts(const RunView& run, Facts& facts) {
  for (const LaunchView& launch : run.launches) {
    facts.push_back(
        {"sent", known(of_link(launch, "sent_bytes")), "B", launch_file(launch, "launch.json: host.link.sent_bytes")});
    facts.push_back(
        {"steps", known(of_link(launch, "steps")), "", launch_file(launch, "launch.json: host.link.steps")});
  }
}

constexpr Metric kHostMetrics[] = {
    {.id = "cpu_utilization",
     .title = "CPU utilization",
     .group = MetricGroup::processor,
     .unit = Unit::fraction,
     .unit_text = "fraction",
     .what = "CPU time of the worker over usable cores times the length of the stable phase.",
     .formula = "(user + system CPU time) / (cores * sum of step times)",
     .counts = "All threads of the worker. Cores: the affinity mask or the control group's quota, the smaller.",
     .how = kColumns,
     .source = "Zhu et al. 2018, IISWC, 3.4.2 (there of the whole machine).",
     .limits = "Threads that spin count as busy: a full processor is not a useful one.",
     .inputs = cpu_facts,
     .compute = cpu_utilization},
    {.id = "busy_cores",
     .title = "busy cores",
     .group = MetricGroup::processor,
     .unit = Unit::none,
     .unit_text = "cores",
     .what = "CPU time of the worker over the length of the stable phase.",
     .formula = "(user + system CPU time) / sum of step times",
     .counts = "All threads of the worker.",
     .how = kColumns,
     .limits = "As cpu_utilization.",
     .inputs = cpu_facts,
     .compute = busy_cores},
    {.id = "cpu_time_per_step",
     .title = "CPU time a step",
     .group = MetricGroup::processor,
     .unit = Unit::seconds,
     .unit_text = "s",
     .what = "CPU time of the worker, all threads, over the steps after warming up; geometric mean of the launches.",
     .formula = "(user + system CPU time) / steps; launches: geometric mean",
     .counts = "All threads of the worker.",
     .how = kColumns,
     .limits =
         "Not immune to neighbours: a core that shares its units with another computes less in the same CPU time.",
     .gate = MetricGate::timed,
     .compute = cpu_time_per_step},
    {.id = "steal_share",
     .title = "steal",
     .group = MetricGroup::disturbance,
     .unit = Unit::fraction,
     .unit_text = "fraction",
     .what = "Usable processors' time that the hypervisor gave to others.",
     .formula = "steal ticks / 100 / (cores * sum of step times)",
     .counts = "All processors of the machine.",
     .how = kColumns,
     .limits = "Only what the hypervisor tells. Above 1 % flagged.",
     .inputs = cpu_facts,
     .compute = steal_share},
    {.id = "runqueue_share",
     .title = "run-queue wait",
     .group = MetricGroup::disturbance,
     .unit = Unit::fraction,
     .unit_text = "fraction",
     .what = "Time the worker's threads were runnable without a CPU over the time they were runnable.",
     .formula = "run-queue wait / (run-queue wait + CPU time)",
     .counts = "All threads of the worker.",
     .how = kColumns,
     .limits = "High also when more threads than cores were asked for. Above 2 % flagged.",
     .inputs = cpu_facts,
     .compute = runqueue_share},
    {.id = "foreign_share",
     .title = "other work",
     .group = MetricGroup::disturbance,
     .unit = Unit::fraction,
     .unit_text = "fraction",
     .what = "Usable processors' time used by processes outside the worker.",
     .formula = "CPU time of other processes / usable CPU time",
     .counts = "All that is not the worker.",
     .how = "The launch's host sample: the machine's CPU time less the worker's.",
     .limits = "Above 5 % flagged.",
     .inputs = cpu_facts,
     .compute = foreign_share},
    {.id = "link_bytes",
     .title = "sent over the link",
     .group = MetricGroup::exchange,
     .unit = Unit::bytes,
     .unit_text = "B",
     .what = "Bytes that rank 0 sent over its emulated link, over the number of steps.",
     .formula = "sum of sent_bytes / sum of steps",
     .counts = "In: gradients, counts and stop votes of all steps with the first, and headers. Out: the rendezvous.",
     .how = "The counter of the rank's network interface, before the first step and after the last.",
     .limits = "Absent without --link. Headers are counted once for packets that the kernel sends as one.",
     .applies = [](const MeasuredWorkload& workload) { return !workload.link.empty(); },
     .inputs = bytes_facts,
     .compute = bytes_per_step},
};

}  // namespace

std::span<const Metric> host_metrics() { return kHostMetrics; }

}  // namespace tbd
