// What traced steps leave: every node its ops, on the clock of the steps.
#include <unistd.h>

#include "backends/tensorflow/origins.h"
#include "backends/tensorflow/test_support.h"
#include "graph/builder.h"
#include "measure/clock.h"
#include "models/model.h"
#include "trace/trace.h"

namespace tbd::tensorflow {
namespace {

StepRequest traced(int64_t number) { return {.number = number, .schedule_step = number, .traced = true}; }

// Loaded for pass trace, with weights and a batch.
std::unique_ptr<TensorFlowSession> tracing(const Program& program, const Mode& mode = {},
                                           const Device& device = Device::kCpu) {
  auto session = std::make_unique<TensorFlowSession>();
  session->load(program,
                {.bindings = {{"N", 4}}, .device = device, .layout = ImageLayout::kNhwc, .mode = mode, .trace = true});
  write_initial_values(*session, program, 3, 1);
  session->stage(random_batch(program));
  return session;
}

struct Seen {
  EventKind kind;
  EventPhase phase;
  std::string name, node, shapes, types, math;
  int64_t begin, end;
  uint32_t link;
};

std::vector<Seen> events_of(TensorFlowSession& session) {
  Trace trace;
  session.hand_over(trace);
  EXPECT_TRUE(trace.faults().empty()) << trace.faults().front().what;
  std::vector<Seen> out;
  const auto text = [&](StringId id) { return std::string(trace.strings()[id]); };
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event event = trace[i];
    const OpDetail& detail = *trace.detail_of<OpDetail>(i);
    out.push_back({event.kind, event.phase, text(event.name), text(detail.node), text(detail.shapes),
                   text(detail.types), text(detail.math), event.begin, event.end(), event.link});
  }
  return out;
}

std::vector<Seen> one_step_of(const Program& program, const Mode& mode = {}) {
  auto session = tracing(program, mode);
  session->step(traced(1));
  return events_of(*session);
}

// conv1 -> bn1 -> relu -> conv2 -> sum of squares.
Program traced_network() {
  Program program = {.model = "small", .config = "toy"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 3, 8, 8});
  const Tensor y = g.relu(g.batch_norm("bn1", g.conv2d("conv1", x, {.out = 4, .kernel = 3, .pads = {1, 1, 1, 1}})));
  g.loss("sum", g.sum(g.square(g.conv2d("conv2", y, {.out = 5, .kernel = 3, .stride = 2}))));
  g.update({.optimizer = {.momentum = 0.9}});
  program.step = {{.phase = "train"}};
  return program;
}

TEST(OpTrace, EveryNodeHasOpsOfBothDirections) {
  const Program program = traced_network();
  const std::vector<Seen> events = one_step_of(program);
  for (const std::string& node : node_names(program))
    for (const EventKind kind : {EventKind::op, EventKind::backward_op})
      EXPECT_TRUE(std::ranges::any_of(events, [&](const Seen& e) { return e.node == node && e.kind == kind; }))
          << node << " " << name(kind);
}

TEST(TraceOnGpu, KernelsOfBothDirectionsHaveNodes) {
  if (const std::string why = why_not_on(kFirstGpu); !why.empty()) GTEST_SKIP() << why;
  const Program program = traced_network();
  auto session = tracing(program, {}, kFirstGpu);
  session->step(traced(1));
  Trace trace;
  session->hand_over(trace);
  EXPECT_TRUE(trace.faults().empty()) << trace.faults().front().what;
  std::map<EventPhase, std::set<std::string>> nodes;
  for (size_t i = 0; i < trace.size(); ++i)
    if (trace[i].kind == EventKind::kernel)
      nodes[trace[i].phase].emplace(trace.strings()[trace.detail_of<KernelDetail>(i)->node]);
  for (const EventPhase phase : {EventPhase::forward, EventPhase::backward})
    for (const char* node : {"conv1", "conv2"}) EXPECT_TRUE(nodes[phase].contains(node)) << name(phase) << " " << node;
}

TEST(OpTrace, ChargesGradientsToTheNodeTheyAreOf) {
  std::map<std::string, std::vector<std::string>> backward;
  for (const Seen& event : one_step_of(traced_network()))
    if (event.name.find("Conv2DBackprop") != std::string::npos || event.name.ends_with("ReluGrad") ||
        event.name.find("BatchNormGrad") != std::string::npos) {
      EXPECT_EQ(event.phase, EventPhase::backward);
      EXPECT_EQ(event.kind, EventKind::backward_op);
      backward[event.node].push_back(event.name);
    }
  const auto ends = [](const char* text) { return testing::EndsWith(text); };
  using testing::HasSubstr, testing::UnorderedElementsAre;
  EXPECT_THAT(backward["conv1"], UnorderedElementsAre(ends("Conv2DBackpropFilter"))) << "x needs no gradient";
  EXPECT_THAT(backward["conv2"], UnorderedElementsAre(ends("Conv2DBackpropFilter"), ends("Conv2DBackpropInput")));
  EXPECT_THAT(backward["bn1"], UnorderedElementsAre(HasSubstr("BatchNormGrad")));
  EXPECT_THAT(backward["relu"], UnorderedElementsAre(ends("ReluGrad")));
}

TEST(OpTrace, UpdatesBelongToNoNode) {
  int updates = 0;
  for (const Seen& event : one_step_of(traced_network())) {
    if (event.name != "ResourceApplyMomentum") continue;
    ++updates;
    EXPECT_EQ(event.phase, EventPhase::update);
    EXPECT_EQ(event.node, "");
  }
  EXPECT_EQ(updates, 4) << "two weights, and the norm's two";
}

TEST(OpTrace, KnowsShapesTypesAndLinks) {
  std::map<std::string, Seen> of;
  for (const Seen& event : one_step_of(traced_network()))
    if (event.name.find("Conv2D") != std::string::npos && event.node == "conv2") of.insert({event.name, event});
  ASSERT_EQ(of.size(), 3u);
  const Seen& forward = of.begin()->second;  // the shortest name
  EXPECT_EQ(forward.kind, EventKind::op);
  EXPECT_EQ(forward.shapes, "[[4,8,8,4],[3,3,4,5]]") << "as they lie: channels last, (h, w, in, out)";
  EXPECT_EQ(forward.types, "[\"float\",\"float\"]");
  EXPECT_EQ(forward.math, "fp32");
  EXPECT_NE(forward.link, 0u);
  for (const auto& [name, event] : of) EXPECT_EQ(event.link, forward.link) << name;
}

TEST(OpTrace, TimesLieInTheirSteps) {
  auto session = tracing(traced_network());
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (int64_t step = 1; step <= 2; ++step) {
    const int64_t begin = now_ns();
    session->step(traced(step));
    steps.emplace_back(begin, now_ns());
  }
  const std::vector<Seen> events = events_of(*session);
  const auto inside = [&](size_t step) {
    return std::ranges::count_if(
        events, [&](const Seen& e) { return steps[step].first <= e.begin && e.end <= steps[step].second; });
  };
  EXPECT_GT(inside(0), 20);
  EXPECT_EQ(inside(0), inside(1)) << "the same ops in both";
  EXPECT_EQ(inside(0) + inside(1), std::ssize(events));
  std::set<uint32_t> links[2];
  for (const Seen& event : events) links[event.begin > steps[0].second].insert(event.link);
  for (const uint32_t link : links[0]) EXPECT_TRUE(link == 0 || !links[1].contains(link)) << "links are a run's own";
}

TEST(OpTrace, UntracedStepsLeaveNothing) {
  auto session = tracing(traced_network());
  session->step(at_step(1));
  session->step(traced(2));
  session->step(at_step(3));
  auto alone = tracing(traced_network());
  alone->step(traced(1));
  EXPECT_EQ(events_of(*session).size(), events_of(*alone).size());
  EXPECT_TRUE(events_of(*session).empty()) << "handed over twice";
}

TEST(OpTrace, RefusesATracedStepUnlessLoadedForTracing) {
  auto session = ready(traced_network());
  EXPECT_THAT(sentence_from([&] { session->step(traced(1)); }), testing::HasSubstr("trace"));
}

// The derivative inside the loss is forward work of its node; its own gradient is backward work of the node whose
// gradient it is.
TEST(OpTrace, SecondDerivativesHaveNodes) {
  const Program program = toy_program("penalty");
  std::map<std::pair<std::string, EventPhase>, int> of;
  for (const Seen& event : one_step_of(program)) ++of[{event.node, event.phase}];
  for (const Phase& phase : program.phases)
    for (const Node& node : phase.nodes)
      if (std::holds_alternative<InputGradient>(node.op)) {
        const std::string name = program.phases.size() == 1 ? node.name : cat(phase.name, "/", node.name);
        EXPECT_GT((of[{name, EventPhase::forward}]), 0) << name;
        EXPECT_GT((of[{name, EventPhase::backward}]), 0) << name;
      }
}

TEST(OpTrace, BackwardOpsOfNetworksHaveNodes) {
  for (const char* model : {"resnet50", "transformer", "deep_speech_2"}) {
    int64_t without = 0, with = 0;
    for (const Seen& event : one_step_of(with_precision(find_model(model).config("tiny").program(), Precision::kFp32)))
      if (event.kind == EventKind::backward_op) ++(event.node.empty() ? without : with);
    EXPECT_GT(with, 50) << model;
    EXPECT_EQ(without, 0) << model;
  }
}

}  // namespace
}  // namespace tbd::tensorflow
