#include "analysis/profile/profile_tables.h"
#include "analysis/trace/queue_tables.h"
#include "base/json.h"

namespace tbd {
namespace {

Json op_json(const ProfileOp& op) {
  return {{"op", op.op},
          {"direction", op.direction},
          {"main_op", op.main_op},
          {"shapes", op.shapes},
          {"nodes", op.nodes},
          {"runs", op.runs},
          {"total_ns", op.total_ns},
          {"flop_model", op.flop_model},
          {"flop_simd", op.flop_simd},
          {"bytes", op.bytes},
          {"flop_rate", or_null(op.flop_rate())},
          {"intensity", or_null(op.intensity())},
          {"utilization", or_null(op.utilization)},
          {"bound", op.bound.empty() ? Json() : Json(op.bound)}};
}

Json kernel_json(const ProfileKernel& kernel) {
  return {{"name", kernel.name},
          {"direction", kernel.direction},
          {"nodes", kernel.nodes},
          {"runs", kernel.runs},
          {"total_ns", kernel.total_ns},
          {"flop_model", kernel.flop_model},
          {"flop_simd", kernel.flop_simd},
          {"vector_utilization", or_null(kernel.vector)},
          {"tensor_utilization", or_null(kernel.tensor)},
          {"utilization", or_null(kernel.utilization)}};
}

Json exchange_json(const ExchangeProfile& profile) {
  if (!profile.withheld.empty()) return {{"withheld", profile.withheld}};
  Json ranks = Json::array();
  for (const RankExchange& each : profile.ranks) {
    ranks.push_back({{"rank", each.rank},
                     {"computed_s", each.computed},
                     {"communicating_s", each.communicating},
                     {"exposed_exchange_s", each.exposed},
                     {"peer_wait_s", each.waited},
                     {"began_last", each.last}});
    if (const auto overlap = each.overlap()) ranks.back()["overlap"] = *overlap;
  }
  Json out = {{"steps", profile.steps},
              {"sums", profile.sums},
              {"exchange_bytes", profile.bytes},
              {"transfer_s", profile.transfer},
              {"ranks", std::move(ranks)}};
  if (profile.bus_bandwidth) out["bus_bandwidth"] = *profile.bus_bandwidth;
  if (!profile.straggler.empty()) out["straggler"] = profile.straggler;
  return out;
}

}  // namespace

Json to_json(const Profile& profile, const RunInfo& run) {
  Json flops = Json::object(), ops = Json::array(), kernels = Json::array(), loss = Json::object(),
       timeline = Json::array();
  for (const FlopUse& use : profile.flops)
    flops[use.type] = {{"flops", use.flops},
                       {"active", or_null(use.active)},
                       {"window", or_null(use.window)},
                       {"active_of_product", or_null(use.active_of_product)}};
  for (const ProfileOp& op : profile.ops) ops.push_back(op_json(op));
  for (const ProfileKernel& kernel : profile.kernels) kernels.push_back(kernel_json(kernel));
  for (const LossPart& part : profile.loss) loss[part.cause] = part.ns;
  for (const TimelinePart& part : profile.timeline.parts)
    timeline.push_back({{"phase", name(part.phase)}, {"busy", part.busy}, {"off_cpu", part.off_cpu}});
  const Roofs roofs = Roofs::of(run);
  Json overhead;
  if (profile.overhead) {
    const auto& interval = profile.overhead->interval;
    overhead = {{"ratio", profile.overhead->value},
                {"low", interval ? Json(interval->low) : Json()},
                {"high", interval ? Json(interval->high) : Json()}};
  }
  return {{"launches", profile.step_use.size()},
          {"steps", profile.steps},
          {"window_ns", profile.window_ns},
          {"busy_ns", profile.masks.busy()},
          {"idle_ns", profile.masks.idle()},
          {"compute_utilization", profile.compute_utilization()},
          {"flop_utilization", std::move(flops)},
          {"mean_op_utilization", profile.mean_utilization()},
          {"ideal_share", or_null(profile.ideal_share)},
          {"cpu_utilization", or_null(profile.cpu_utilization)},
          {"system_share", or_null(profile.system_share)},
          {"minor_faults_per_step", or_null(profile.minor_faults)},
          {"loss_ns", std::move(loss)},
          {"exchange", profile.exchange ? exchange_json(*profile.exchange) : Json()},
          {"queue", profile.queue ? to_json(*profile.queue) : Json()},
          {"off_cpu", {{"record", profile.off_cpu}, {"step_loop_waiting_ns", profile.waiting_ns}}},
          {"ops", std::move(ops)},
          {"kernels", std::move(kernels)},
          {"timeline",
           {{"step", profile.timeline.step},
            {"duration_ns", profile.timeline.duration_ns},
            {"parts", std::move(timeline)}}},
          {"roofs", {{"isa", roofs.isa}, {"gemm", roofs.gemm}, {"bandwidth", or_null(roofs.bandwidth)}}},
          {"counters", profile.counters ? to_json(*profile.counters) : Json()},
          {"overhead", std::move(overhead)},
          {"agreement", or_null(profile.agreement)},
          {"notes", profile.notes}};
}

}  // namespace tbd
