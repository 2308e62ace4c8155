#include "measure/host_use.h"

#include <unistd.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "stats/disturbance.h"

namespace tbd {
namespace {

std::optional<double> ratio(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return part / whole;
}

}  // namespace

HostUse host_use(const HostDelta& delta, double cores) {
  HostUse use;
  const double wall_ns = static_cast<double>(delta.wall_ns);
  if (delta.cpu_ns) {
    use.busy_cores = ratio(static_cast<double>(*delta.cpu_ns), wall_ns);
    use.util_cpu = ratio(static_cast<double>(*delta.cpu_ns), cores * wall_ns);
  }
  const double machine_ticks = static_cast<double>(delta.machine.total());
  use.util_machine = ratio(static_cast<double>(delta.machine.busy()), machine_ticks);
  use.steal_fraction = ratio(static_cast<double>(delta.machine.steal), machine_ticks);
  if (delta.cpu_ns && delta.machine_cpus > 0) {
    const double ns_per_tick = 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK));
    const double foreign_ns =
        static_cast<double>(delta.machine.busy()) * ns_per_tick - static_cast<double>(*delta.cpu_ns);
    use.foreign_fraction = ratio(std::max(0.0, foreign_ns), static_cast<double>(delta.machine_cpus) * wall_ns);
  }
  int64_t cpu_ns = 0, wait_ns = 0;
  for (const ThreadUse& thread : delta.threads) {
    cpu_ns += thread.cpu_ns;
    wait_ns += thread.wait_ns;
  }
  use.runqueue_fraction = ratio(static_cast<double>(wait_ns), static_cast<double>(cpu_ns + wait_ns));
  if (delta.user_ns && delta.system_ns)
    use.system_fraction =
        ratio(static_cast<double>(*delta.system_ns), static_cast<double>(*delta.user_ns + *delta.system_ns));
  if (delta.throttled_ns) use.throttled_fraction = ratio(static_cast<double>(*delta.throttled_ns), wall_ns);
  return use;
}

Disturbed disturbed(const HostDelta& delta, const HostUse& use) {
  Disturbed found;
  const auto flag = [&](std::string reason) {
    found.level = std::max(found.level, Disturbance::flagged);
    found.reasons.push_back(std::move(reason));
  };
  if (use.steal_fraction.value_or(0) > kStealLimit.flagged) flag(cat("steal ", format_percent(*use.steal_fraction)));
  const double wait = std::min(use.runqueue_fraction.value_or(0), use.foreign_fraction.value_or(1));
  if (wait > kRunqueueLimit.flagged) flag(cat("run-queue wait ", format_percent(wait)));
  if (use.foreign_fraction.value_or(0) > kOtherWorkLimit.flagged)
    flag(cat("other processes used ", format_percent(*use.foreign_fraction), " of the cores"));
  if (delta.throttled_ns.value_or(0) > 0)
    flag(cat("throttled by a cgroup quota for ", format_seconds(static_cast<double>(*delta.throttled_ns) * 1e-9)));
  if (delta.major_faults.value_or(0) > 0) flag(cat(*delta.major_faults, " major page faults"));
  if (use.steal_fraction.value_or(0) > kStealLimit.repeated || wait > kRunqueueLimit.repeated ||
      use.foreign_fraction.value_or(0) > kOtherWorkLimit.repeated)
    found.level = Disturbance::repeat;
  return found;
}

Json to_json(const HostUse& use) {
  return {{"util_cpu", or_null(use.util_cpu)},
          {"busy_cores", or_null(use.busy_cores)},
          {"util_machine", or_null(use.util_machine)},
          {"steal_fraction", or_null(use.steal_fraction)},
          {"runqueue_fraction", or_null(use.runqueue_fraction)},
          {"foreign_fraction", or_null(use.foreign_fraction)},
          {"system_fraction", or_null(use.system_fraction)},
          {"throttled_fraction", or_null(use.throttled_fraction)}};
}

JsonValue host_of_launch(const HostDelta& delta, double cores) {
  const HostUse use = host_use(delta, cores);
  const Disturbed disturbance = disturbed(delta, use);
  return Json{{"delta", to_json(delta)},
              {"use", to_json(use)},
              {"disturbed", disturbance.reasons},
              {"repeat", disturbance.level == Disturbance::repeat}};
}

}  // namespace tbd
