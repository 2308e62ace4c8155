#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/profile/parts.h"
#include "base/json.h"

namespace tbd {
namespace {

std::map<std::string, double> rates(const Json& peaks, const char* roof) {
  std::map<std::string, double> out;
  const std::optional<Json> all = maybe<Json>(peaks, roof);
  if (!all || !all->is_object()) return out;
  for (const auto& [type, rate] : all->items())
    if (rate.is_number() && rate.get<double>() > 0) out[type] = rate.get<double>();
  return out;
}

FlopUse use_of(const Profile& profile, const std::string& type, double flops, const Roofs& roofs) {
  FlopUse use{.type = type, .flops = flops};
  const double window = 1e-9 * static_cast<double>(profile.window_ns);
  const double busy = 1e-9 * static_cast<double>(profile.masks.busy(kComputeBits));
  if (const auto roof = roofs.isa.find(type); roof != roofs.isa.end() && busy > 0) {
    use.active = flops / (roof->second * busy);
    use.window = flops / (roof->second * window);
  }
  if (const auto roof = roofs.gemm.find(type); roof != roofs.gemm.end() && busy > 0)
    use.active_of_product = flops / (roof->second * busy);
  return use;
}

int64_t rounded(double ns) { return static_cast<int64_t>(std::llround(ns)); }

}  // namespace

Roofs Roofs::of(const RunInfo& run) {
  return {.isa = rates(run.peaks, "isa"),
          .gemm = rates(run.peaks, "gemm"),
          .bandwidth = maybe<double>(run.peaks, "bandwidth")};
}

void add_flops(Profile& profile, const RunInfo& run, const Roofs& roofs) {
  double model = 0, simd = 0;
  for (const OpRow& row : run.ops) {
    model += static_cast<double>(row.forward.flop_model + row.backward.flop_model);
    simd += static_cast<double>(row.forward.flop_simd + row.backward.flop_simd);
  }
  model *= static_cast<double>(profile.steps);
  simd *= static_cast<double>(profile.steps);
  const std::string& type = run.workload.precision.text();
  const bool vector = type == "fp32" || type == "fp64";
  profile.flops.push_back(use_of(profile, type, vector ? model + simd : model, roofs));
  if (!vector) profile.flops.push_back(use_of(profile, "fp32", simd, roofs));
}

// Where ops overlap, their ideal times and their losses are charged in proportion.
void add_loss(Profile& profile) {
  const uint8_t comm = bit(DeviceClass::comm), copy = bit(DeviceClass::copy);
  const int64_t compute = profile.masks.busy(kComputeBits);
  double ideal = 0, layout = 0;
  int64_t sum = 0;
  for (const ProfileOp& op : profile.ops) {
    ideal += op.ideal_ns;
    layout += op.layout_loss_ns();
    sum += op.total_ns;
  }
  const double share = sum > compute && sum > 0 ? static_cast<double>(compute) / static_cast<double>(sum) : 1;
  const int64_t ideal_ns = std::min(compute, rounded(share * ideal));
  const int64_t layout_ns = std::min(compute - ideal_ns, rounded(share * layout));
  const int64_t rest = compute - ideal_ns - layout_ns;
  // A kernel of a GPU runs without the processor: what the system takes of that is in the idle time.
  const double system_share = profile.queue ? 0 : profile.system_share.value_or(0);
  const int64_t system = std::min(rest, rounded(static_cast<double>(compute) * system_share));
  const int64_t exposed = profile.masks.busy(comm) - profile.masks.overlap(comm, kComputeBits);
  profile.loss = {{"ideal", ideal_ns},
                  {"system time", system},
                  {"layout", layout_ns},
                  {"kernel inefficiency", rest - system},
                  {"exposed communication", exposed},
                  {"copies", profile.masks.by_mask[copy]}};
  for (size_t i = 0; i < kIdleCauses; ++i)
    profile.loss.push_back({std::string(name(static_cast<IdleCause>(i))), profile.causes[i]});
  if (ideal > 0 && profile.window_ns > 0)
    profile.ideal_share = static_cast<double>(ideal_ns) / static_cast<double>(profile.window_ns);
}

}  // namespace tbd
