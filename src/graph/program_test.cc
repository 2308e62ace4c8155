#include "graph/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/least_batch.h"
#include "graph/sequence_programs.h"
#include "toy_programs.h"

namespace tbd {
namespace {

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

class EveryToy : public testing::TestWithParam<std::pair<std::string, Program>> {
 protected:
  const Program& program() const { return GetParam().second; }
};
INSTANTIATE_TEST_SUITE_P(Toys, EveryToy, testing::ValuesIn(with_sequences(toy_programs())),
                         [](const auto& info) { return info.param.first; });

TEST_P(EveryToy, IsValidForSeveralBatches) {
  for (const int64_t batch : {2, 4, 7}) EXPECT_NO_THROW(validate(program(), {{"N", batch}}));
}

TEST_P(EveryToy, SurvivesItsJson) {
  const Program again = read_program(to_json(program()).dump(), "toy");
  EXPECT_EQ(again, program());
  EXPECT_EQ(to_json(again), to_json(program()));
  EXPECT_EQ(program_hash(again), program_hash(program()));
}

TEST(ToyPrograms, UseEveryOp) {
  std::set<std::string> seen = {"cast"};  // what the precision pass adds
  for (const auto& [name, program] : toy_programs())
    for (const Phase& phase : program.phases)
      for (const Node& node : phase.nodes) seen.insert(kind(node.op));
  for (const std::string& each : all_kinds()) EXPECT_TRUE(seen.contains(each)) << each;
}

TEST(Hash, IsStable) { EXPECT_EQ(program_hash(toy_program("mlp20")), "b07dfb160c7c5281"); }

TEST(Hash, IgnoresModelAndConfigNames) {
  Program program = toy_program("tied");
  const std::string before = program_hash(program);
  program.model = "other";
  program.config = "alias";
  EXPECT_EQ(program_hash(program), before);
}

TEST(Hash, ChangesWithEveryMember) {
  const Program base = toy_program("conv_forms");
  const auto changed = [&](auto change) {
    Program program = base;
    change(program);
    return program_hash(program) != program_hash(base);
  };
  EXPECT_TRUE(changed([](Program& p) { p.phases[0].update.schedule.base = 0.011; }));
  EXPECT_TRUE(changed([](Program& p) { p.phases[0].update.clip_norm.reset(); }));
  EXPECT_TRUE(changed([](Program& p) { p.phases[0].accumulate = 3; }));
  EXPECT_TRUE(changed([](Program& p) { p.parameters[0].init.a *= 2; }));
  EXPECT_TRUE(changed([](Program& p) { std::get<Conv2d>(p.phases[0].nodes[0].op).pads.top = 2; }));
  EXPECT_TRUE(changed([](Program& p) { p.step[0].from_step = 2; }));
}

// Reads the program after an edit of its JSON.
template <class Edit>
std::string error_after(std::string_view toy, Edit edit) {
  Json json = to_json(toy_program(toy));
  edit(json);
  return error_of([&] { read_program(json.dump(), "p.json"); });
}

TEST(ProgramJson, NamesThePlaceOfAnUnknownAttribute) {
  EXPECT_EQ(error_after("conv_forms",
                        [](Json& json) {
                          json["phases"][0]["nodes"][0]["attributes"]["kernal"] = {3, 3};
                        }),
            "p.json: phase 'train': conv2d 'grouped': unknown attribute 'kernal', did you mean 'kernel'?");
}

TEST(ProgramJson, NamesThePlaceOfAWrongType) {
  EXPECT_EQ(error_after("conv_forms", [](Json& json) { json["phases"][0]["nodes"][0]["attributes"]["out"] = 1.5; }),
            "p.json: phase 'train': conv2d 'grouped': 'out': expected an integer, got 1.5");
  EXPECT_EQ(error_after("norms", [](Json& json) { json["phases"][0]["update"]["schedule"]["kind"] = "stepp"; }),
            "p.json: phase 'train': 'update': 'schedule': 'kind': unknown value 'stepp', did you mean 'step'?");
  EXPECT_EQ(error_after("norms", [](Json& json) { json["parameters"][0]["shape"] = "big"; }),
            "p.json: parameter 'running.weight': 'shape': expected a list, got \"big\"");
}

TEST(ProgramJson, NamesAnUnknownOpOrAMissingKey) {
  EXPECT_EQ(error_after("mlp20", [](Json& json) { json["phases"][0]["nodes"][1]["op"] = "rellu"; }),
            "p.json: phase 'train': rellu 'relu': unknown op 'rellu', did you mean 'relu'?");
  EXPECT_EQ(error_after("mlp20", [](Json& json) { json["phases"][0]["nodes"][1].erase("inputs"); }),
            "p.json: phase 'train': relu 'relu': 'inputs' is missing");
  EXPECT_EQ(error_after("mlp20", [](Json& json) { json["phasen"] = 1; }),
            "p.json: unknown key 'phasen', did you mean 'phases'?");
}

TEST(ProgramJson, RefusesANewerVersion) {
  EXPECT_EQ(error_after("mlp20", [](Json& json) { json["version"] = 2; }),
            "p.json: program version 2 is newer than version 1, the newest that this build reads");
  EXPECT_EQ(error_after("mlp20", [](Json& json) { json["version"] = 0; }), "p.json: program version 0 does not exist");
  EXPECT_EQ(error_after("mlp20", [](Json& json) { json.erase("version"); }),
            "p.json: 'version' is missing: not a program");
}

TEST(ProgramJson, RefusesTruncatedText) {
  const std::string text = to_json(toy_program("mlp20")).dump();
  EXPECT_NE(error_of([&] { read_program(text.substr(0, text.size() / 2), "p.json"); }).find("p.json: not JSON at byte"),
            std::string::npos);
}

template <class Edit>
std::string invalid_after(std::string_view toy, Edit edit) {
  Program program = toy_program(toy);
  edit(program);
  return error_of([&] { validate(program, {{"N", 4}}); });
}

TEST(Validate, NamesTheNode) {
  EXPECT_EQ(invalid_after("conv_forms", [](Program& p) { std::get<Conv2d>(p.phases[0].nodes[0].op).groups = 3; }),
            "phase 'train': conv2d 'grouped': groups=3 does not divide C=4 of (4, 4, 9, 10)");
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.phases[0].nodes[1].inputs = {"layers.1"}; }),
            "phase 'train': relu 'relu': operand 'layers.1' is not an input, parameter, buffer or earlier node");
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.phases[0].nodes[0].inputs.pop_back(); }),
            "phase 'train': linear 'layers.0': expected 1 operands and 2 parameters, got 2 in all");
  EXPECT_EQ(invalid_after("mlp20",
                          [](Program& p) {
                            p.parameters[0].shape = {32, 31};
                          }),
            "phase 'train': linear 'layers.0': weight 'layers.0.weight' is (32, 31), expected (32, 32)");
}

TEST(Validate, RefusesNamesUsedTwice) {
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.phases[0].nodes[1].name = "layers.0"; }),
            "phase 'train': relu 'layers.0': the name 'layers.0' is used twice");
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.parameters.push_back(p.parameters[0]); }),
            "parameter 'layers.0.weight' exists twice");
  EXPECT_EQ(
      invalid_after("mlp20", [](Program& p) { p.phases[0].update.groups.push_back(p.phases[0].update.groups[0]); }),
      "phase 'train': update: parameter 'layers.0.weight' is in two groups");
}

TEST(Validate, RefusesWhatDoesNotExist) {
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.step[0].phase = "trian"; }),
            "unknown phase 'trian'; known: train");
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.phases[0].outputs["y"] = "nothing"; }),
            "phase 'train': output 'y' names 'nothing', which does not exist");
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.phases[0].loss[0].value = "relu"; }),
            "phase 'train': loss term 'ce' needs a scalar, got (4, 32) f32");
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.phases[0].update.groups[0].parameters.push_back("x"); }),
            "phase 'train': an update group names 'x', which is not a parameter");
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.phases[0].inputs[0].shape[0] = Dim("B"); }),
            "phase 'train': input 'x': extent 'B' is not bound");
}

TEST(Validate, RefusesWrongTypes) {
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.phases[0].inputs[1].dtype = DType::f32; }),
            "phase 'train': softmax_cross_entropy 'softmax_cross_entropy': label is f32, expected an integer type");
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.phases[0].inputs[0].dtype = DType::bf16; }),
            "phase 'train': linear 'layers.0': operands 0 and 1 differ in type: bf16 and f32");
}

TEST(Validate, RefusesBadSteps) {
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.step.clear(); }), "the step list is empty");
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.step.push_back(p.step[0]); }),
            "phase 'train' stands twice in the step list");
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.step[0].repeat = 0; }),
            "step entry 'train': repeat=0 is not positive");
  EXPECT_EQ(invalid_after("mlp20", [](Program& p) { p.phases[0].update.optimizer.momentum = 1; }),
            "phase 'train': update: momentum=1 is outside [0, 1)");
  EXPECT_EQ(error_of([&] { validate(toy_program("mlp20"), {{"N", 0}}); }), "extent N=0 is not positive");
}

TEST(Validate, RefusesSizesThatCannotBeCounted) {
  EXPECT_NE(invalid_after("mlp20",
                          [](Program& p) {
                            p.phases[0].inputs[0].shape = {int64_t{1} << 40, int64_t{1} << 40};
                          })
                .find("is larger than any machine"),
            std::string::npos);
}

std::vector<std::string> names(const std::vector<StepInput>& inputs) {
  std::vector<std::string> out;
  for (const StepInput& input : inputs) out.push_back(input.name);
  return out;
}

TEST(StepInputs, NameTheRunsOfARepeatedPhase) {
  const Program program = toy_program("penalty");
  EXPECT_EQ(names(step_inputs(program)), (std::vector<std::string>{"z", "critic.0/real", "critic.0/z", "critic.0/alpha",
                                                                   "critic.1/real", "critic.1/z", "critic.1/alpha",
                                                                   "critic.2/real", "critic.2/z", "critic.2/alpha"}));
}

TEST(StepInputs, OneBatchServesAllRepetitionsWhenNotFresh) {
  Program program = toy_program("penalty");
  program.step[1].fresh_inputs = false;
  EXPECT_EQ(names(step_inputs(program)), (std::vector<std::string>{"z", "real", "alpha"}));
}

TEST(StepInputs, NameMicroBatches) {
  const Program program = toy_program("conv_forms");
  EXPECT_EQ(names(step_inputs(program)),
            (std::vector<std::string>{"train.0/image", "train.0/label", "train.1/image", "train.1/label"}));
  EXPECT_EQ(input_name(program, program.step[0], 1, "image"), "train.1/image");
}

TEST(Builder, SharesTheParametersOfAName) {
  const Program program = toy_program("tied");
  EXPECT_EQ(program.parameters.size(), 4u);  // weight and bias of "shared" and of "norm"
  const std::vector<Node>& nodes = program.phases[0].nodes;
  const auto tied = std::ranges::find(nodes, "shared_2", &Node::name);
  ASSERT_NE(tied, nodes.end());
  EXPECT_EQ(tied->inputs[1], "shared.weight");
}

TEST(Builder, PutsUnlistedParametersIntoTheUnnamedGroup) {
  const Update update = toy_program("tied").phases[0].update;
  EXPECT_EQ(update.groups[0].parameters, (std::vector<std::string>{"shared.weight"}));
  EXPECT_EQ(update.groups[1].parameters, (std::vector<std::string>{"shared.bias", "norm.weight", "norm.bias"}));
}

TEST(Builder, RefusesAnotherShapeUnderAKnownName) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 4});
  g.linear("fc", x, {.out = 2});
  EXPECT_EQ(error_of([&] { g.linear("fc", x, {.out = 3}); }), "parameter 'fc.weight' is (2, 4), here (3, 4)");
}

// A batch norm over maps of side x side.
Program normalising(int64_t side) {
  Program program = {.model = "norm", .config = "toy"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 3, side, side});
  g.loss("sum", g.sum(g.batch_norm("norm", x)));
  g.update({.schedule = {.base = 0.01}});
  program.step = {{.phase = "train"}};
  return program;
}

TEST(LeastBatch, IsOneWhereAChannelHasSeveralValues) { EXPECT_EQ(least_batch(normalising(2), {}), 1); }

TEST(LeastBatch, IsTwoWhereAMapIsOneCell) { EXPECT_EQ(least_batch(normalising(1), {}), 2); }

// In half precision a convolution reads a cast of its weight; a linear layer's weight is none of them.
TEST(ConvolutionWeights, AreFoundThroughTheirCasts) {
  Program program;
  program.parameters = {{"conv.weight", {4, 3, 1, 1}, DType::f32, {}}, {"head.weight", {2, 4}, DType::f32, {}}};
  Phase phase = {.name = "train"};
  phase.nodes = {{"low", Cast{DType::bf16}, {"conv.weight"}},
                 {"conv", Conv2d{.out = 4, .kernel = {1, 1}}, {"image", "low"}},
                 {"head", Linear{.out = 2, .bias = false}, {"conv", "head.weight"}}};
  program.phases = {phase};
  EXPECT_EQ(convolution_weights(program), std::vector<std::string>{"conv.weight"});
  program.phases[0].nodes[1].inputs[1] = "conv.weight";
  EXPECT_EQ(convolution_weights(program), std::vector<std::string>{"conv.weight"});
}

}  // namespace
}  // namespace tbd
