#include "backends/mxnet/op_trace.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "backends/mxnet/api_profile.h"
#include "backends/mxnet/api_store.h"
#include "measure/clock.h"

namespace tbd::mxnet {
namespace {

uint64_t own_thread_hash() { return std::hash<std::thread::id>{}(std::this_thread::get_id()); }

std::string extents_text(const Shape& shape) {
  std::vector<std::string> extents;
  for (const int64_t extent : shape.extents()) extents.push_back(std::to_string(extent));
  return cat("[", join(extents, ","), "]");
}

// [[8,3,224,224],[64,3,7,7]]
std::string shapes_text(const Graph& graph, const BoundNode& node) {
  std::vector<std::string> shapes;
  for (const ValueId id : node.inputs) shapes.push_back(extents_text(graph.value(id).shape));
  return cat("[", join(shapes, ","), "]");
}

}  // namespace

// Ops of one executor as they are queued. What they are called is learnt when each is first met in a phase.
class OpTracer::Watch final : public ExecutorObserver {
 public:
  Watch(OpTracer& tracer, const Executor& executor, const Graph& graph)
      : tracer_(tracer), ops_(read_plan(executor.plan())), reader_(ops_) {
    const std::map<std::string, int32_t>& numbers = tracer.node_numbers_.at(graph.phase);
    const std::vector<int32_t> nodes = nodes_of(ops_, numbers);
    std::map<std::string, std::string> shapes;
    for (const BoundNode& node : graph.nodes) shapes[node.name] = shapes_text(graph, node);
    for (size_t i = 0; i < ops_.size(); ++i) {
      const std::string node = nodes[i] < 0 ? "" : tracer.nodes_[static_cast<size_t>(nodes[i])];
      std::string whole = ops_[i].name;  // of a part, the node's shapes say nothing
      if (whole.ends_with("_backward")) whole.resize(whole.size() - std::string_view("_backward").size());
      const auto found = shapes.find(whole);
      kinds_.push_back({.op = ops_[i].op, .node = node, .shapes = found == shapes.end() ? "" : found->second});
    }
  }

  void queued(std::string_view result, const Array& array) override {
    if (!tracer_.on_) return;
    const int64_t place = reader_.next(result);
    if (place == PlanReader::kSameOp) return;
    if (place == PlanReader::kUnknown) return void(++tracer_.unplanned_);
    const auto [number, fresh] = numbers_.try_emplace({place, tracer_.phase_}, 0);
    if (fresh) {
      Kind kind = kinds_[static_cast<size_t>(place)];
      kind.phase = tracer_.phase_;
      number->second = tracer_.kind_of(std::move(kind));
    }
    tracer_.queued(number->second, array);
  }

 private:
  OpTracer& tracer_;
  std::vector<PlannedOp> ops_;
  PlanReader reader_;
  std::vector<Kind> kinds_;                                    // by place in the plan
  std::map<std::pair<int64_t, EventPhase>, int32_t> numbers_;  // of kinds
};

OpTracer::OpTracer(const Program& program) : nodes_(node_names(program)), folder_("tbd-mxnet") {
  int32_t number = 0;
  for (const Phase& phase : program.phases)
    for (const Node& node : phase.nodes) node_numbers_[phase.name][node.name] = number++;
  set_profile((folder_.path() / "profile.json").string());
  observe_calls([this](const std::string& op, const Array& result) { called(op, result); });
}

OpTracer::~OpTracer() { observe_calls({}); }

void OpTracer::watch(Executor& executor, const Graph& graph) {
  node_numbers_[graph.phase];
  executor.observe(*watches_.emplace_back(std::make_unique<Watch>(*this, executor, graph)));
}

int32_t OpTracer::kind_of(Kind kind) {
  kinds_.push_back(std::move(kind));
  return static_cast<int32_t>(kinds_.size() - 1);
}

void OpTracer::called(const std::string& op, const Array& result) {
  if (!on_ || op == "_copyto") return;  // the profiler has it as one of MXNet's own copies
  Kind kind = {.op = op, .phase = phase_};
  if (op == kStoreSum)
    kind = {.op = op,
            .shapes = cat("[", extents_text(result.shape()), "]"),
            .types = result.dtype() == DType::f64 ? R"(["double"])" : R"(["float"])",
            .phase = EventPhase::comm};
  const auto [number, fresh] = called_kinds_.try_emplace({kind.op, kind.shapes, kind.types, kind.phase}, 0);
  if (fresh) number->second = kind_of(std::move(kind));
  queued(number->second, result);
}

void OpTracer::queued(int32_t kind, const Array& result) {
  queue_after(result, stamp, &marks_.emplace_back(Mark{kind, 0, 0, 0}));
}

void OpTracer::stamp(void* mark) {
  thread_local const uint64_t hash = own_thread_hash();
  thread_local const int64_t thread = gettid();
  Mark& own = *static_cast<Mark*>(mark);
  own.ns = now_ns();
  own.hash = hash;
  own.thread = thread;
}

void OpTracer::begin_step() {
  clocks_.add(read_clocks());
  profile(true);
  on_ = true;
}

void OpTracer::end_step() {
  on_ = false;
  profile(false);
  clocks_.add(read_clocks());
}

OpTracer::Marks OpTracer::sorted_marks() const {
  Marks marks;
  for (const Mark& mark : marks_) marks[kinds_[static_cast<size_t>(mark.kind)].op].push_back(&mark);
  for (auto& [op, each] : marks) std::ranges::stable_sort(each, {}, &Mark::ns);
  return marks;
}

void OpTracer::add(Trace& trace, const ProfileRow& row, const Mark* mark,
                   const std::map<uint64_t, int64_t>& threads) const {
  const Kind* kind = mark ? &kinds_[static_cast<size_t>(mark->kind)] : nullptr;
  const auto known = threads.find(row.thread);
  const int64_t thread = known == threads.end() ? static_cast<int64_t>(row.thread) : known->second;
  const int64_t begin = clocks_.raw_ns(1000 * row.begin_us), end = clocks_.raw_ns(1000 * row.end_us);
  Event event = {.begin = begin, .duration = std::max<int64_t>(end - begin, 0)};
  event.name = trace.string(row.op);
  event.track = trace.track({.process = getpid(), .thread = thread, .name = trace.string("mxnet engine")});
  event.kind = kind && kind->phase == EventPhase::backward ? EventKind::backward_op : EventKind::op;
  if (row.op == "WaitForVar") event.kind = EventKind::annotation;  // wakes the thread that waits for a result
  event.phase = kind ? kind->phase : EventPhase::unknown;
  if (kind && !(kind->node.empty() && kind->shapes.empty()))
    event.detail = trace.detail(OpDetail{
        .node = trace.string(kind->node), .shapes = trace.string(kind->shapes), .types = trace.string(kind->types)});
  trace.add(event);
}

void OpTracer::hand_over(Trace& trace) {
  if (clocks_.empty()) return;
  dump_profile();
  const std::vector<ProfileRow> rows = read_profile(folder_.path() / "profile.json");
  const Marks marks = sorted_marks();
  std::map<std::string, size_t> counts, taken;
  for (const ProfileRow& row : rows) ++counts[row.op];
  std::map<uint64_t, int64_t> threads = {{own_thread_hash(), gettid()}};
  for (const Mark& mark : marks_) threads[mark.hash] = mark.thread;
  for (const auto& [op, each] : marks)
    if (counts[op] != each.size())
      trace.fault("ops known by their type alone", cat(op, ": ", counts[op], " times, queued ", each.size()),
                  static_cast<int64_t>(counts[op]));
  for (const ProfileRow& row : rows) {
    const auto same = marks.find(row.op);
    const bool told = same != marks.end() && same->second.size() == counts[row.op];
    const Mark* mark = told ? same->second[taken[row.op]++] : nullptr;
    constexpr int64_t kSlackNs = 2000;  // of the profiler's microsecond and of both readings of the clocks
    if (mark && mark->ns < clocks_.raw_ns(1000 * row.end_us) - kSlackNs)
      trace.fault("ops that ended after their mark", row.op);
    add(trace, row, mark, threads);
  }
  if (unplanned_ > 0) trace.fault("ops that are not in their executor's plan", {}, unplanned_);
  trace.facts["op times"] = "mxnet's profiler, whole microseconds, moved to the trace's clock";
  marks_.clear();
  clocks_.clear();
  unplanned_ = 0;
}

}  // namespace tbd::mxnet
