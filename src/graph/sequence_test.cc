// What the ops of sequences promise: shapes, types, parameters, gradients, masks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "graph/memory.h"
#include "graph/passes.h"
#include "graph/sequence_programs.h"
#include "toy_programs.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Shape> sequence_shapes(const Op& op, std::vector<Shape> in) { return output_shapes(op, in); }
Shape sequence_shape(const Op& op, std::vector<Shape> in) { return sequence_shapes(op, std::move(in)).front(); }
std::string sequence_error(const Op& op, std::vector<Shape> in) {
  try {
    output_shapes(op, in);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Concat, SumsExtentsAlongItsAxis) {
  EXPECT_EQ(sequence_shape(Concat{}, {{2, 3, 5}, {2, 4, 5}, {2, 1, 5}}), (Shape{2, 8, 5}));
  EXPECT_EQ(sequence_shape(Concat{.axis = 2}, {{2, 3, 1}, {2, 3, 4}}), (Shape{2, 3, 5}));
  EXPECT_EQ(sequence_error(Concat{}, {{2, 3}}), "expected two operands or more, got 1");
  EXPECT_EQ(sequence_error(Concat{}, {{2, 3}, {3, 3}}), "(2, 3) and (3, 3) differ beyond axis 1");
  EXPECT_EQ(sequence_error(Concat{.axis = 2}, {{2, 3}, {2, 3}}), "no axis 2 in (2, 3)");
  EXPECT_EQ(sequence_error(Concat{}, {{2, 3}, {2, 3, 1}}), "ranks of (2, 3) and (2, 3, 1) differ");
}

TEST(Slice, TakesAPartOfOneAxis) {
  EXPECT_EQ(sequence_shape(Slice{.begin = 1, .end = 3}, {{2, 4, 5}}), (Shape{2, 2, 5}));
  EXPECT_EQ(sequence_shape(Slice{.axis = 0, .begin = 3}, {{8, 2}}), (Shape{5, 2})) << "end 0 is the end";
  EXPECT_EQ(sequence_error(Slice{.begin = 2, .end = 2}, {{2, 4}}), "no part 2 to 2 of axis 1 of (2, 4)");
  EXPECT_EQ(sequence_error(Slice{.end = 5}, {{2, 4}}), "no part 0 to 5 of axis 1 of (2, 4)");
  EXPECT_EQ(sequence_error(Slice{.begin = -1}, {{2, 4}}), "no part -1 to 4 of axis 1 of (2, 4)");
  EXPECT_EQ(sequence_error(Slice{.axis = 2}, {{2, 4}}), "no axis 2 in (2, 4)");
}

TEST(Transpose, PermutesAxes) {
  EXPECT_EQ(sequence_shape(Transpose{{2, 0, 1}}, {{2, 3, 5}}), (Shape{5, 2, 3}));
  EXPECT_EQ(sequence_error(Transpose{{0, 1}}, {{2, 3, 5}}), "expected 3 axes for (2, 3, 5), got 2");
  EXPECT_EQ(sequence_error(Transpose{{0, 1, 1}}, {{2, 3, 5}}), "axes are no permutation of those of (2, 3, 5)");
}

TEST(Gather, TakesRowsOfEachSample) {
  EXPECT_EQ(sequence_shape(Gather{}, {{2, 6, 4, 3}, {2, 5}}), (Shape{2, 5, 4, 3}));
  EXPECT_EQ(sequence_error(Gather{}, {{2, 6}, {3, 5}}), "positions are (3, 5), expected (2, P)");
}

TEST(Embedding, AddsAnAxis) {
  const Embedding op = {.rows = 7, .width = 3, .pad = 1};
  EXPECT_EQ(sequence_shape(op, {{2, 5}}), (Shape{2, 5, 3}));
  EXPECT_EQ(sequence_shape(op, {{4}, {7, 3}}), (Shape{4, 3}));
  EXPECT_EQ(sequence_error(op, {{2, 5}, {3, 7}}), "weight is (3, 7), expected (7, 3)");
  EXPECT_EQ(sequence_error(Embedding{.rows = 7, .width = 3, .pad = 7}, {{2}}), "pad=7 is no row of 7");
  EXPECT_EQ(parameters(Op(op), {2, 5}).front().init.zero_row, 1);
}

TEST(Sinusoid, RequiresAnEvenWidth) {
  EXPECT_EQ(sequence_shape(Sinusoid{.first = 2, .width = 8}, {{2, 5}}), (Shape{2, 5, 8}));
  EXPECT_EQ(sequence_error(Sinusoid{.width = 5}, {{2, 5}}), "width=5 is not even and at least 4");
  EXPECT_EQ(sequence_error(Rotary{}, {{2, 5, 2, 3}}), "D=3 of (2, 5, 2, 3) is odd");
}

TEST(Attention, ChecksHeadsAndMasks) {
  const Attention op = {.heads = 4, .kv_heads = 2, .dropout = 0.1};
  const Shape q = {2, 5, 12}, k = {2, 7, 6}, mask = {2, 7}, drops = {2, 4, 5, 7};
  EXPECT_EQ(sequence_shape(op, {q, k, k}), q);
  EXPECT_EQ(sequence_shape(op, {q, k, k, mask, drops}), q);
  EXPECT_EQ(sequence_shape(op, {q, k, k, drops}), q);
  EXPECT_EQ(sequence_error(op, {q, k}), "expected q, k, v and at most two masks, got 2 operands");
  EXPECT_EQ(sequence_error(op, {q, {2, 7, 12}, {2, 7, 12}}), "k is (2, 7, 12), expected 6 features for 2 heads");
  EXPECT_EQ(sequence_error(op, {q, k, {2, 6, 6}}), "k and v differ: (2, 7, 6) and (2, 6, 6)");
  EXPECT_EQ(sequence_error(op, {q, k, k, {2, 5}}), "mask is (2, 5), expected (2, 7)");
  EXPECT_EQ(sequence_error(op, {q, k, k, {2, 2, 5, 7}}), "dropout mask is (2, 2, 5, 7), expected (2, 4, 5, 7)");
  EXPECT_THAT(sequence_error(op, {q, k, k, drops, mask}), HasSubstr("expected after v an additive mask"));
  EXPECT_EQ(sequence_error(Attention{.heads = 4, .kv_heads = 2}, {q, k, k, drops}), "a dropout mask without dropout");
  EXPECT_EQ(sequence_error(Attention{.heads = 4, .kv_heads = 3}, {q, k, k}), "kv_heads=3 does not divide heads=4");
  EXPECT_EQ(sequence_error(Attention{.heads = 5}, {q, q, q}), "heads=5 does not divide 12 of q (2, 5, 12)");
  EXPECT_EQ(sequence_error(Attention{.heads = 4, .kv_heads = 2, .causal = true}, {q, k, k}),
            "causal attention from 5 to 7 positions");
}

TEST(Lstm, GivesEveryStepAndTheLastState) {
  const Lstm op = {.hidden = 4};
  EXPECT_THAT(sequence_shapes(op, {{2, 5, 3}}), ElementsAre(Shape{2, 5, 4}, Shape{2, 4}, Shape{2, 4}));
  EXPECT_THAT(sequence_shapes(op, {{2, 5, 3}, {2}}), ElementsAre(Shape{2, 5, 4}, Shape{2, 4}, Shape{2, 4}));
  EXPECT_EQ(sequence_error(op, {{2, 5, 3}, {5}}), "lengths are (5), expected (2)");
  EXPECT_EQ(sequence_error(op, {{2, 5}}), "expected x (N, T, features), got (2, 5)");
  EXPECT_THAT(sequence_shapes(LstmCell{.hidden = 4}, {{2, 3}, {2, 4}, {2, 4}}), ElementsAre(Shape{2, 4}, Shape{2, 4}));
  EXPECT_EQ(sequence_error(LstmCell{.hidden = 4}, {{2, 3}, {2, 4}, {2, 3}}),
            "h and c are (2, 4) and (2, 3), expected (2, 4)");
  std::vector<Shape> specs;
  for (const ParameterSpec& spec : parameters(Op(op), {2, 5, 3})) specs.push_back(spec.shape);
  EXPECT_THAT(specs, ElementsAre(Shape{16, 3}, Shape{16, 4}, Shape{16}, Shape{16}));
}

TEST(SoftmaxCrossEntropy, TakesRowsOfAnyLeadingShape) {
  const SoftmaxCrossEntropy op;
  EXPECT_EQ(sequence_shape(op, {{2, 5, 7}, {2, 5}}), Shape{});
  EXPECT_EQ(sequence_shape(op, {{2, 5, 7}, {2, 5}, {2, 5}}), Shape{});
  EXPECT_EQ(sequence_error(op, {{2, 5, 7}, {10}}), "label is (10), expected (2, 5)");
  EXPECT_EQ(sequence_error(op, {{5, 7}, {5}, {7}}), "weights are (7), expected (5)");
  EXPECT_EQ(sequence_error(SoftmaxCrossEntropy{.ignore = -2}, {{5, 7}, {5}}), "ignore=-2 is no label");
}

TEST(SoftmaxCrossEntropy, WritesOnlyWhatDiffers) {
  EXPECT_EQ(attributes_to_json(SoftmaxCrossEntropy{.smoothing = 0.1}).dump(), R"({"smoothing":0.1})");
  EXPECT_EQ(attributes_to_json(SoftmaxCrossEntropy{.spread = SoftmaxCrossEntropy::Spread::others, .ignore = 1}).dump(),
            R"({"spread":"others","ignore":1})");
}

Graph bound_sequence(const Program& program) { return bind(program, program.phases[0], {{"N", 4}}); }
const Value& sequence_value(const Graph& graph, std::string_view name) { return graph.value(graph.find(name).value()); }
std::vector<std::string> parameter_names(const Program& program) {
  std::vector<std::string> out;
  for (const Parameter& parameter : program.parameters) out.push_back(parameter.name);
  return out;
}

TEST(Builder, NamesRecurrentParametersAsTheirReference) {
  EXPECT_THAT(parameter_names(recur_program()),
              ElementsAre("encoder.embed.weight", "encoder.lstm.weight_ih_l0", "encoder.lstm.weight_hh_l0",
                          "encoder.lstm.bias_ih_l0", "encoder.lstm.bias_hh_l0", "encoder.lstm.weight_ih_l0_reverse",
                          "encoder.lstm.weight_hh_l0_reverse", "encoder.lstm.bias_ih_l0_reverse",
                          "encoder.lstm.bias_hh_l0_reverse", "encoder.lstm.weight_ih_l1", "encoder.lstm.weight_hh_l1",
                          "encoder.lstm.bias_ih_l1", "encoder.lstm.bias_hh_l1", "decoder.embed.weight",
                          "decoder.layers.0.weight_ih", "decoder.layers.0.weight_hh", "decoder.layers.0.bias_ih",
                          "decoder.layers.0.bias_hh", "fc.weight", "fc.bias"));
}

TEST(Builder, TiesAProjectionToAnEmbedding) {
  const Program program = decode_program();
  const Node& projection = *std::ranges::find(program.phases[0].nodes, "linear", &Node::name);
  EXPECT_THAT(projection.inputs, ElementsAre("add_2", "embed.weight"));
  EXPECT_EQ(std::get<Linear>(projection.op), (Linear{.out = 13, .bias = false}));
  EXPECT_EQ(program.parameters[0].init, Init::normal(0.02)) << "set again, and not by the second use";
  EXPECT_EQ(bound_sequence(program).value(*bound_sequence(program).find("linear")).shape, (Shape{4, 6, 13}));
}

TEST(Builder, KeepsThePaddingRowZero) {
  Program program;
  Builder g(program, "train");
  const auto scope = g.scope("encoder");
  const Tensor ids = g.input("ids", {Builder::batch()}, DType::i32);
  g.embedding("embed", ids, {.rows = 5, .width = 2, .pad = 3});
  g.init("embed.weight", Init::uniform(0.1));
  g.embedding(ids, g.parameter("table", {5, 2}, Init::normal(1)), 1);
  EXPECT_EQ(program.parameters[0].init.kind, Init::Kind::uniform);
  EXPECT_EQ(program.parameters[0].init.zero_row, 3);
  EXPECT_EQ(program.parameters[1].name, "encoder.table");
  EXPECT_EQ(program.parameters[1].init.zero_row, 1);
  EXPECT_THROW(g.init("embed.bias", {}), Error);
}

TEST(Types, EmbeddingResultHasTheTypeOfItsTable) {
  const Graph graph = bound_sequence(mask_program());
  EXPECT_EQ(sequence_value(graph, "embedding").dtype, DType::f32);
  EXPECT_EQ(sequence_value(graph, "equals").dtype, DType::f32);
  const Graph wide = bound_sequence(with_precision(mask_program(), Precision::kFp64));
  EXPECT_EQ(sequence_value(wide, "embedding").dtype, DType::f64);
  EXPECT_EQ(sequence_value(wide, "equals").dtype, DType::f64);
}

TEST(Types, LowPrecisionAppliesOnlyToMatrixOps) {
  const Graph decode = bound_sequence(with_precision(decode_program(), Precision::kBf16));
  EXPECT_EQ(sequence_value(decode, "embed").dtype, DType::f32);
  EXPECT_EQ(sequence_value(decode, "norm1").dtype, DType::f32);
  EXPECT_EQ(sequence_value(decode, "attention").dtype, DType::bf16);
  EXPECT_EQ(sequence_value(decode, "norm2").dtype, DType::bf16);
  const Graph recur = bound_sequence(with_precision(recur_program(), Precision::kFp16));
  EXPECT_EQ(sequence_value(recur, "encoder.lstm_l0:2").dtype, DType::f16);
  EXPECT_EQ(sequence_value(recur, "decoder.layers.0_3:1").dtype, DType::f16);
  EXPECT_EQ(sequence_value(recur, "softmax").dtype, DType::f16);
  const Graph mask = bound_sequence(with_precision(mask_program(), Precision::kBf16));
  EXPECT_EQ(sequence_value(mask, "softmax_cross_entropy").dtype, DType::f32);
}

std::string invalid_sequence_after(Program program, auto edit) {
  edit(program.phases[0]);
  try {
    bound_sequence(program);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Types, MismatchedOperandTypesAreRejected) {
  const auto with_input = [](std::string_view name, DType dtype) {
    return [name, dtype](Phase& phase) { std::ranges::find(phase.inputs, name, &InputSpec::name)->dtype = dtype; };
  };
  EXPECT_THAT(invalid_sequence_after(recur_program(), with_input("src_len", DType::f32)),
              HasSubstr("lstm 'encoder.lstm_l0': lengths is f32, expected an integer type"));
  EXPECT_THAT(invalid_sequence_after(mask_program(), with_input("masked_positions", DType::f32)),
              HasSubstr("gather 'gather': positions is f32, expected an integer type"));
  EXPECT_THAT(invalid_sequence_after(mask_program(), with_input("input_ids", DType::f32)),
              HasSubstr("embedding 'embedding': ids is f32, expected an integer type"));
  EXPECT_THAT(invalid_sequence_after(mask_program(), with_input("masked_weights", DType::i32)),
              HasSubstr("operands 0 and 2 differ in type: f32 and i32"));
}

TEST(Dropout, AttentionMaskHasTheShapeOfTheScores) {
  const Program program = with_dropout(translate_program(), DropoutMode::kMask);
  EXPECT_EQ(with_dropout(program, DropoutMode::kMask), program) << "once is enough";
  const Graph graph = bind(program, program.phases[0], {{"N", 4}, {"S", 7}, {"T", 3}});
  EXPECT_EQ(sequence_value(graph, "mask/attention").shape, (Shape{4, 2, 7, 7}));
  EXPECT_EQ(sequence_value(graph, "mask/attention_2").shape, (Shape{4, 2, 3, 3}));
  EXPECT_EQ(sequence_value(graph, "mask/attention_3").shape, (Shape{4, 2, 3, 7}));
  EXPECT_EQ(sequence_value(graph, "mask/dropout").shape, (Shape{4, 7, 8}));
  for (const BoundNode& node : graph.nodes)
    if (std::holds_alternative<Attention>(node.op)) {
      EXPECT_EQ(graph.value(node.inputs.back()).name, cat("mask/", node.name));
    }
}

TEST(Dropout, MaskOfAnAttentionResultHasTheShapeOfTheResult) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 5, 8});
  g.output("y", g.dropout(g.attention(x, x, x, {.heads = 2, .dropout = 0.2}), 0.5));
  const Graph graph = bound_sequence(with_precision(with_dropout(program, DropoutMode::kMask), Precision::kBf16));
  EXPECT_EQ(sequence_value(graph, "mask/attention").shape, (Shape{4, 2, 5, 5}));
  EXPECT_EQ(sequence_value(graph, "mask/dropout").shape, (Shape{4, 5, 8}));
}

TEST(Dropout, OffLeavesAttentionWithoutDropout) {
  const Program program = with_dropout(translate_program(), DropoutMode::kOff);
  for (const Node& node : program.phases[0].nodes) EXPECT_EQ(dropout_rate(node.op), std::nullopt) << node.name;
  EXPECT_EQ(dropout_rate(Attention{}), std::nullopt);
  EXPECT_EQ(dropout_rate(Attention{.dropout = 0.3}), 0.3);
  EXPECT_EQ(dropout_rate(Dropout{0.2}), 0.2);
}

bool sequence_needs(const Graph& graph, std::string_view name) {
  return gradient_needs(graph)[static_cast<size_t>(graph.find(name).value())];
}

TEST(GradientNeeds, DoNotPassThroughMasksAndWeights) {
  const Graph graph = bound_sequence(translate_program());
  EXPECT_TRUE(sequence_needs(graph, "embed_tokens.weight"));
  EXPECT_FALSE(sequence_needs(graph, "equals"));
  EXPECT_FALSE(sequence_needs(graph, "sinusoid"));
  EXPECT_TRUE(sequence_needs(graph, "attention"));
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 5, 4});
  const Tensor mask = g.reshape(g.linear("mask", x, {.out = 1}), {0, -1});
  const Tensor y = g.attention(g.linear("q", x, {.out = 4}), x, x, {.heads = 2}, mask);
  g.loss("sum", g.sum(y));
  g.update({});
  const Graph learned = bound_sequence(program);
  EXPECT_TRUE(sequence_needs(learned, "q.weight"));
  EXPECT_FALSE(sequence_needs(learned, "mask.weight")) << "no gradient of a mask";
  const BoundNode& attention = learned.nodes[static_cast<size_t>(sequence_value(learned, "attention").producer)];
  EXPECT_THAT(operands_with_needs(learned, attention, gradient_needs(learned)).needs_gradient,
              ElementsAre(true, false, false, false));
}

TEST(IntegerRange, IsWhatTheReadersCanIndex) {
  const auto range = [](const Graph& graph, std::string_view name) {
    return integer_range(graph, graph.find(name).value());
  };
  const Graph mask = bound_sequence(mask_program());
  EXPECT_EQ(range(mask, "input_ids"), (IntegerRange{0, 9}));
  EXPECT_EQ(range(mask, "attention_mask"), (IntegerRange{0, 1}));
  EXPECT_EQ(range(mask, "masked_positions"), (IntegerRange{0, 5}));
  EXPECT_EQ(range(mask, "masked_labels"), (IntegerRange{0, 9}));
  EXPECT_EQ(range(mask, "next_label"), (IntegerRange{0, 1}));
  const Graph recur = bound_sequence(recur_program());
  EXPECT_EQ(range(recur, "src_len"), (IntegerRange{1, 5}));
  EXPECT_EQ(range(recur, "src"), (IntegerRange{0, 8})) << "compared with the padding, too";
  const Graph toy = bound_sequence(toy_program("host_labels"));
  EXPECT_EQ(range(toy, "reshape"), (IntegerRange{0, 3}));
  EXPECT_EQ(range(toy, "top"), (IntegerRange{0, 3})) << "through what moves it";
}

TEST(IntegerRange, HoldsNoLabelBetweenTheClassesAndTheIgnoredOne) {
  const auto range = [](int64_t ignore) {
    Program program = {.model = "ignoring", .config = "test"};
    Builder g(program, "train");
    const Tensor label = g.input("label", {Builder::batch()}, DType::i32);
    const Tensor logits = g.linear("head", g.input("x", {Builder::batch(), 3}), {.out = 5});
    g.loss("ce", g.softmax_cross_entropy(logits, label, SoftmaxCrossEntropy{.ignore = ignore}));
    const Graph graph = bound_sequence(program);
    return integer_range(graph, graph.find("label").value());
  };
  for (const int64_t inside : {-1, 0, 4}) EXPECT_EQ(range(inside), (IntegerRange{0, 4})) << inside;
  EXPECT_EQ(range(5), (IntegerRange{0, 5})) << "one more";
  EXPECT_EQ(range(255), (IntegerRange{0, 4, 255})) << "5 to 254 are no labels";
  EXPECT_THROW(range(-100), Error) << "no label";
}

int64_t macs(const Graph& graph, std::string_view name) {
  for (const LayerRow& row : layer_table(graph))
    if (row.name == name) return row.forward_macs;
  return -1;
}

// docs/flops.md: attention, recurrent and linear products; embeddings, softmax and norms count nothing.
TEST(Macs, MatchClosedFormsForSequenceOps) {
  const Graph decode = bound_sequence(decode_program());
  EXPECT_EQ(macs(decode, "attention"), 4 * 2 * 6 * 6 * 8) << "N, two products, T T, heads d";
  EXPECT_EQ(macs(decode, "linear"), 4 * 6 * 8 * 13);
  for (const std::string_view name : {"embed", "norm1", "rotary", "silu", "softmax_cross_entropy"})
    EXPECT_EQ(macs(decode, name), 0) << name;
  const Graph recur = bound_sequence(recur_program());
  EXPECT_EQ(macs(recur, "encoder.lstm_l0"), 4 * 5 * 4 * 4 * (3 + 4));
  EXPECT_EQ(macs(recur, "decoder.layers.0_2"), 4 * 4 * 4 * (7 + 4));
}

TEST(Memory, CountsWhatOpsKeepBesideTheirResults) {
  const auto saved = [](const Graph& graph, std::string_view name) {
    for (const LayerRow& row : layer_table(graph))
      if (row.name == name) return row.saved.value;
    return int64_t{-1};
  };
  const Graph decode = bound_sequence(decode_program());
  EXPECT_EQ(saved(decode, "attention"), 4 * (4 * 6 * 8 + 4 * 4 * 6)) << "its result, and one number a head and query";
  EXPECT_EQ(saved(decode, "softmax_cross_entropy"), 4 * (4 * 6 * 13)) << "log-probabilities";
  const Graph translate = bound_sequence(translate_program());
  EXPECT_EQ(saved(translate, "attention"), 4 * (4 * 5 * 8 + 3 * 4 * 2 * 5 * 5));
  EXPECT_EQ(saved(translate, "sinusoid"), 0);
  const Graph masked = bound_sequence(with_dropout(translate_program(), DropoutMode::kMask));
  EXPECT_EQ(saved(masked, "attention"), 4 * (4 * 5 * 8 + 2 * 4 * 2 * 5 * 5)) << "the mask is an input";
  const Graph recur = bound_sequence(recur_program());
  EXPECT_EQ(saved(recur, "encoder.lstm_l0"), 4 * (8 * 4 * 5 * 4 + 2 * 4 * 4));
}

TEST(Liveness, NothingOverwritesAPartOfAParameter) {
  Program program;
  Builder g(program, "train");
  const Tensor part = g.slice(g.parameter("table", {6, 2}), {.axis = 0, .end = 4});
  g.loss("sum", g.sum(g.relu(part)));
  g.update({});
  const Graph graph = bound_sequence(program);
  EXPECT_EQ(liveness(graph).overwrite[1], std::nullopt);
  EXPECT_EQ(predict_memory(graph, {}).feature_maps, Bytes(4 * 8)) << "relu's result; the part is the table's";
}

}  // namespace
}  // namespace tbd
