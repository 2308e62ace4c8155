#include "graph/passes.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/sequence_programs.h"
#include "toy_programs.h"

namespace tbd {
namespace {

const Precision kAll[] = {Precision::kFp64, Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16};
const DropoutMode kModes[] = {DropoutMode::kFramework, DropoutMode::kMask, DropoutMode::kOff};

Graph bound_phase(const Program& program, size_t phase = 0) { return bind(program, program.phases[phase], {{"N", 4}}); }
DType type_of(const Graph& graph, std::string_view name) { return graph.value(*graph.find(name)).dtype; }

TEST(Precision, RefusesAnUnknownOneAndNamesTheOthers) {
  try {
    with_precision(toy_program("mlp20"), Precision("bf61"));
    FAIL() << "bf61 is no precision";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("unknown precision 'bf61'; known: fp64, fp32"));
  }
  EXPECT_THROW(with_dropout(toy_program("mlp20"), DropoutMode("on")), Error);
}

TEST(Precision, EveryToyIsValidInEveryPrecisionAndMode) {
  for (const auto& [name, program] : with_sequences(toy_programs()))
    for (const Precision& precision : kAll)
      for (const DropoutMode& mode : kModes)
        EXPECT_NO_THROW(validate(with_precision(with_dropout(program, mode), precision), {{"N", 4}}))
            << name << ' ' << precision.text() << ' ' << mode.text();
}

TEST(Precision, Fp32AndTf32LeaveTheProgram) {
  const Program program = toy_program("tied");
  EXPECT_EQ(with_precision(program, Precision::kFp32), program);
  EXPECT_EQ(with_precision(program, Precision::kTf32), program);
}

TEST(Precision, Fp64LeavesNoOtherFloat) {
  for (const auto& [name, program] : with_sequences(toy_programs())) {
    const Program wide = with_precision(program, Precision::kFp64);
    for (size_t phase = 0; phase < wide.phases.size(); ++phase)
      for (const Value& value : bound_phase(wide, phase).values)
        EXPECT_TRUE(!is_float(value.dtype) || value.dtype == DType::f64) << name << ' ' << value.name;
  }
}

TEST(Precision, MatrixOpsTakeTheLowTypeAndLossesFp32) {
  for (const Precision& precision : {Precision::kBf16, Precision::kFp16})
    for (const auto& [name, program] : with_sequences(toy_programs())) {
      const Program low = with_precision(program, precision);
      const DType type = precision == Precision::kBf16 ? DType::bf16 : DType::f16;
      for (size_t phase = 0; phase < low.phases.size(); ++phase) {
        const Graph graph = bound_phase(low, phase);
        for (const BoundNode& node : graph.nodes) {
          const Operands o = graph.operands(node);
          const PrecisionRule rule = traits(node.op).precision;
          for (size_t i = 0; rule == PrecisionRule::low && i < o.in_dtypes.size(); ++i)
            EXPECT_TRUE(o.in_dtypes[i] == type || !is_float(o.in_dtypes[i])) << name << ' ' << node.name;
          EXPECT_TRUE(rule != PrecisionRule::full || o.in_dtypes[0] == DType::f32) << name << ' ' << node.name;
        }
        for (const BoundTerm& term : graph.loss) {
          EXPECT_EQ(graph.value(term.value).dtype, DType::f32) << name;
          EXPECT_EQ(graph.value(term.norm).dtype, DType::f32) << name;
        }
        for (const ValueId id : graph.trained) EXPECT_EQ(graph.value(id).dtype, DType::f32) << "masters stay fp32";
      }
    }
}

TEST(Precision, NormsKeepTheTypeOfTheirOperandAndFp32Parameters) {
  const Graph graph = bound_phase(with_precision(toy_program("norms"), Precision::kBf16));
  EXPECT_EQ(type_of(graph, "running"), DType::f32);  // straight on the image
  EXPECT_EQ(type_of(graph, "batch"), DType::bf16);
  EXPECT_EQ(type_of(graph, "batch.weight"), DType::f32);
  EXPECT_EQ(type_of(graph, "layer"), DType::bf16);
}

TEST(Precision, CastsAValueOnceForAllItsUsers) {
  const Program low = with_precision(toy_program("tied"), Precision::kBf16);
  int casts = 0;
  for (const Node& node : low.phases[0].nodes)
    casts += std::holds_alternative<Cast>(node.op) && node.inputs[0] == "shared.weight";
  EXPECT_EQ(casts, 1);
}

TEST(Precision, ElementwiseOpsMatchTheLowestOperand) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 4});
  const Tensor y = g.linear("fc", x, {.out = 4});
  g.output("low", g.add(y, g.relu(x)));
  g.output("high", g.add(g.relu(x), x));
  const Graph graph = bound_phase(with_precision(program, Precision::kBf16));
  EXPECT_EQ(type_of(graph, "add"), DType::bf16);
  EXPECT_TRUE(graph.find("relu@bf16").has_value());
  EXPECT_EQ(type_of(graph, "add_2"), DType::f32);
}

TEST(Precision, InputGradientKeepsItsOperands) {
  const Program low = with_precision(toy_program("penalty"), Precision::kBf16);
  for (const Node& node : low.phases[1].nodes)
    EXPECT_TRUE(!std::holds_alternative<InputGradient>(node.op) || node.inputs[1] == "add");
}

TEST(Precision, OnlyFp16ScalesTheLoss) {
  for (const Precision& precision : kAll)
    EXPECT_EQ(with_precision(toy_program("mlp20"), precision).phases[0].update.loss_scale,
              precision == Precision::kFp16);
}

TEST(Dropout, MasksAreInputsOfTheOperandsShape) {
  const Program program = with_dropout(toy_program("tied"), DropoutMode::kMask);
  const Graph graph = bound_phase(program);
  EXPECT_EQ(graph.value(*graph.find("mask/dropout")).shape, (Shape{4, 5, 8}));
  EXPECT_EQ(graph.value(*graph.find("mask/dropout_2")).kind, Value::Kind::input);
  EXPECT_EQ(step_inputs(program).size(), 4u);  // x, target, two masks
}

TEST(Dropout, MaskOfSamplesHasOneElementEach) {
  Program program = {.model = "depth", .config = "test"};
  Builder g(program, "train");
  const Tensor x = g.relu(g.input("x", {Builder::batch(), 3, 2, 2}));
  g.loss("sum", g.sum(g.add(g.dropout_of_samples("block.drop_path", x, 0.2), x)));
  EXPECT_EQ(g.dropout_of_samples("none", x, 0).name(), x.name()) << "nothing drops";
  const Program masked = with_dropout(program, DropoutMode::kMask);
  const Graph graph = bound_phase(masked);
  EXPECT_EQ(graph.value(*graph.find("mask/block.drop_path")).shape, (Shape{4, 1, 1, 1}));
  EXPECT_EQ(with_dropout(masked, DropoutMode::kMask), masked) << "once is enough";
  EXPECT_FALSE(bound_phase(with_dropout(program, DropoutMode::kOff)).find("block.drop_path"));
}

TEST(Dropout, OffRemovesTheNodes) {
  const Program program = with_dropout(toy_program("tied"), DropoutMode::kOff);
  for (const Node& node : program.phases[0].nodes) EXPECT_FALSE(std::holds_alternative<Dropout>(node.op));
  EXPECT_NO_THROW(validate(program, {{"N", 4}}));
}

TEST(Dropout, OffFollowsChainsAndOutputs) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch()});
  const Tensor y = g.dropout(g.dropout(g.relu(x), 0.5), 0.5);
  g.output("y", y);
  g.loss("sum", g.sum(y));
  const Program off = with_dropout(program, DropoutMode::kOff);
  EXPECT_EQ(off.phases[0].outputs.at("y"), "relu");
  EXPECT_EQ(off.phases[0].nodes.back().inputs[0], "relu");
}

TEST(Dropout, ModeChangesTheLoweredHashButNotTheModelHash) {
  const Program program = toy_program("tied");
  EXPECT_EQ(with_dropout(program, DropoutMode::kFramework), program);
  EXPECT_NE(program_hash(with_dropout(program, DropoutMode::kMask)), program_hash(program));
}

TEST(EvaluationForm, StandsBesideTheStepWithoutChangingIt) {
  for (const auto& [name, program] : with_sequences(toy_programs())) {
    const Program both = with_evaluation(program);
    EXPECT_NO_THROW(validate(both, {{"N", 4}})) << name;
    EXPECT_EQ(both.step, program.step) << name;
    EXPECT_EQ(both.phases.size(), program.phases.size() + program.step.size()) << name;
    for (size_t i = 0; i < program.phases.size(); ++i) EXPECT_EQ(both.phases[i], program.phases[i]) << name;
  }
}

TEST(EvaluationForm, ReadsRunningStatisticsDropsNothingAndTrainsNothing) {
  for (const auto& [name, program] : with_sequences(toy_programs())) {
    const Program both = with_evaluation(program);
    for (const StepEntry& entry : program.step) {
      const Phase& form = both.phase(evaluation_of(entry.phase));
      EXPECT_TRUE(form.wrt().empty()) << name;
      EXPECT_EQ(form.accumulate, 1) << name;
      EXPECT_EQ(form.loss.size(), program.phase(entry.phase).loss.size()) << name;
      for (const Node& node : form.nodes) {
        EXPECT_FALSE(dropout_rate(node.op).value_or(0) > 0) << name << ' ' << node.name;
        const auto* norm = std::get_if<BatchNorm>(&node.op);
        EXPECT_FALSE(norm && norm->stats == BatchNorm::Stats::running) << name << ' ' << node.name;
      }
    }
  }
}

TEST(AnswerForm, ReadsWhatItsOutputsNeedAlone) {
  for (const auto& [name, program] : with_sequences(toy_programs())) {
    const std::string phase = program.step.front().phase;
    const Program both = with_answers(program, phase);
    EXPECT_NO_THROW(validate(both, {{"N", 4}})) << name;
    const Phase& answers = both.phase(answers_of(phase));
    EXPECT_EQ(answers.outputs, program.phase(phase).outputs) << name;
    EXPECT_TRUE(answers.loss.empty() && answers.wrt().empty()) << name;
    EXPECT_LE(answers.nodes.size(), program.phase(phase).nodes.size()) << name;
    std::set<std::string> read;
    for (const Node& node : answers.nodes) read.insert(node.inputs.begin(), node.inputs.end());
    for (const InputSpec& input : answers.inputs) EXPECT_TRUE(read.contains(input.name)) << name << ' ' << input.name;
  }
  const Phase answers = with_answers(toy_program("mlp20"), "train").phase(answers_of("train"));
  ASSERT_EQ(answers.inputs.size(), 1u);  // and no labels
}

TEST(EvaluationForm, IsNoFormToTrain) {
  const Program program = toy_program("norms"), both = with_evaluation(program);
  Program wrong = program;
  wrong.phases = {both.phase(evaluation_of("train"))};
  wrong.phases[0].update = program.phases[0].update;
  wrong.step = {{.phase = wrong.phases[0].name}};
  try {
    validate(wrong, {{"N", 4}});
    FAIL() << "a frozen norm's weight is trained";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("is trained, but must be a buffer"));
  }
}

TEST(EvaluationForm, MayBeANetworksOwnOverTheSameWeights) {
  const Program program = toy_program("mlp20");
  Program own = {.model = "toy"};
  own.parameters = {program.parameters.front()};
  own.phases = {{.name = "answers"}};
  EXPECT_EQ(with_evaluation(program, own).phases.back().name, "answers");
  own.parameters[0].shape = {3};
  try {
    with_evaluation(program, own);
    FAIL() << "the network has no such weight";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(own.parameters[0].name));
  }
}

}  // namespace
}  // namespace tbd
