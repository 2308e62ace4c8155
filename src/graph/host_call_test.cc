#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/json.h"
#include "graph/builder.h"
#include "graph/graph.h"

namespace tbd {
namespace {

using ::testing::HasSubstr;

std::string sentence(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid);
    return e.what();
  }
  return "nothing was thrown";
}

HostCall sampler() {
  HostCall call = {.function = "sample", .numbers = {{"overlap", {0.5}}, {"sizes", {8, 16.25}}}, .rows = 1};
  call.results = {{{ResultExtent::each_sample(128), 5}, DType::f32, true}, {{}, DType::i32}, {{0, 3}, DType::f32}};
  return call;
}

TEST(HostCall, CountsRowsByTheSamplesOfItsFirstOperand) {
  const Shape in[] = {{3, 7}};
  EXPECT_EQ(output_shapes(sampler(), in), (std::vector<Shape>{{384, 5}, {}, {3, 3}}));
}

TEST(HostCall, IsTheSameAfterJson) {
  const Json json = attributes_to_json(sampler());
  EXPECT_EQ(json["results"][0], parse_json(R"({"shape": ["128N", 5], "ragged": true})", "test"));
  EXPECT_EQ(json["numbers"], parse_json(R"({"overlap": [0.5], "sizes": [8.0, 16.25]})", "test"));
  EXPECT_EQ(json["rows"], 1);
  EXPECT_EQ(std::get<HostCall>(op_from_json("host_call", json)), sampler());
}

TEST(HostCall, RefusesExtentsThatAreNone) {
  const auto read = [](const char* extent) {
    const std::string text = cat(R"({"function": "f", "results": [{"shape": [)", extent, "]}]}");
    const Op op = op_from_json("host_call", parse_json(text, "test"));
    const Shape in[] = {{3, 7}};
    output_shapes(op, in);
  };
  EXPECT_THAT(sentence([&] { read("\"N512\""); }), HasSubstr("expected an extent such as \"512N\""));
  EXPECT_THAT(sentence([&] { read("\"12M\""); }), HasSubstr("\"12M\""));
  EXPECT_THAT(sentence([&] { read("\"0N\""); }), HasSubstr("not positive"));
  EXPECT_THAT(sentence([&] { read("\"99999999999N\""); }), HasSubstr("out of range"));
  EXPECT_THAT(sentence([&] { read("1.5"); }), HasSubstr("expected an integer"));
}

TEST(HostCall, NeedsACountForRaggedRows) {
  const Shape in[] = {{3, 7}};
  HostCall call = sampler();
  call.rows = -1;
  EXPECT_THAT(sentence([&] { output_shapes(call, in); }), HasSubstr("no result says how many rows"));
  call.rows = 2;
  EXPECT_THAT(sentence([&] { output_shapes(call, in); }), HasSubstr("is no i32 scalar"));
  call = sampler();
  call.results[2].ragged = true;
  EXPECT_THAT(sentence([&] { output_shapes(call, in); }), HasSubstr("differ in their rows"));
}

// x -> host call -> its ragged patches -> what `rest` makes of them.
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
  EXPECT_THAT(sentence([&] {
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
  EXPECT_THAT(sentence([&] {
                validate(ragged_program(aligned), {{"N", 2}});
              }),
              HasSubstr("gather 'gather': operand 'label' has rows that are not ragged"));
}

}  // namespace
}  // namespace tbd
