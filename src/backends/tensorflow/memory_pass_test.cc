// Where the session's memory goes, told to a ledger run by run.
#include <cstdio>
#include <numeric>

#include "backends/tensorflow/onednn.h"
#include "backends/tensorflow/test_support.h"
#include "graph/builder.h"
#include "measure/memory_ledger.h"
#include "trace/trace.h"

namespace tbd::tensorflow {
namespace {

using testing::HasSubstr;

int64_t of(const MemoryTotals& totals, MemoryClass kind) { return totals[static_cast<size_t>(kind)]; }

int64_t bytes_of(const std::vector<Parameter>& parameters) {
  int64_t bytes = 0;
  for (const Parameter& p : parameters) bytes += p.shape.elements() * size_of(p.dtype);
  return bytes;
}

// A session that tells a ledger, with its batch staged.
struct Watched {
  explicit Watched(const Program& program, const Device& device = Device::kCpu) : ledger(node_names(program)) {
    constexpr int64_t batch = 4;
    session.load(program,
                 {.bindings = {{"N", batch}}, .device = device, .layout = ImageLayout::kNhwc, .ledger = &ledger});
    write_initial_values(session, program, 3, 1);
    session.stage(random_batch(program, {{"N", batch}}));
  }
  void steps(int64_t count) {
    for (int64_t i = 0; i < count; ++i, ++next) session.step(at_step(next));
  }
  MemoryLedger ledger;
  TensorFlowSession session;
  int64_t next = 1;
};

// The bytes that blocks of this class ask for together, of one node or of all.
int64_t sum(const MemoryLog& log, MemoryClass kind, const std::string& node = {}) {
  int64_t bytes = 0;
  for (const MemoryBlock& block : log.blocks) {
    const bool is_of = node.empty() || (block.node >= 0 && log.nodes[static_cast<size_t>(block.node)] == node);
    if (block.kind == kind && is_of) bytes += block.requested;
  }
  return bytes;
}

// conv (4, 3, 8, 8) -> bn -> conv2 with padding.
Program padded_network() {
  Program program = {.model = "small", .config = "toy"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 3, 8, 8});
  const Tensor y = g.batch_norm("bn", g.conv2d("conv", x, {.out = 4, .kernel = 3, .pads = {1, 1, 1, 1}}));
  g.loss("sum", g.sum(g.square(g.conv2d("conv2", y, {.out = 5, .kernel = 3}))));
  g.update({.optimizer = {.momentum = 0.9}});
  program.step = {{.phase = "train"}};
  return program;
}

TEST(MemoryPass, ClassifiesTensorsOfTheProgram) {
  const Program program = padded_network();
  Watched watched(program);
  const MemoryTotals loaded = watched.ledger.live();
  EXPECT_EQ(of(loaded, MemoryClass::weight), bytes_of(program.parameters));
  EXPECT_EQ(of(loaded, MemoryClass::optimizer_state), bytes_of(program.parameters)) << "momentum";
  EXPECT_EQ(of(loaded, MemoryClass::auxiliary), bytes_of(program.buffers));
  EXPECT_EQ(of(loaded, MemoryClass::input), 4 * 3 * 8 * 8 * 4 + 4) << "the batch and the norm of the loss";
  watched.session.stage(random_batch(program));
  EXPECT_EQ(watched.ledger.live(), loaded) << "a batch takes the place of the one before";
}

TEST(MemoryPass, FeatureMapsAreWhatBackwardReads) {
  Watched watched(padded_network());
  watched.steps(1);
  const MemoryLog log = watched.ledger.log();
  const int64_t map = 4 * 4 * 8 * 8 * 4;
  EXPECT_EQ(sum(log, MemoryClass::feature_map, "conv"), map) << "which the norm's gradient reads";
  const int64_t reserve = uses_onednn().value_or(true) ? 0 : 4;  // a number that Eigen's kernel leaves unread
  EXPECT_EQ(sum(log, MemoryClass::feature_map, "bn"), map + 2 * 4 * 4 + reserve) << "and its saved statistics";
  EXPECT_EQ(sum(log, MemoryClass::feature_map, "conv2"), 4 * 5 * 6 * 6 * 4) << "which the square's gradient reads";
  for (const MemoryBlock& block : log.blocks)
    EXPECT_TRUE(block.kind != MemoryClass::feature_map || block.phase == MemoryPhase::forward);
}

TEST(MemoryPass, GradientsOfWeightsAreOfTheirSizeAndNodes) {
  Watched watched(padded_network());
  watched.steps(1);
  const MemoryLog log = watched.ledger.log();
  EXPECT_EQ(sum(log, MemoryClass::weight_grad, "conv"), 4 * 3 * 9 * 4);
  EXPECT_EQ(sum(log, MemoryClass::weight_grad, "conv2"), 5 * 4 * 9 * 4);
  EXPECT_EQ(sum(log, MemoryClass::weight_grad, "bn"), 2 * 4 * 4);
}

// The product of a weight and its decay would be there when the step begins, and last until the gradient comes.
TEST(MemoryPass, WeightsDecayWhenTheirGradientIsThere) {
  Program program = {.model = "small", .config = "decayed"};
  Builder g(program, "train");
  const Tensor h = g.linear("fc1", g.input("x", {Builder::batch(), 30}), {.out = 40, .bias = false});
  g.loss("sum", g.sum(g.square(g.linear("fc2", h, {.out = 20, .bias = false}))));
  g.update({.optimizer = {.momentum = 0.9}, .groups = {{.parameters = g.parameters(), .weight_decay = 0.1}}});
  program.step = {{.phase = "train"}};
  Watched watched(program);
  watched.steps(1);
  const std::vector<MemoryBlock> blocks = watched.ledger.log().blocks;
  const auto first = [&](MemoryPhase phase) {
    return std::ranges::find(blocks, phase, &MemoryBlock::phase) - blocks.begin();
  };
  EXPECT_LT(first(MemoryPhase::backward), first(MemoryPhase::update));
  EXPECT_LT(first(MemoryPhase::update), std::ssize(blocks)) << "one of the update's";
}

TEST(MemoryPass, ResultsOfHostCallsAreSeen) {
  Program program = {.model = "small", .config = "called"};
  Builder g(program, "train");
  const Tensor scores = g.input("scores", {Builder::batch(), 5});
  const HostCall call = {.function = "top_rows", .results = {{{0, 3}, DType::i32}}};
  const Tensor table = g.parameter("table", {5, 2}, Init::normal(1));
  g.loss("sum", g.sum(g.embedding(g.host_call("top", {scores}, call).front(), table)));
  g.update({});
  program.step = {{.phase = "train"}};
  Watched watched(program);
  watched.steps(1);
  const MemoryLog log = watched.ledger.log();
  EXPECT_EQ(sum(log, MemoryClass::feature_map, "top"), 4 * 3 * 4) << "which the gradient of the table reads";
}

constexpr const char* kToys[] = {"mlp20", "conv_forms", "speech", "growing", "penalty"};

void expect_given_back(const std::string& toy, const Device& device) {
  const Program program = toy_program(toy);
  Watched watched(program, device);
  watched.steps(2);
  const int64_t after_two = watched.ledger.live_bytes();
  watched.steps(2);
  const MemoryTotals live = watched.ledger.live();
  EXPECT_EQ(of(live, MemoryClass::weight), bytes_of(program.parameters));
  for (const MemoryClass kind : {MemoryClass::feature_map, MemoryClass::activation_grad, MemoryClass::workspace})
    EXPECT_EQ(of(live, kind), 0) << name(kind) << " kept between steps";
  EXPECT_EQ(std::accumulate(live.begin(), live.end(), int64_t{0}), watched.ledger.live_bytes());
  EXPECT_EQ(watched.ledger.live_bytes(), after_two) << "a leak";
  EXPECT_GT(watched.ledger.peak_bytes(), watched.ledger.live_bytes());
  const MemoryLog log = watched.ledger.log();
  EXPECT_TRUE(std::ranges::is_sorted(log.event_ns));
  EXPECT_EQ(log.unknown_frees, 0);
  EXPECT_GT(sum(log, MemoryClass::feature_map), 0);
}

class MemoryOf : public testing::TestWithParam<const char*> {};

TEST_P(MemoryOf, IsGivenBackAfterEachStep) { expect_given_back(GetParam(), Device::kCpu); }

TEST(MemoryOnGpu, IsGivenBackAfterEachStep) {
  if (const std::string why = why_not_on(kFirstGpu); !why.empty()) GTEST_SKIP() << why;
  for (const char* toy : kToys) {
    SCOPED_TRACE(toy);
    expect_given_back(toy, kFirstGpu);
  }
}

INSTANTIATE_TEST_SUITE_P(Toys, MemoryOf, testing::ValuesIn(kToys),
                         [](const auto& info) { return std::string(info.param); });

// What a step takes beside what is owned, against TensorFlow's own count of blocks of 256 KiB and more: the note gives
// both, and they differ by what the allocator rounds and what is not seen.
TEST(MemoryPass, ReportsTheShareOfAllocatorMemoryItExplains) {
  Program program = {.model = "wide", .config = "toy"};
  Builder g(program, "train");
  Tensor x = g.input("x", {Builder::batch(), 16, 64, 64});
  for (const char* name : {"conv1", "conv2", "conv3"})
    x = g.relu(g.conv2d(name, x, {.out = 16, .kernel = 3, .pads = {1, 1, 1, 1}}));
  g.loss("sum", g.sum(x));
  g.update({});
  program.step = {{.phase = "train"}};
  Watched watched(program);
  watched.steps(2);
  const MemoryLog log = watched.ledger.log();
  EXPECT_EQ(log.evidence, MemoryEvidence::partial);
  int64_t counted = 0, told = 0;
  if (!uses_onednn().value_or(true)) {
    EXPECT_THAT(log.note, HasSubstr("without, it counts none")) << "nothing to compare with";
    EXPECT_THAT(log.note, Not(HasSubstr("it held")));
    return;
  }
  const std::string says = log.note.substr(log.note.find("it held"));
  ASSERT_EQ(std::sscanf(says.c_str(), "it held %ld B, of which %ld B", &counted, &told), 2) << log.note;
  const int64_t map = 4 * 16 * 64 * 64 * 4;
  EXPECT_GT(counted, 3 * map);
  EXPECT_NEAR(static_cast<double>(told), static_cast<double>(counted), 0.05 * static_cast<double>(counted));
}

TEST(MemoryPass, IsOffWithoutALedger) {
  auto session = ready(padded_network());
  session->step(at_step(1));
  Trace trace;
  session->hand_over(trace);
  EXPECT_TRUE(trace.empty());
}

}  // namespace
}  // namespace tbd::tensorflow
