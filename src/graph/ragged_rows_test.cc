#include "graph/ragged_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "graph/builder.h"
#include "graph/memory.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refused(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// x (N, 3, 4, 4) -> host call -> its ragged patches -> what `rest` makes of them.
Program ragged_program(const std::function<Tensor(Builder&, const Tensor& patches, const Tensor& x)>& rest) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 3, 4, 4});
  HostCall call = {.function = "cut", .rows = 1};
  call.results = {{{ResultExtent::each_sample(2), 3, 4, 4}, DType::f32, true}, {{}, DType::i32}};
  const Tensor patches = g.host_call("cut", {x}, call).front();
  g.loss("sum", rest(g, patches, x));
  g.update({});
  program.step = {{.phase = "train"}};
  return program;
}

TEST(RaggedRows, MayMeetNoOthersBeforeTheirSum) {
  const auto mean = [](Builder& g, const Tensor& patches, const Tensor&) {
    return g.mean(g.relu(g.conv2d("conv", patches, {.out = 2, .kernel = 3})));
  };
  EXPECT_THAT(refused([&] {
                validate(ragged_program(mean), {{"N", 2}});
              }),
              HasSubstr("mean 'mean': operand 'relu' has ragged rows, which would meet others here"));
}

TEST(RaggedRows, AreAllOfAnOpsRows) {
  const auto aligned = [](Builder& g, const Tensor& patches, const Tensor&) {
    const Tensor y = g.conv2d("conv", patches, {.out = 2, .kernel = 3});
    const Tensor label = g.input("label", {4, 1}, DType::i32);
    return g.sum(g.gather(y, label));
  };
  EXPECT_THAT(refused([&] {
                validate(ragged_program(aligned), {{"N", 2}});
              }),
              HasSubstr("gather 'gather': operand 'label' has rows that are not ragged"));
}

HostCall cutting() {
  HostCall call = {.function = "cut", .rows = 2};
  const auto rows = ResultExtent::each_sample(2);
  call.results = {{{rows, 3, 4, 4}, DType::f32, true}, {{rows}, DType::f32, true}, {{}, DType::i32}};
  return call;
}

// Patches through a convolution to a loss with weights, beside what the input gives.
Program masks() {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 3, 4, 4});
  const std::vector<Tensor> cut = g.host_call("cut", {x}, cutting());
  const Tensor z = g.conv2d("conv", cut[0], {.out = 3, .kernel = 3, .pads = {1, 1, 1, 1}});
  g.loss("mask", g.node(BceWithLogits{}, {z, g.relu(cut[0]), cut[1]}));
  g.loss("rest", g.sum(g.conv2d("conv", x, {.out = 3, .kernel = 3, .pads = {1, 1, 1, 1}})));
  g.update({});
  program.step = {{.phase = "train"}};
  return program;
}

TEST(RaggedRows, AreFollowedToTheirSum) {
  const Program program = masks();
  const Graph graph = bind(program, program.phases[0], {{"N", 2}});
  const RaggedRows rows(graph);
  std::vector<std::string> readers;
  for (const BoundNode& node : graph.nodes)
    if (rows.reads_rows(node)) readers.push_back(node.name);
  EXPECT_THAT(readers, ElementsAre("conv", "relu", "bce_with_logits"));
  EXPECT_EQ(rows.most(), 4);
  EXPECT_EQ(graph.value(rows.count().value()).name, "cut:2");
  EXPECT_FALSE(rows.is_ragged(graph.find("bce_with_logits").value()));
}

TEST(RaggedRows, AreCountedOnce) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 3, 4, 4});
  g.host_call("first", {x}, cutting());
  g.host_call("second", {x}, cutting());
  EXPECT_THAT(refused([&] {
                RaggedRows(bind(program, program.phases[0], {{"N", 2}}));
              }),
              HasSubstr("host_call 'second': a second host call has ragged results"));
}

// Fixed + rows x per row are the costs for any number of rows.
TEST(RaggedRows, AddTheSameEach) {
  const Program program = masks();
  const Graph graph = bind(program, program.phases[0], {{"N", 2}}),
              twice = bind(program, program.phases[0], {{"N", 4}});
  const std::vector<NodeCost> each = costs_of_row(graph), all = node_costs(graph), more = node_costs(twice);
  for (size_t i = 0; i < each.size(); ++i) {
    if (!RaggedRows(graph).reads_rows(graph.nodes[i])) {
      EXPECT_EQ(each[i].forward, Cost{}) << graph.nodes[i].name;
      continue;
    }
    EXPECT_EQ(more[i].forward.model, all[i].forward.model + 4 * each[i].forward.model) << graph.nodes[i].name;
    EXPECT_EQ(more[i].backward.model, all[i].backward.model + 4 * each[i].backward.model) << graph.nodes[i].name;
    EXPECT_EQ(more[i].forward.bytes, all[i].forward.bytes + 4 * each[i].forward.bytes) << graph.nodes[i].name;
    EXPECT_EQ(more[i].backward.simd, all[i].backward.simd + 4 * each[i].backward.simd) << graph.nodes[i].name;
  }
  EXPECT_EQ(each[1].forward.model, 2 * 3 * 3 * 9 * 16);  // conv: 3 x 4 x 4 results of 3 x 3 x 3 taps
}

TEST(RaggedRows, MayBeFewer) {
  const Program program = masks();
  const Graph graph = bind(program, program.phases[0], {{"N", 2}}), three = with_rows(graph, 3);
  EXPECT_EQ(three.value(three.find("conv").value()).shape, (Shape{3, 3, 4, 4}));
  const ValueId of_all = graph.nodes[4].outputs[0];  // the convolution of the input
  EXPECT_EQ(three.value(of_all).shape, (Shape{2, 3, 4, 4}));
  EXPECT_EQ(most_rows(program, {{"N", 2}}), 4);
  EXPECT_THAT(refused([&] { with_rows(graph, 5); }), HasSubstr("5 ragged rows of 4"));
}

// A valid row keeps its patch, which the convolution reads, its logits and its target, besides their gradients.
TEST(RaggedRows, CountInMemoryAsFarAsTheyAreValid) {
  const Program program = masks();
  const auto maps = [&](std::optional<int64_t> rows) {
    return predict_memory(program, {{"N", 2}}, rows).feature_maps.value;
  };
  EXPECT_EQ(maps(4), maps(std::nullopt));
  EXPECT_EQ(maps(3) - maps(2), maps(2) - maps(1));
  EXPECT_EQ(maps(3) - maps(2), 4 * (48 + 48 + 48 + 1));
  EXPECT_LT(predict_memory(program, {{"N", 2}}, 1).peak(), predict_memory(program, {{"N", 2}}).peak());
}

}  // namespace
}  // namespace tbd
