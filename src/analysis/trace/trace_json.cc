#include "analysis/trace/queue_tables.h"
#include "analysis/trace/trace_tables.h"
#include "base/json.h"

namespace tbd {
namespace {

Json causes_json(const CauseTimes& causes) {
  Json out = Json::object();
  for (size_t i = 0; i < causes.size(); ++i) out[std::string(key(static_cast<IdleCause>(i)))] = causes[i];
  return out;
}

Json streams_json(const RankAnalysis& analysis) {
  Json out = Json::array();
  for (const StreamAnalysis& stream : analysis.streams)
    out.push_back({{"device", stream.device < 0 ? Json(nullptr) : Json(stream.device)},
                   {"stream", stream.stream},
                   {"busy_ns", stream.busy_ns},
                   {"idle_ns", stream.idle_ns},
                   {"idle_causes", causes_json(stream.causes)}});
  return out;
}

Json kernels_json(const RankAnalysis& analysis) {
  Json out = Json::array();
  for (const KernelGroup& kernel : kernels_by_name(analysis.kernels))
    out.push_back({{"name", kernel.name}, {"count", kernel.count}, {"total_ns", kernel.total_ns}});
  return out;
}

Json steps_json(const RankAnalysis& analysis) {
  Json out = Json::array();
  for (const StepAnalysis& step : analysis.steps)
    out.push_back({{"name", step.name}, {"start_ns", step.start_ns}, {"duration_ns", step.duration_ns}});
  return out;
}

}  // namespace

Json to_json(const RankAnalysis& analysis) {
  const MaskTimes& masks = analysis.masks;
  const uint8_t comm = bit(DeviceClass::comm);
  return {{"rank", analysis.rank},
          {"window_ns", analysis.window.length()},
          {"busy_ns", masks.busy()},
          {"compute_ns", masks.busy(kComputeBits)},
          {"communication_ns", masks.busy(comm)},
          {"copy_ns", masks.busy(bit(DeviceClass::copy))},
          {"compute_communication_overlap_ns", masks.overlap(kComputeBits, comm)},
          {"idle_ns", masks.idle()},
          {"queue", analysis.queue ? to_json(*analysis.queue) : Json()},
          {"streams", streams_json(analysis)},
          {"kernels", kernels_json(analysis)},
          {"steps", steps_json(analysis)}};
}

}  // namespace tbd
