// What the ops of speech, of boards and of second derivatives promise: shapes, types, parameters, gradients, integers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/memory.h"
#include "graph/passes.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Shape> speech_shapes(const Op& op, std::vector<Shape> in) { return output_shapes(op, in); }
Shape speech_shape(const Op& op, std::vector<Shape> in) { return speech_shapes(op, std::move(in)).front(); }
std::string error_by(auto action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}
std::string speech_error(const Op& op, std::vector<Shape> in) {
  return error_by([&] { output_shapes(op, in); });
}

TEST(ConvTranspose2d, OutputShapeInvertsThatOfAConvolution) {
  const ConvTranspose2d op = {.out = 3, .kernel = {5, 3}, .stride = {2, 1}, .pads = {2, 1, 0, 1}};
  EXPECT_EQ(speech_shape(op, {{2, 4, 6, 7}}), (Shape{2, 3, 5 * 2 - 3 + 5, 6 - 1 + 3}));
  const Conv2d forward = {.out = 4, .kernel = {5, 3}, .stride = {2, 1}, .pads = {2, 1, 0, 1}};
  EXPECT_EQ(speech_shape(forward, {{2, 3, 12, 8}}), (Shape{2, 4, 6, 7}));
  ASSERT_EQ(parameters(Op(op), {2, 4, 6, 7}).size(), 1u) << "no bias";
  EXPECT_EQ(parameters(Op(op), {2, 4, 6, 7})[0].shape, (Shape{4, 3, 5, 3})) << "that of the convolution";
  const ConvTranspose2d biased = {.out = 3, .kernel = {5, 3}, .bias = true};
  ASSERT_EQ(parameters(Op(biased), {2, 4, 6, 7}).size(), 2u);
  EXPECT_EQ(parameters(Op(biased), {2, 4, 6, 7})[1].shape, (Shape{3}));
  EXPECT_EQ(speech_error(op, {{2, 4, 6}}), "expected (N, C, H, W), got (2, 4, 6)");
  EXPECT_EQ(speech_error(op, {{2, 4, 6, 7}, {3, 4, 5, 3}}), "weight is (3, 4, 5, 3), expected (4, 3, 5, 3)");
  EXPECT_EQ(speech_error(ConvTranspose2d{.out = 3, .kernel = 1, .pads = {1, 1, 0, 0}}, {{2, 4, 2, 7}}),
            "pads leave nothing of (2, 4, 2, 7)");
  EXPECT_EQ(speech_error(ConvTranspose2d{}, {{2, 4, 2, 7}}), "out, kernel and stride must be positive");
  EXPECT_EQ(speech_error(ConvTranspose2d{.out = 1, .pads = {-1, 0, 0, 0}}, {{2, 4, 2, 7}}),
            "pads must not be negative");
}

TEST(UpsampleNearest, EnlargesBothAxes) {
  EXPECT_EQ(speech_shape(UpsampleNearest{3}, {{2, 5, 4, 1}}), (Shape{2, 5, 12, 3}));
  EXPECT_EQ(speech_error(UpsampleNearest{0}, {{2, 5, 4, 1}}), "factor must be positive");
  EXPECT_EQ(speech_error(UpsampleNearest{}, {{2, 5}}), "expected (N, C, H, W), got (2, 5)");
}

TEST(Clamp, RequiresLowBelowHigh) {
  EXPECT_EQ(speech_shape(Clamp{.low = 0, .high = 20}, {{2, 3}}), (Shape{2, 3}));
  EXPECT_EQ(speech_error(Clamp{.low = 2, .high = 2}, {{2, 3}}), "low=2 is not below high=2");
  EXPECT_EQ(speech_shape(Greater{}, {{2, 3}}), (Shape{2, 3}));
}

TEST(Lengths, AreOnePerSample) {
  EXPECT_EQ(speech_shape(StridedLength{3}, {{4}}), (Shape{4}));
  EXPECT_EQ(speech_error(StridedLength{0}, {{4}}), "stride must be positive");
  EXPECT_EQ(speech_error(StridedLength{}, {{4, 1}}), "expected lengths (N), got (4, 1)");
  EXPECT_EQ(speech_shape(SequenceMask{.axis = 3}, {{4, 2, 3, 5}, {4}}), (Shape{4, 2, 3, 5}));
  EXPECT_EQ(speech_error(SequenceMask{}, {{4, 2}, {2}}), "lengths are (2), expected (4)");
  EXPECT_EQ(speech_error(SequenceMask{.axis = 0}, {{4, 2}, {4}}), "axis=0 is none of (4, 2) but that of the samples");
  EXPECT_EQ(speech_error(SequenceMask{.axis = 2}, {{4, 2}, {4}}), "axis=2 is none of (4, 2) but that of the samples");
  EXPECT_EQ(speech_error(SequenceMask{}, {{4, 2}}), "expected x and lengths, got 1 operands");
}

TEST(Gru, GivesEveryStepAndTheLastState) {
  const Gru op = {.hidden = 4};
  EXPECT_THAT(speech_shapes(op, {{2, 5, 3}}), ElementsAre(Shape{2, 5, 4}, Shape{2, 4}));
  EXPECT_THAT(speech_shapes(op, {{2, 5, 3}, {2}}), ElementsAre(Shape{2, 5, 4}, Shape{2, 4}));
  EXPECT_EQ(result_count(op), 2u);
  EXPECT_EQ(speech_error(op, {{2, 5, 3}, {5}}), "lengths are (5), expected (2)");
  EXPECT_EQ(speech_error(op, {{2, 5}}), "expected x (N, T, features), got (2, 5)");
  EXPECT_EQ(speech_error(Gru{}, {{2, 5, 3}}), "hidden must be positive");
  std::vector<Shape> specs;
  for (const ParameterSpec& spec : parameters(Op(op), {2, 5, 3})) {
    specs.push_back(spec.shape);
    EXPECT_EQ(spec.init, Init::uniform(0.5)) << "1 / sqrt(4)";
  }
  EXPECT_THAT(specs, ElementsAre(Shape{12, 3}, Shape{12, 4}, Shape{12}, Shape{12}));
}

TEST(SoftCrossEntropy, TakesATargetOfTheSameShape) {
  EXPECT_EQ(speech_shape(SoftCrossEntropy{}, {{2, 5, 7}, {2, 5, 7}}), Shape{});
  EXPECT_EQ(speech_error(SoftCrossEntropy{}, {{5, 7}, {5}}), "target is (5), expected (5, 7)");
  EXPECT_EQ(speech_error(SoftCrossEntropy{}, {{7}, {7}}), "expected logits (..., classes), got (7)");
  EXPECT_EQ(speech_error(SoftCrossEntropy{}, {{5, 7}}), "expected logits and target, got 1 operands");
}

TEST(CtcLoss, ChecksItsFourOperands) {
  const CtcLoss op;
  EXPECT_EQ(speech_shape(op, {{2, 9, 5}, {2}, {2, 4}, {2}}), Shape{});
  EXPECT_EQ(speech_error(op, {{2, 9, 5}, {2}, {2, 4}}),
            "expected logits, lengths, labels and label lengths, got 3 operands");
  EXPECT_EQ(speech_error(op, {{2, 5}, {2}, {2, 4}, {2}}), "expected logits (N, T, classes), got (2, 5)");
  EXPECT_EQ(speech_error(op, {{2, 9, 5}, {9}, {2, 4}, {2}}), "lengths are (9), expected (2)");
  EXPECT_EQ(speech_error(op, {{2, 9, 5}, {2}, {4, 2}, {2}}), "labels are (4, 2), expected (2, U)");
  EXPECT_EQ(speech_error(op, {{2, 9, 5}, {2}, {2, 4}, {4}}), "label lengths are (4), expected (2)");
  EXPECT_EQ(speech_error(CtcLoss{5}, {{2, 9, 5}, {2}, {2, 4}, {2}}), "blank=5 is none of 5 classes");
  EXPECT_EQ(speech_error(CtcLoss{-1}, {{2, 9, 5}, {2}, {2, 4}, {2}}), "blank=-1 is none of 5 classes");
}

TEST(Json, ContainsOnlyNonDefaultAttributes) {
  const auto json = [](const Op& op) {
    EXPECT_EQ(op_from_json(kind(op), attributes_to_json(op)), op) << kind(op);
    return cat(kind(op), " ", attributes_to_json(op).dump());
  };
  EXPECT_EQ(json(ConvTranspose2d{.out = 3, .kernel = {5, 3}, .stride = 2, .pads = {1, 0, 2, 0}}),
            R"(conv_transpose2d {"out":3,"kernel":[5,3],"stride":[2,2],"pads":[1,0,2,0]})");
  EXPECT_EQ(json(ConvTranspose2d{.out = 3, .bias = true}), R"(conv_transpose2d {"out":3,"bias":true})");
  EXPECT_EQ(json(UpsampleNearest{}), "upsample_nearest {}");
  EXPECT_EQ(json(UpsampleNearest{4}), R"(upsample_nearest {"factor":4})");
  EXPECT_EQ(json(Clamp{.low = 0, .high = 20}), R"(clamp {"high":20.0})");
  EXPECT_EQ(json(Greater{.value = 0.5}), R"(greater {"value":0.5})");
  EXPECT_EQ(json(StridedLength{3}), R"(strided_length {"stride":3})");
  EXPECT_EQ(json(SequenceMask{.axis = 3}), R"(sequence_mask {"axis":3})");
  EXPECT_EQ(json(Gru{.hidden = 4, .reverse = true}), R"(gru {"hidden":4,"reverse":true})");
  EXPECT_EQ(json(SoftCrossEntropy{}), "soft_cross_entropy {}");
  EXPECT_EQ(json(CtcLoss{.blank = 28}), R"(ctc_loss {"blank":28})");
}

// A program of all of them: clips of 9 frames in 6 bands, 5 classes.
Program speech_program(int64_t blank = 0) {
  Program program = {.model = "toy", .config = "speech"};
  Builder g(program, "train");
  const Dim batch = Builder::batch();
  const Tensor spect = g.input("spect", {batch, 1, 6, 9});
  const Tensor frames = g.input("frames", {batch}, DType::i32);
  const Tensor labels = g.input("labels", {batch, 3}, DType::i32);
  const Tensor label_len = g.input("label_len", {batch}, DType::i32);
  const Tensor target = g.input("target", {batch, 5});
  const Tensor lengths = g.strided_length(frames, 2);
  Tensor x = g.conv2d("conv", spect, {.out = 2, .kernel = 3, .stride = 2, .pads = {1, 1, 1, 1}, .bias = true});
  x = g.sequence_mask(g.clamp(x, {.low = 0, .high = 20}), lengths, 3);
  x = g.reshape(g.transpose(x, {0, 3, 1, 2}), {0, 0, -1});
  const Gated there = g.gru("rnn", x, {.hidden = 4}, "_l0", lengths);
  const Gated back = g.gru("rnn", x, {.hidden = 4, .reverse = true}, "_l0", lengths);
  const Tensor logits = g.linear("fc", g.concat({there.y, back.y}, 2), {.out = 5});
  g.output("logits", logits);
  g.loss("ctc", g.ctc_loss(logits, lengths, labels, label_len, {.blank = blank}));
  g.loss("soft", g.soft_cross_entropy(g.linear("head", there.last, {.out = 5}), target));
  g.update({});
  program.step = {{.phase = "train"}};
  return program;
}
Graph bound_speech(const Program& program) { return bind(program, program.phases[0], {{"N", 4}}); }
const Value& speech_value(const Graph& graph, std::string_view name) { return graph.value(graph.find(name).value()); }

TEST(Speech, BindsAndSurvivesItsJson) {
  const Program program = speech_program();
  EXPECT_EQ(read_program(to_json(program).dump(), "json"), program);
  for (const Precision& precision : {Precision::kFp64, Precision::kFp32, Precision::kBf16, Precision::kFp16})
    for (const int64_t batch : {1, 2, 7})
      EXPECT_NO_THROW(validate(with_precision(program, precision), {{"N", batch}})) << precision.text();
  const Graph graph = bound_speech(program);
  EXPECT_EQ(speech_value(graph, "rnn_l0").shape, (Shape{4, 5, 4}));
  EXPECT_EQ(speech_value(graph, "rnn_l0:1").shape, (Shape{4, 4}));
  EXPECT_EQ(speech_value(graph, "ctc_loss").shape, Shape{});
}

TEST(Speech, NamesRecurrentParametersAsTheirReference) {
  std::vector<std::string> names;
  const Program program = speech_program();
  for (const Parameter& parameter : program.parameters) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("conv.weight", "conv.bias", "rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.bias_ih_l0",
                                 "rnn.bias_hh_l0", "rnn.weight_ih_l0_reverse", "rnn.weight_hh_l0_reverse",
                                 "rnn.bias_ih_l0_reverse", "rnn.bias_hh_l0_reverse", "fc.weight", "fc.bias",
                                 "head.weight", "head.bias"));
}

TEST(Speech, MatrixProductsUseLowPrecisionAndLossesFp32) {
  const Graph graph = bound_speech(with_precision(speech_program(), Precision::kBf16));
  for (const std::string_view low : {"conv", "clamp", "sequence_mask", "rnn_l0", "rnn_l0:1", "fc", "head"})
    EXPECT_EQ(speech_value(graph, low).dtype, DType::bf16) << low;
  for (const std::string_view full : {"ctc_loss", "soft_cross_entropy", "target"})
    EXPECT_EQ(speech_value(graph, full).dtype, DType::f32) << full;
  EXPECT_EQ(speech_value(graph, "strided_length").dtype, DType::i32);
  const Graph wide = bound_speech(with_precision(speech_program(), Precision::kFp64));
  EXPECT_EQ(speech_value(wide, "ctc_loss").dtype, DType::f64);
  EXPECT_EQ(speech_value(wide, "strided_length").dtype, DType::i32);
}

TEST(Speech, WantsIntegersForLengthsAndLabels) {
  const auto after = [](std::string_view input, DType dtype) {
    Program program = speech_program();
    std::ranges::find(program.phases[0].inputs, input, &InputSpec::name)->dtype = dtype;
    return error_by([&] { bound_speech(program); });
  };
  EXPECT_THAT(after("frames", DType::f32),
              HasSubstr("strided_length 'strided_length': operand 0 is f32, expected an integer type"));
  EXPECT_THAT(after("labels", DType::f32), HasSubstr("ctc_loss 'ctc_loss': labels is f32, expected an integer type"));
  EXPECT_THAT(after("label_len", DType::f32),
              HasSubstr("ctc_loss 'ctc_loss': label lengths is f32, expected an integer type"));
  EXPECT_THAT(after("target", DType::f64), HasSubstr("operands 0 and 1 differ in type: f32 and f64"));
  EXPECT_THAT(after("spect", DType::i32), HasSubstr("conv2d 'conv': operand 0 is i32, expected a float type"));
}

TEST(Speech, InfersTheRangesOfIntegerInputs) {
  const auto range = [](const Graph& graph, std::string_view name) {
    return integer_range(graph, graph.find(name).value());
  };
  const Graph graph = bound_speech(speech_program());
  EXPECT_EQ(range(graph, "strided_length"), (IntegerRange{1, 5}));
  EXPECT_EQ(range(graph, "frames"), (IntegerRange{1, 9})) << "9 frames are 5 steps, 10 would be 5 too";
  EXPECT_EQ(range(graph, "labels"), (IntegerRange{1, 4})) << "not the blank";
  EXPECT_EQ(range(graph, "label_len"), (IntegerRange{1, 3}));
  EXPECT_EQ(range(bound_speech(speech_program(4)), "labels"), (IntegerRange{0, 3})) << "before the blank";
}

bool speech_needs(const Graph& graph, std::string_view name) {
  return gradient_needs(graph)[static_cast<size_t>(graph.find(name).value())];
}

TEST(Speech, OnlyLogitsNeedGradients) {
  const Graph graph = bound_speech(speech_program());
  for (const std::string_view passed : {"conv.weight", "clamp", "rnn_l0:1", "fc", "rnn.bias_hh_l0_reverse"})
    EXPECT_TRUE(speech_needs(graph, passed)) << passed;
  for (const std::string_view not_passed : {"spect", "target", "strided_length", "frames"})
    EXPECT_FALSE(speech_needs(graph, not_passed)) << not_passed;
  Program program;
  Builder g(program, "train");
  const Tensor x = g.linear("fc", g.input("x", {Builder::batch(), 3}), {.out = 5});
  g.loss("soft", g.soft_cross_entropy(g.input("z", {Builder::batch(), 5}), x));
  g.update({});
  EXPECT_FALSE(speech_needs(bound_speech(program), "fc.weight")) << "a target is a constant";
}

// Three gates a unit; a CTC loss keeps log-probabilities and one number a state.
TEST(Speech, CountsProductsAndWhatIsKept) {
  const Graph graph = bound_speech(speech_program());
  for (const LayerRow& row : layer_table(graph)) {
    if (row.name == "rnn_l0") {
      EXPECT_EQ(row.forward_macs, 4 * 5 * 3 * 4 * (6 + 4));
      EXPECT_EQ(row.saved, Bytes(4 * (10 * 4 * 5 * 4 + 4 * 4))) << "nine a unit and step, both results";
    }
    if (row.name == "ctc_loss") {
      EXPECT_EQ(row.saved, Bytes(4 * (4 * 5 * 5 + 4 * 5 * 7)));
    }
  }
}

TEST(Liveness, MaskingTakesTheStorageOfWhatItMasks) {
  Program program;
  Builder g(program, "train");
  const Tensor lengths = g.input("lengths", {Builder::batch()}, DType::i32);
  const Tensor x = g.conv2d("conv", g.input("x", {Builder::batch(), 1, 2, 4}), {.out = 1});
  const Tensor once = g.sequence_mask(x, lengths, 3);
  g.loss("sum", g.sum(g.clamp(once, {.low = 0, .high = 1})));
  g.update({});
  const Graph graph = bound_speech(program);
  EXPECT_EQ(liveness(graph).overwrite[1], 0);
  EXPECT_EQ(liveness(graph).overwrite[2], std::nullopt) << "clamp's backward reads its operand";
}

}  // namespace
}  // namespace tbd
