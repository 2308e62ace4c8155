#include "backends/tensorflow/op_trace.h"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "backends/tensorflow/device_trace.h"
#include "base/text.h"

namespace tbd::tensorflow {
namespace {

// A tensor as an op's label names it: "conv1", "bn1:3".
std::string tensor_name(std::string_view op, int64_t slot) { return slot == 0 ? std::string(op) : cat(op, ":", slot); }

std::string_view type_name(int64_t type) {
  switch (type) {
    case TF_FLOAT:
      return "float";
    case TF_DOUBLE:
      return "double";
    case TF_BFLOAT16:
      return "bfloat16";
    case TF_HALF:
      return "half";
    case TF_INT32:
      return "int32";
    case TF_INT64:
      return "int64";
    case TF_BOOL:
      return "bool";
    case TF_UINT8:
      return "uint8";
    case TF_RESOURCE:
      return "resource";
  }
  return "other";
}

std::string_view math_of(int64_t type) {
  switch (type) {
    case TF_FLOAT:
      return "fp32";
    case TF_DOUBLE:
      return "fp64";
    case TF_BFLOAT16:
      return "bf16";
    case TF_HALF:
      return "fp16";
  }
  return "";
}

class OpTrace {
 public:
  OpTrace(const OpOrigins& origins, const std::vector<std::string>& nodes, int64_t run, Trace& trace)
      : origins_(origins), nodes_(nodes), first_sequence_(run * origins.forward_count()), trace_(trace) {}

  void add(const RanOp& op) {
    for (const StepStatsOutput& output : op.stats.outputs) outputs_[tensor_name(op.name, output.slot)] = output;
    const Origin origin = origins_.of(op.name, op.type);
    const bool backward = origin.phase == EventPhase::backward;
    trace_.add({.begin = op.begin,
                .duration = op.end - op.begin,
                .name = trace_.string(op.type),
                .link = origin.forward == 0 ? 0 : link_of_sequence(first_sequence_ + origin.forward - 1),
                .detail = trace_.detail(detail_of(op, origin)),
                .track = track_of(op),
                .kind = backward ? EventKind::backward_op : EventKind::op,
                .phase = origin.phase});
  }

 private:
  OpDetail detail_of(const RanOp& op, const Origin& origin) {
    OpDetail detail;
    if (origin.node >= 0) detail.node = trace_.string(nodes_.at(static_cast<size_t>(origin.node)));
    std::vector<std::string> shapes, types;
    std::string_view math;
    for (const std::string_view input : op.inputs) {
      const auto found = outputs_.find(input);
      if (found == outputs_.end()) return detail;  // an operand of unknown shape: none is given
      shapes.push_back(cat("[", join_numbers(found->second.shape), "]"));
      types.push_back(cat("\"", type_name(found->second.type), "\""));
      if (math.empty()) math = math_of(found->second.type);
    }
    detail.shapes = trace_.string(cat("[", join(shapes, ","), "]"));
    detail.types = trace_.string(cat("[", join(types, ","), "]"));
    detail.math = trace_.string(math);
    return detail;
  }

  static std::string join_numbers(const std::vector<int64_t>& numbers) {
    std::vector<std::string> texts;
    for (const int64_t number : numbers) texts.push_back(cat(number));
    return join(texts, ",");
  }

  // The first track that is free when the op begins.
  TrackId track_of(const RanOp& op) {
    auto lane = std::ranges::find_if(busy_until_, [&](int64_t until) { return until <= op.begin; });
    if (lane == busy_until_.end()) lane = busy_until_.insert(lane, 0);
    *lane = op.end;
    const int64_t number = lane - busy_until_.begin();
    return trace_.track({.process = getpid(), .thread = number, .name = trace_.string(cat("tensorflow ", number))});
  }

  const OpOrigins& origins_;
  const std::vector<std::string>& nodes_;
  int64_t first_sequence_;
  Trace& trace_;
  std::map<std::string, StepStatsOutput, std::less<>> outputs_;
  std::vector<int64_t> busy_until_;
};

}  // namespace

void append_ops(const RunRecord& run, const OpOrigins& origins, const std::vector<std::string>& nodes, Trace& trace) {
  const OwnClock clock(run);
  const RanOps ran = ran_ops(run, clock);
  OpTrace ops(origins, nodes, run.number, trace);
  for (const RanOp& op : ran.ops) ops.add(op);
  if (append_device_rows(run, clock, origins, nodes, trace) == 0 && run.on_gpu)
    trace.fault("TensorFlow's profiler saw no kernel in a traced run on a GPU");
  if (ran.without_time > 0) trace.fault("ops without a time, not used", {}, ran.without_time);
  if (clock.was_set()) trace.fault("the wall clock was set during a traced run");
  int64_t error = clock.error_ns();
  std::string& fact = trace.facts["op clock"];
  if (const auto known = parse_int(fact.substr(0, fact.find(' ')))) error = std::max(error, *known);
  fact = cat(error, " ns beside the steps' clock at most: the wall clock, read with it before and after each run");
}

}  // namespace tbd::tensorflow
