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

}  // namespace
}  // namespace tbd
