#include "backends/mxnet/op_trace.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <set>

#include "backends/mxnet/test_programs.h"
#include "measure/clock.h"
#include "toy_programs.h"

namespace tbd::mxnet {
namespace {

// Two convolutions, of which the second is read twice, and a loss.
Program small_net() {
  return program_by(
      [](Builder& g) {
        const Tensor image = g.input("image", {Builder::batch(), 3, 8, 8});
        const Tensor label = g.input("label", {Builder::batch()}, DType::i32);
        const Tensor x = g.relu(g.conv2d("conv1", image, {.out = 4, .kernel = 3}));
        const Tensor y = g.conv2d("conv2", x, {.out = 4, .kernel = 1});
        g.loss("loss", g.softmax_cross_entropy(g.linear("fc", g.global_mean(g.add(y, g.relu(y))), {.out = 5}), label));
      },
      Precision::kFp32);
}

struct TracedRun {
  Trace trace;
  int64_t begin_ns, end_ns;
};

TracedRun traced(const Program& program, const std::vector<bool>& steps) {
  auto session = std::make_unique<MxnetSession>();
  session->load(program, {.bindings = {{"N", 4}}, .seed = 5, .trace = true});
  session->write(initial_weights(program));
  session->stage(random_batch(program, {{"N", 4}}));
  TracedRun run;
  run.begin_ns = now_ns();
  for (size_t i = 0; i < steps.size(); ++i)
    session->step({.number = static_cast<int64_t>(i + 1), .schedule_step = 1, .traced = steps[i]});
  run.end_ns = now_ns();
  session->hand_over(run.trace);
  return run;
}

// "Convolution forward conv1", sorted, once for each event.
std::multiset<std::string> told(const Trace& trace) {
  std::multiset<std::string> out;
  for (size_t i = 0; i < trace.size(); ++i) {
    const OpDetail* detail = trace.detail_of<OpDetail>(i);
    const std::string node(detail ? trace.strings()[detail->node] : "");
    out.insert(cat(trace.name(i), " ", name(trace[i].phase), " ", node));
  }
  return out;
}

TEST(MxnetTrace, ChargesForwardAndBackwardOpsToTheirNodes) {
  const Trace trace = traced(small_net(), {true}).trace;
  const auto ops = told(trace);
  EXPECT_TRUE(trace.faults().empty()) << trace.faults()[0].what << trace.faults()[0].first;
  for (const char* op :
       {"Convolution forward conv1", "_backward_Convolution backward conv1", "Convolution forward conv2",
        "_backward_Convolution backward conv2", "FullyConnected forward fc", "_backward_FullyConnected backward fc"})
    EXPECT_EQ(ops.count(op), 1u) << op << " of\n" << join(std::vector<std::string>(ops.begin(), ops.end()), "\n");
}

// Both convolutions may run as soon as the step begins, and are of one type.
TEST(MxnetTrace, TellsOpsOfOneTypeApartByWhatTheyCost) {
  const Program program = program_by(
      [](Builder& g) {
        const Tensor image = g.input("image", {Builder::batch(), 16, 48, 48});
        const Tensor small = g.conv2d("small", image, {.out = 1, .kernel = 1});
        const Tensor large = g.conv2d("large", image, {.out = 64, .kernel = 5});
        g.loss("loss", g.add(g.sum(small), g.sum(large)));
      },
      Precision::kFp32);
  const Trace trace = traced(program, {true, true, true, true}).trace;
  std::map<std::string, int64_t> fastest;
  for (size_t i = 0; i < trace.size(); ++i) {
    if (!trace.name(i).ends_with("Convolution")) continue;
    const std::string key = cat(trace.name(i), " ", trace.strings()[trace.detail_of<OpDetail>(i)->node]);
    const auto [found, fresh] = fastest.try_emplace(key, trace[i].duration);
    found->second = std::min(found->second, trace[i].duration);
  }
  EXPECT_GT(fastest["Convolution large"], 5 * fastest["Convolution small"]);
  EXPECT_GT(fastest["_backward_Convolution large"], 5 * fastest["_backward_Convolution small"]);
}

TEST(MxnetTrace, DistinguishesPhasesAndExpandedOps) {
  for (const auto& [name, plain] : toy_programs()) {
    const Program program = with_precision(with_dropout(plain, DropoutMode::kMask), Precision::kFp32);
    if (!runs(program)) continue;
    const Trace trace = traced(program, {true, true}).trace;
    const std::vector<std::string> names = node_names(program);
    const std::set<std::string> known(names.begin(), names.end());
    std::set<std::string> seen;
    for (size_t i = 0; i < trace.size(); ++i)
      if (const OpDetail* detail = trace.detail_of<OpDetail>(i)) seen.emplace(trace.strings()[detail->node]);
    seen.erase("");
    EXPECT_TRUE(std::ranges::includes(known, seen)) << name;
    EXPECT_TRUE(trace.faults().empty()) << name << ": " << trace.faults()[0].what << " " << trace.faults()[0].first;
    EXPECT_GT(seen.size(), 0.8 * static_cast<double>(known.size())) << name;
  }
}

TEST(MxnetTrace, EveryNodeHasOps) {
  const Program program = small_net();
  const Trace trace = traced(program, {true}).trace;
  std::set<std::string> seen;
  for (size_t i = 0; i < trace.size(); ++i)
    if (const OpDetail* detail = trace.detail_of<OpDetail>(i)) seen.insert(std::string(trace.strings()[detail->node]));
  for (const std::string& node : node_names(program)) EXPECT_TRUE(seen.contains(node)) << node;
}

TEST(MxnetTrace, UpdatesAreOfTheirPhase) {
  const auto ops = told(traced(small_net(), {true}).trace);
  EXPECT_EQ(ops.count("sgd_update update "), small_net().parameters.size());
}

TEST(MxnetTrace, TimesLieWithinTheStepsOnTheClockOfNowNs) {
  const auto [trace, begin, end] = traced(small_net(), {true, true, true});
  ASSERT_FALSE(trace.empty());
  constexpr int64_t kSlackNs = 2000;  // whole microseconds, two readings of the clocks
  for (size_t i = 0; i < trace.size(); ++i) {
    EXPECT_GE(trace[i].begin, begin - kSlackNs);
    EXPECT_LE(trace[i].end(), end + kSlackNs);
  }
}

TEST(MxnetTrace, OpsLieOnTheThreadThatRanThem) {
  const Trace trace = traced(small_net(), {true}).trace;
  ASSERT_EQ(trace.tracks().size(), 1u);
  EXPECT_EQ(trace.tracks()[0].process, getpid());
  EXPECT_TRUE(std::filesystem::exists(cat("/proc/self/task/", trace.tracks()[0].thread)));
}

TEST(MxnetTrace, EveryTracedStepRecordsTheSameOpsAndUntracedStepsNone) {
  EXPECT_TRUE(traced(small_net(), {false, false}).trace.empty());
  const size_t one = traced(small_net(), {true}).trace.size();
  EXPECT_GT(one, 20u);
  const auto count = [](const Trace& trace, std::string_view op) {
    int64_t found = 0;
    for (size_t i = 0; i < trace.size(); ++i) found += trace.name(i) == op;
    return found;
  };
  EXPECT_EQ(count(traced(small_net(), {false, true, false, true, true}).trace, "Convolution"), 6);
}

TEST(MxnetTrace, AConvolutionHasTheShapesOfItsOperands) {
  const Trace trace = traced(small_net(), {true}).trace;
  std::multiset<std::string> shapes;
  for (size_t i = 0; i < trace.size(); ++i)
    if (trace.name(i) == "Convolution") shapes.emplace(trace.strings()[trace.detail_of<OpDetail>(i)->shapes]);
  EXPECT_EQ(shapes, (std::multiset<std::string>{"[[4,3,8,8],[4,3,3,3]]", "[[4,4,6,6],[4,4,1,1]]"}));
}

TEST(MxnetTrace, RefusesATracedStepUnlessLoadedForTracing) {
  auto session = ready(small_net());
  EXPECT_THAT(sentence_from([&] { session->step({.traced = true}); }), testing::HasSubstr("pass trace"));
}

}  // namespace
}  // namespace tbd::mxnet
