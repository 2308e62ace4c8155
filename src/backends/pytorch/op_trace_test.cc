// What a traced step leaves: ops with the nodes that they belong to, their shapes and times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "backends/pytorch/test_support.h"
#include "graph/builder.h"
#include "measure/clock.h"
#include "toy_programs.h"
#include "trace/trace.h"

namespace tbd::pytorch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// A session loaded for a trace, with its batch staged.
struct Traced {
  explicit Traced(const Program& program, int64_t batch = 4, const Device& device = Device::kCpu, const Mode& mode = {})
      : batch(random_batch(program, {{"N", batch}})) {
    session = make_torch_session();
    session->load(program, {.bindings = {{"N", batch}}, .device = device, .mode = mode, .trace = true});
    session->write(initial_weights(program));
    session->stage(this->batch);
  }
  // Returns the step's time.
  int64_t step(bool traced) {
    const int64_t begin = now_ns();
    session->step({.number = next, .schedule_step = next, .lr = {}, .only_phase = {}, .traced = traced});
    ++next;
    return now_ns() - begin;
  }
  Trace trace() {
    Trace out;
    session->hand_over(out);
    return out;
  }
  TensorMap batch;
  std::unique_ptr<Session> session;
  int64_t next = 1;
};

bool is_op(const Event& event) { return event.kind == EventKind::op || event.kind == EventKind::backward_op; }

std::string text(const Trace& trace, StringId id) { return std::string(trace.strings()[id]); }

std::string node_of(const Trace& trace, size_t i) {
  const auto* detail = trace.detail_of<OpDetail>(i);
  return detail ? text(trace, detail->node) : "";
}

std::vector<Event> ops(const Trace& trace) {
  std::vector<Event> out;
  for (size_t i = 0; i < trace.size(); ++i)
    if (is_op(trace[i])) out.push_back(trace[i]);
  return out;
}

// By track, those that contain no other.
std::map<TrackId, std::vector<Event>> leaves(const Trace& trace) {
  std::map<TrackId, std::vector<Event>> out;
  for (const Event& op : ops(trace)) {
    std::vector<Event>& before = out[op.track];
    if (!before.empty() && before.back().end() > op.begin) before.pop_back();
    before.push_back(op);
  }
  return out;
}

// The nodes that ops of that phase belong to, by the ops' names.
std::map<std::string, std::set<std::string>> nodes_by_op(const Trace& trace, EventPhase phase) {
  std::map<std::string, std::set<std::string>> out;
  for (size_t i = 0; i < trace.size(); ++i)
    if (is_op(trace[i]) && trace[i].phase == phase) out[std::string(trace.name(i))].insert(node_of(trace, i));
  return out;
}

std::set<std::string> nodes(const Trace& trace, EventPhase phase) {
  std::set<std::string> out;
  for (const auto& [op, names] : nodes_by_op(trace, phase)) out.insert(names.begin(), names.end());
  return out;
}

// Every phase has kernels; those of forward and backward belong to nodes of the program.
void expect_kernels_of_nodes(const Trace& trace, const Program& program) {
  const std::vector<std::string> names = node_names(program);
  std::map<EventPhase, int64_t> of_nodes;
  for (size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].kind != EventKind::kernel) continue;
    const std::string node = text(trace, trace.detail_of<KernelDetail>(i)->node);
    EXPECT_TRUE(node.empty() || std::ranges::count(names, node) == 1) << node;
    if (trace[i].phase == EventPhase::update || !node.empty()) ++of_nodes[trace[i].phase];
  }
  for (const EventPhase phase : {EventPhase::forward, EventPhase::backward, EventPhase::update})
    EXPECT_GT(of_nodes[phase], 0) << name(phase);
}

// Two convolutions of x (4, 2, 6, 6).
Program two_convolutions() {
  Program program = {.model = "two", .config = "toy"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 2, 6, 6});
  const Tensor y = g.relu(g.conv2d("first", x, {.out = 3, .kernel = 3}));
  g.loss("sum", g.sum(g.square(g.conv2d("second", y, {.out = 5, .kernel = 1}))));
  g.update({});
  program.step = {{.phase = "train"}};
  return program;
}

void expect_an_op_for_each_node(const std::string& toy, const Device& device) {
  const Program program = toy_program(toy);
  Traced traced(program, 4, device);
  traced.step(false);
  traced.step(true);
  const Trace trace = traced.trace();
  EXPECT_TRUE(trace.faults().empty());
  const std::set<std::string> seen = nodes(trace, EventPhase::forward);
  for (const std::string& name : node_names(program)) EXPECT_THAT(seen, Contains(name));
  EXPECT_THAT(nodes(trace, EventPhase::update), ElementsAre("")) << "of no node";
  if (device != Device::kCpu) expect_kernels_of_nodes(trace, program);
}

class TraceOf : public testing::TestWithParam<const char*> {};

TEST_P(TraceOf, HasAnOpForEachNode) { expect_an_op_for_each_node(GetParam(), Device::kCpu); }

TEST(TraceOnGpu, HasAnOpForEachNode) {
  if (const std::string why = why_not_on(kFirstGpu); !why.empty()) GTEST_SKIP() << why;
  for (const char* toy : kWatchedToys) {
    SCOPED_TRACE(toy);
    expect_an_op_for_each_node(toy, kFirstGpu);
  }
}

TEST_P(TraceOf, LeafOpsDoNotOverlap) {
  Traced traced(toy_program(GetParam()));
  traced.step(false);
  const int64_t step = traced.step(true);
  int64_t sum = 0;
  for (const auto& [track, each] : leaves(traced.trace())) {
    for (size_t i = 0; i < each.size(); ++i) {
      sum += each[i].duration;
      if (i > 0) {
        EXPECT_GE(each[i].begin, each[i - 1].end());
      }
    }
  }
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, step) << "one thread";
}

TEST_P(TraceOf, ChargesWhatBackwardComputesToNodes) {
  Traced traced(toy_program(GetParam()));
  traced.step(true);
  const Trace trace = traced.trace();
  for (const auto& [op, names] : nodes_by_op(trace, EventPhase::backward))
    if (op.starts_with("aten::mm") || op.starts_with("aten::bmm") || op.ends_with("_backward")) {
      EXPECT_THAT(names, Not(Contains(""))) << op;
    }
}
INSTANTIATE_TEST_SUITE_P(Toys, TraceOf, testing::ValuesIn(kWatchedToys),
                         [](const auto& info) { return std::string(info.param); });

TEST(OpTrace, ConvolutionsBackwardBelongsToItsNode) {
  Traced traced(two_convolutions());
  traced.step(true);
  const Trace trace = traced.trace();
  auto forward = nodes_by_op(trace, EventPhase::forward), backward = nodes_by_op(trace, EventPhase::backward);
  EXPECT_THAT(forward.at("aten::conv2d"), ElementsAre("first", "second"));
  EXPECT_THAT(backward.at("aten::convolution_backward"), ElementsAre("first", "second"));
  EXPECT_THAT(backward.at("ConvolutionBackward0"), ElementsAre("first", "second"));
  EXPECT_THAT(backward, Not(Contains(testing::Key("aten::conv2d"))));
}

// A traced step's ops, by name; y alone of an LSTM with lengths is read, or also c.
std::map<std::string, std::set<std::string>> ops_of_lstm(const Mode& mode, bool reads_c, EventPhase phase) {
  Program program = {.model = "lengths", .config = "toy"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 5, 3}), lengths = g.input("lengths", {Builder::batch()}, DType::i32);
  const auto lstm = g.lstm("rnn", x, {.hidden = 4}, "_l0", lengths);
  g.loss("y", g.sum(g.square(lstm.y)));
  if (reads_c) g.loss("c", g.sum(lstm.last.c));
  g.update({});
  program.step = {{.phase = "train"}};
  Traced traced(program, 4, Device::kCpu, mode);
  traced.step(true);
  return nodes_by_op(traced.trace(), phase);
}

TEST(OpTrace, LengthsReachOneDnnsKernelInItsMode) {
  using testing::Key;
  const auto forward = ops_of_lstm(Mode::kEagerOnednn, false, EventPhase::forward),
             backward = ops_of_lstm(Mode::kEagerOnednn, false, EventPhase::backward);
  EXPECT_THAT(forward, Contains(Key("aten::mkldnn_rnn_layer")));
  EXPECT_THAT(forward, Not(Contains(Key("aten::_pack_padded_sequence"))));
  EXPECT_THAT(backward, Contains(Key("aten::mkldnn_rnn_layer_backward")));
  for (const auto& [mode, reads_c] : {std::pair(Mode::kEagerOnednn, true), {Mode::kEager, false}}) {
    const auto packed = ops_of_lstm(mode, reads_c, EventPhase::forward);
    EXPECT_THAT(packed, Contains(Key("aten::_pack_padded_sequence"))) << mode;
    EXPECT_THAT(packed, Not(Contains(Key("aten::mkldnn_rnn_layer")))) << mode;
  }
}

TEST(OpTrace, AddsGradientsUpInTheNodeThatMadeThem) {
  Traced traced(toy_program("conv_forms"));
  traced.step(true);
  const auto backward = nodes_by_op(traced.trace(), EventPhase::backward);
  ASSERT_THAT(backward, Contains(testing::Key("torch::autograd::AccumulateGrad")));
  EXPECT_THAT(backward.at("torch::autograd::AccumulateGrad"), Not(Contains("")));
}

// x + x * x: what two functions give to x is added up by torch's engine.
TEST(OpTrace, ChargesSumsOfGradients) {
  Program program = {.model = "sums", .config = "toy"};
  Builder g(program, "train");
  const Tensor y = g.conv2d("conv", g.input("x", {Builder::batch(), 2, 6, 6}), {.out = 3, .kernel = 3});
  g.loss("sum", g.sum(g.add(y, g.square(y))));
  g.update({});
  program.step = {{.phase = "train"}};
  Traced traced(program);
  traced.step(true);
  const auto backward = nodes_by_op(traced.trace(), EventPhase::backward);
  const auto sum = std::ranges::find_if(backward, [](const auto& op) { return op.first.starts_with("aten::add"); });
  ASSERT_NE(sum, backward.end());
  EXPECT_THAT(sum->second, Not(Contains("")));
  EXPECT_THAT(backward.at("autograd::engine::evaluate_function: ConvolutionBackward0"), ElementsAre("conv"));
}

TEST(OpTrace, SaysShapesTypesAndMath) {
  Traced traced(two_convolutions());
  traced.step(true);
  const Trace trace = traced.trace();
  std::map<std::string, OpDetail> by_node;
  for (size_t i = 0; i < trace.size(); ++i)
    if (trace.name(i) == "aten::conv2d") by_node[node_of(trace, i)] = *trace.detail_of<OpDetail>(i);
  const OpDetail& first = by_node.at("first");
  EXPECT_EQ(text(trace, first.shapes), "[[4,2,6,6],[3,2,3,3],[],[],[],[],[]]");
  EXPECT_EQ(text(trace, first.types), R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar"])");
  EXPECT_EQ(text(trace, first.math), "fp32");
  EXPECT_EQ(text(trace, by_node.at("second").shapes), "[[4,3,4,4],[5,3,1,1],[],[],[],[],[]]");
}

TEST(OpTrace, SaysMathOfLowPrecision) {
  Traced traced(with_precision(toy_program("mlp20"), Precision::kBf16));
  traced.step(true);
  const Trace trace = traced.trace();
  std::set<std::string> math;
  for (size_t i = 0; i < trace.size(); ++i)
    if (trace.name(i) == "aten::linear") math.insert(text(trace, trace.detail_of<OpDetail>(i)->math));
  EXPECT_THAT(math, ElementsAre("bf16"));
}

TEST(OpTrace, JoinsBackwardToForwardByTheirLink) {
  Traced traced(two_convolutions());
  traced.step(true);
  const Trace trace = traced.trace();
  std::set<uint32_t> forward, backward;
  for (size_t i = 0; i < trace.size(); ++i) {
    if (trace.name(i) == "aten::conv2d") forward.insert(trace[i].link);
    if (trace.name(i) == "ConvolutionBackward0") backward.insert(trace[i].link);
  }
  EXPECT_EQ(forward.size(), 2U);
  EXPECT_THAT(forward, Not(Contains(0U)));
  EXPECT_EQ(forward, backward);
}

TEST(OpTrace, RecordsForwardBackwardAndUpdateInOrder) {
  Traced traced(two_convolutions());
  traced.step(true);
  const Trace trace = traced.trace();
  std::vector<std::string> names;
  for (size_t i = 0; i < trace.size(); ++i)
    if (trace[i].kind == EventKind::phase) names.emplace_back(trace.name(i));
  EXPECT_THAT(names, ElementsAre("forward", "backward", "update"));
  for (const Event& op : ops(trace)) {
    EXPECT_EQ(trace.tracks()[op.track].thread, gettid());
    if (op.phase == EventPhase::unknown) continue;
    const auto holds = [&](const Event& each) {
      return each.kind == EventKind::phase && each.phase == op.phase && each.begin <= op.begin &&
             op.end() <= each.end();
    };
    size_t stretches = 0;
    for (size_t i = 0; i < trace.size(); ++i) stretches += holds(trace[i]);
    EXPECT_EQ(stretches, 1U);
  }
}

TEST(OpTrace, NamesTwoPhasesApart) {
  Traced traced(toy_program("penalty"));
  traced.step(false);
  traced.step(true);
  const Trace trace = traced.trace();
  std::map<std::string, int> stretches;
  for (size_t i = 0; i < trace.size(); ++i)
    if (trace[i].kind == EventKind::phase) ++stretches[std::string(trace.name(i))];
  EXPECT_EQ(stretches["generator/backward"], 1);
  EXPECT_EQ(stretches["critic/backward"], 3);
  for (const std::string& name : nodes(trace, EventPhase::backward))
    EXPECT_TRUE(name.empty() || name.starts_with("generator/") || name.starts_with("critic/")) << name;
}

TEST(OpTrace, TwoStepsRecordTwiceTheOpsOfOne) {
  Traced traced(toy_program("mlp20"));
  traced.step(false);
  traced.step(true);
  const size_t one = ops(traced.trace()).size();
  traced.step(true);
  traced.step(true);
  EXPECT_GT(one, 0U);
  EXPECT_EQ(ops(traced.trace()).size(), 2 * one);
}

TEST(OpTrace, IsEmptyForAnUntracedStep) {
  Traced traced(toy_program("mlp20"));
  traced.step(true);
  const size_t one = ops(traced.trace()).size();
  traced.step(false);
  EXPECT_TRUE(traced.trace().empty());
  traced.step(true);
  traced.step(false);
  EXPECT_EQ(ops(traced.trace()).size(), one);
}

TEST(OpTrace, IncludesInputsOfTracedSteps) {
  Traced traced(two_convolutions());
  traced.session->stage(traced.batch);
  traced.step(true);
  traced.session->stage(traced.batch);
  traced.step(true);
  const Trace trace = traced.trace();
  EXPECT_FALSE(nodes_by_op(trace, EventPhase::input).empty());
  traced.session->stage(traced.batch);
  EXPECT_TRUE(traced.trace().empty()) << "after the window";
}

TEST(OpTrace, RefusesATracedStepUnlessLoadedForTracing) {
  auto session = ready(two_convolutions());
  EXPECT_EQ(sentence_from([&] { session->step({.number = 1, .lr = {}, .only_phase = {}, .traced = true}); }),
            "a traced step needs a program loaded for pass trace");
}

}  // namespace
}  // namespace tbd::pytorch
