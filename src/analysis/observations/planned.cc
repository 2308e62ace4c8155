#include "analysis/observations/planned.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/observations/planned_series.h"
#include "base/link_limits.h"
#include "base/text.h"

namespace tbd {
namespace {

using planned::PlannedSeries;

Need need(int observation, std::vector<std::vector<size_t>> groups, bool decidable, std::string lacks) {
  return {observation, decidable, std::move(groups), decidable ? "" : std::move(lacks)};
}

// Rules whose cases are single series: two of them decide.
Need each_series(int observation, const std::vector<PlannedSeries>& all, std::string lacks) {
  std::vector<std::vector<size_t>> groups = planned::cells_of(all);
  const bool enough = groups.size() >= 2;
  return need(observation, std::move(groups), enough, std::move(lacks));
}

Need saturation(const std::vector<PlannedSeries>& clean) {
  const std::vector<PlannedSeries> limited = planned::where(clean, [](const PlannedSeries& s) {
    return (s.any->workload.memory_budget_bytes || s.any->workload.device != Device::kCpu) && planned::has_pair(s);
  });
  const auto r = planned::where(limited, [](const PlannedSeries& s) { return s.any->kind.recurrent; });
  const auto n = planned::where(limited, [](const PlannedSeries& s) { return !s.any->kind.recurrent; });
  return need(2, planned::cells_of(limited), !r.empty() && planned::models(n) >= 3,
              cat("sweeps that double the batch until memory ends (a memory budget ends them on a CPU) of at least one "
                  "recurrent model and three others; there are ",
                  planned::models(r), " and ", planned::models(n)));
}

Need frameworks(const std::vector<PlannedSeries>& clean, int64_t launches) {
  using Key = std::tuple<std::string, std::string, Precision, InputMode, Device>;
  std::map<Key, std::vector<const PlannedSeries*>> rivals;
  for (const PlannedSeries& s : clean)
    rivals[{s.any->workload.model, s.any->workload.config, s.any->workload.precision, s.any->workload.input_mode,
            s.any->workload.device}]
        .push_back(&s);
  std::vector<std::vector<size_t>> groups;
  std::set<std::string> models;
  for (const auto& [key, sides] : rivals) {
    std::set<std::string> names;
    std::vector<size_t> cells;
    for (const PlannedSeries* s : sides) {
      names.insert(s->any->workload.framework);
      cells.insert(cells.end(), s->cells.begin(), s->cells.end());
    }
    if (names.size() < 2) continue;
    models.insert(std::get<0>(key));
    groups.push_back(std::move(cells));
  }
  const bool enough = models.size() >= 3 && launches >= 3;
  return need(
      3, std::move(groups), enough,
      cat("two frameworks on at least three models, three launches a workload (--effort publish); there are ",
          models.size(), " such models and ", launches, launches == 1 ? " launch" : " launches", " a workload"));
}

// Rules 5 and 7: some models' best utilization against the median of two others' in the same framework and precision.
Need against(int observation, const std::vector<PlannedSeries>& traced, bool NetworkKind::*kind,
             const std::string& name) {
  std::map<std::tuple<std::string, Precision, InputMode, Device>, std::vector<PlannedSeries>> stacks;
  for (const PlannedSeries& s : traced)
    stacks[{s.any->workload.framework, s.any->workload.precision, s.any->workload.input_mode, s.any->workload.device}]
        .push_back(s);
  std::vector<std::vector<size_t>> groups;
  size_t cases = 0, low = 0;
  for (const auto& [stack, all] : stacks) {
    const auto these = planned::where(all, [&](const PlannedSeries& s) { return s.any->kind.*kind; });
    const auto rest = planned::where(all, [&](const PlannedSeries& s) { return !(s.any->kind.*kind); });
    low += these.size();
    if (these.empty() || planned::models(rest) < 2) continue;
    cases += these.size();
    for (auto& cells : planned::cells_of(all)) groups.push_back(std::move(cells));
  }
  return need(
      observation, std::move(groups), cases >= 2,
      cat("traced workloads (passes clean, trace) of at least two series of ", name,
          ", each beside two other models in its framework and precision; there are ", low, " series of ", name));
}

Need longest_kernels(const std::vector<PlannedSeries>& traced) {
  const auto found = planned::where(traced, [](const PlannedSeries& s) { return s.any->kind.convolutional; });
  return need(8, planned::cells_of(found), !found.empty(), "a traced convolutional network");
}

Need processors(const std::vector<PlannedSeries>& clean) {
  const auto found = planned::where(clean, [](const PlannedSeries& s) {
    return s.any->workload.device != Device::kCpu && !s.any->kind.reinforcement;
  });
  return need(9, planned::cells_of(found), found.size() >= 2,
              "workloads on a GPU: on a CPU device the observation is not applicable");
}

Need devices(const std::vector<PlannedSeries>& traced) {
  std::map<std::tuple<std::string, std::string, std::string, Precision, InputMode>, std::set<Device>> seen;
  const auto key = [](const PlannedWorkload& c) {
    const Workload& w = c.workload;
    return std::tuple(w.model, w.config, w.framework, w.precision, w.input_mode);
  };
  for (const PlannedSeries& s : traced) seen[key(*s.any)].insert(s.any->workload.device);
  const auto both = planned::where(traced, [&](const PlannedSeries& s) { return seen[key(*s.any)].size() > 1; });
  return need(10, planned::cells_of(both), planned::models(both) >= 2,
              "the same traced workloads on two devices: on one the observation is not applicable");
}

Need waste(const std::vector<PlannedSeries>& clean) {
  const auto found = planned::where(clean, [](const PlannedSeries& s) {
    return s.batches.size() > 1 && *s.batches.begin() * 2 <= *s.batches.rbegin();
  });
  return need(12, planned::cells_of(found), planned::models(found) >= 2,
              "sweeps over batches of which one is at most half the largest, of at least two models");
}

// One worker, several over a slow link, and several over a fast one, all with one batch.
Need scaling(std::span<const PlannedWorkload> cells) {
  std::vector<std::vector<size_t>> groups;
  for (size_t alone = 0; alone < cells.size(); ++alone) {
    const Workload& one = cells[alone].workload;
    if (one.workers != 1) continue;
    std::vector<size_t> group = {alone};
    bool slow = false, fast = false;
    for (size_t i = 0; i < cells.size(); ++i) {
      Workload several = cells[i].workload;
      const double rate = limits_of(std::exchange(several.link, Link())).bits_per_second;
      if (std::exchange(several.workers, 1) == 1 || several != one) continue;
      group.push_back(i);
      (rate > 0 && rate <= kSlowLinkRate ? slow : fast) = true;
    }
    if (slow && fast) groups.push_back(std::move(group));
  }
  const bool enough = !groups.empty();
  return need(13, std::move(groups), enough,
              "one worker, and two or more over a link of at most 1 Gbit/s and over the loopback (workers = 1, 2; "
              "link = 1Gbit, loopback), with as many threads for each");
}

}  // namespace

std::vector<Need> needs(std::span<const PlannedWorkload> cells, int64_t launches) {
  const std::vector<PlannedSeries> clean = planned::series(cells, Pass::kClean),
                                   traced = planned::series(cells, Pass::kTrace),
                                   memory = planned::series(cells, Pass::kMemory);
  const auto four = [](const PlannedSeries& s) { return s.batches.size() >= 4; };
  const auto exact = [](const PlannedSeries& s) { return s.any->workload.framework.starts_with("pytorch"); };
  const std::string swept = "at least two sweeps of four batches or more";
  return {each_series(1, planned::where(clean, four), swept),
          saturation(clean),
          frameworks(clean, launches),
          each_series(4, planned::where(traced, four), swept + ", traced (passes clean, trace)"),
          against(5, traced, &NetworkKind::lstm, "LSTM models"),
          each_series(6, planned::where(traced, four), swept + ", traced (passes clean, trace)"),
          against(7, traced, &NetworkKind::recurrent, "recurrent models"),
          longest_kernels(traced),
          processors(clean),
          devices(traced),
          each_series(11, planned::where(memory, exact),
                      "the memory pass of at least two models in pytorch, whose ledger is exact"),
          waste(clean),
          scaling(cells)};
}

}  // namespace tbd
