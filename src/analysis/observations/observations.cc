#include "analysis/observations/observations.h"

#include <algorithm>

#include "analysis/observations/scope.h"
#include "base/error.h"

namespace tbd {
namespace {

constexpr std::string_view kClaims[] = {
    "Throughput rises with the batch",
    "Recurrent models do not saturate before memory ends, the others do",
    "No framework is the fastest for every model",
    "Large batches are needed to keep the device busy",
    "LSTM models use the device less than the others",
    "Large batches are needed to use the floating-point units",
    "Recurrent models use the floating-point units little, even at the largest batch",
    "Tuned models still have long kernels that use the device badly",
    "The processors have little to do while a GPU trains",
    "A faster device is used less well",
    "Feature maps take most of the memory",
    "Filling the memory with a large batch can be waste",
    "Scaling over workers needs network bandwidth",
};

// All but 10, which compares scopes.
void add_scope(const rules::Scope& scope, std::vector<Observation>& out) {
  for (const auto rule :
       {rules::throughput_rises, rules::memory_ends_recurrent, rules::no_framework_wins, rules::batches_fill_device,
        rules::lstm_uses_less, rules::batches_fill_units, rules::recurrent_uses_less, rules::long_slow_kernels,
        rules::processors_idle, rules::feature_maps_dominate, rules::full_memory_is_waste})
    out.push_back(rule(scope));
  out.push_back(rules::scaling_needs_network(scope, rules::scaling_points(scope)));
}

void add_open(const std::string& hash, const std::vector<Pass>& passes, std::vector<OpenRecord>& open) {
  auto record = std::ranges::find(open, hash, &OpenRecord::hash);
  if (record == open.end()) record = open.insert(open.end(), {.hash = hash, .passes = {}});
  for (const Pass& pass : passes)
    if (std::ranges::count(record->passes, pass) == 0) record->passes.push_back(pass);
}

}  // namespace

std::string_view name(RuleVerdict verdict) {
  switch (verdict) {
    case RuleVerdict::holds:
      return "holds";
    case RuleVerdict::mostly:
      return "mostly";
    case RuleVerdict::fails:
      return "fails";
    case RuleVerdict::inconclusive:
      return "inconclusive";
    case RuleVerdict::not_applicable:
      return "not applicable";
  }
  return "";
}

std::string_view claim_of(int number) {
  require(number >= 1 && number <= 13, "observations are numbered 1 to 13, got ", number);
  return kClaims[number - 1];
}

std::vector<Observation> observe(std::span<const Sweep> sweeps, std::span<const KnownNetwork> networks) {
  std::vector<rules::Scope> scopes = rules::scopes(sweeps);
  if (scopes.empty())
    scopes.push_back({.machine = "",
                      .device = Device::kCpu,
                      .input_mode = InputMode::kResident,
                      .sweeps = {},
                      .notes = {},
                      .label = ""});
  for (rules::Scope& scope : scopes) scope.networks = networks;
  std::vector<Observation> out;
  for (const rules::Scope& scope : scopes) add_scope(scope, out);
  for (auto first = scopes.begin(); first != scopes.end();) {
    const auto end = std::stable_partition(
        first, scopes.end(), [mode = first->input_mode](const rules::Scope& s) { return s.input_mode == mode; });
    out.push_back(rules::faster_device_used_less(std::span(first, end)));
    first = end;
  }
  std::ranges::stable_sort(out, {}, &Observation::number);
  return out;
}

OpenRecords open_records(std::span<const Observation> observations) {
  OpenRecords open;
  for (const Observation& each : observations) {
    if (each.verdict != RuleVerdict::inconclusive) continue;
    bool waits = false;
    for (const Case& of : each.cases) {
      if (!of.is_open() || of.narrowed_by.empty()) continue;
      waits = true;
      for (const std::string& record : of.records) add_open(record, of.narrowed_by, open.records);
    }
    if (waits && std::ranges::find(open.observations, each.number) == open.observations.end())
      open.observations.push_back(each.number);
  }
  return open;
}

}  // namespace tbd
