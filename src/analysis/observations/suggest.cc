#include "analysis/observations/suggest.h"

#include <algorithm>

#include "base/text.h"
#include "record/axes.h"

namespace tbd::rules {
namespace {

bool is_of_kind(ModelKind wanted, const NetworkKind& kind) {
  switch (wanted) {
    case ModelKind::any:
      return true;
    case ModelKind::recurrent:
      return kind.recurrent;
    case ModelKind::other:
      return !kind.recurrent;
    case ModelKind::convolutional:
      return kind.convolutional;
  }
  return false;
}

template <class T>
std::string listed(const std::vector<T>& values) {
  std::vector<std::string> words;
  for (const T& value : values) words.push_back(cat(value));
  return join(words, ",");
}

// What the command says of an axis; empty where that is the default.
std::string suggested_value(const Axis& axis, const Suggestion& s) {
  if (axis.name == "framework") return listed(s.frameworks) == "pytorch" ? "" : listed(s.frameworks);
  if (axis.name == "batch") return listed(s.batches);
  if (const auto list = s.lists.find(axis.name); list != s.lists.end()) return list->second;
  if (axis.name == "data" && s.workload.input_mode == InputMode::kPipeline && s.workload.data.empty()) return "DIR";
  const std::string value = axis.print(s.workload);
  const bool first_config = axis.name == "config" && (value == "default" || value == "canonical");
  return first_config || value == axis.print({}) ? "" : shell_word(value);
}

}  // namespace

std::string command(const Suggestion& s) {
  if (s.models.empty()) return "";
  std::string line = "tbd run " + join(s.models, " ");
  const auto option = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) line += cat(" --", name, " ", value);
  };
  const auto amount = [](const Axis& axis) { return axis.name == "batch" || axis.name == "memory"; };
  for (const bool amounts : {false, true})  // last: they are what a person varies
    for (const Axis& axis : axes().subspan(1))
      if (amount(axis) == amounts) option(axis.name, suggested_value(axis, s));
  if (s.passes != std::vector<Pass>{Pass::kClean}) option("passes", listed(texts(s.passes)));
  option("effort", s.effort);
  return line;
}

Suggestion again(const Sweep& sweep, std::vector<int64_t> batches, std::vector<Pass> passes) {
  Suggestion out{.workload = sweep.workload,
                 .models = {sweep.workload.model},
                 .frameworks = {sweep.workload.framework},
                 .batches = std::move(batches),
                 .passes = std::move(passes),
                 .effort = ""};
  Workload& w = out.workload;
  if (w.input_mode == InputMode::kResident) w.data.clear();
  w.threads = 0;  // as the machine and the framework choose
  w.layout = {};
  w.mode = {};
  w.seed = 0;
  return out;
}

Suggestion fresh(const Scope& scope, ModelKind kind, size_t models, std::vector<Pass> passes) {
  Suggestion out;
  out.passes = std::move(passes);
  if (!scope.device.empty()) out.workload.device = scope.device;
  if (!scope.input_mode.empty()) out.workload.input_mode = scope.input_mode;
  const auto here = [&](const KnownNetwork& network) {
    return std::ranges::any_of(scope.sweeps, [&](const Sweep* s) { return s->workload.model == network.model; });
  };
  for (const bool wanted : {false, true})
    for (const KnownNetwork& network : scope.networks) {
      if (out.models.size() == models || !is_of_kind(kind, network.kind) || here(network) != wanted) continue;
      if (out.models.empty()) out.batches = network.batches;
      out.models.push_back(network.model);
    }
  if (out.models.size() > 1) out.batches = {4, 8, 16, 32, 64};
  return out;
}

std::vector<int64_t> continued(const Sweep& sweep, size_t least) {
  std::vector<int64_t> out;
  for (const SweepPoint& point : sweep.points)
    if (!ended_for_memory(point.cell.judgement.outcome)) out.push_back(point.batch);
  if (out.empty()) out.push_back(1);
  const bool limited = sweep.memory_limited();
  while (out.size() < least && (limited ? out.front() > 1 : true)) {
    if (limited)
      out.insert(out.begin(), out.front() / 2);
    else
      out.push_back(2 * out.back());
  }
  return out;
}

std::vector<int64_t> beyond(const Sweep& sweep, size_t more) {
  const SweepPoint* last = sweep.largest();
  std::vector<int64_t> out = {last ? std::max<int64_t>(1, last->batch / 2) : 1};
  for (size_t i = 0; i <= more; ++i) out.push_back(2 * out.back());
  return out;
}

void suggest_sweeps(Observation& o, const Scope& scope, Measured SweepPoint::*value, std::vector<Pass> passes) {
  constexpr size_t kLeast = 4;
  const Sweep* near = nullptr;  // the longest of those too short
  size_t most = 0, whole = 0;
  for (const Sweep* sweep : scope.sweeps) {
    const size_t n = value ? with(*sweep, value).size() : ran(*sweep).size();
    if (n >= kLeast) ++whole;
    if (n < kLeast && (!near || ran(*sweep).size() > most)) {
      near = sweep;
      most = ran(*sweep).size();
    }
  }
  std::vector<std::string> open;
  for (const Case& each : o.cases)
    if (each.is_open()) open.push_back(each.what);
  const Tally t = tally(o.cases);
  o.missing = cat("two ", value ? "traced " : "", "sweeps of four batches or more that decide; there are ",
                  whole < 2 ? whole : t.decided(), " such sweeps");
  if (whole >= 2 && !open.empty())
    o.missing = cat("narrower intervals: ", text(t), " of the sweeps pass; undecided: ", join(open, ", "));
  const auto wide = open.empty() ? scope.sweeps.end() : std::ranges::find(scope.sweeps, open.front(), &Sweep::label);
  if (whole >= 2 && wide != scope.sweeps.end()) {
    Suggestion more = again(**wide, continued(**wide, kLeast), std::move(passes));
    more.effort = "publish";
    o.command = command(more);
  } else {
    o.command = near ? command(again(*near, continued(*near, kLeast), std::move(passes)))
                     : command(fresh(scope, ModelKind::any, whole == 0 ? 2 : 1, std::move(passes)));
  }
}

}  // namespace tbd::rules
