// The step interpreter on a back-end without a framework: a store of host tensors and phases that write down what they
// are told. Each loss term of a fake phase is the first element of its first input, times the position of the term.
#include "worker/program_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/builder.h"
#include "worker/inputs.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;

class HostStore final : public NamedTensors<HostTensor> {
 public:
  explicit HostStore(const Program& program) {
    for (const Parameter& each : program.parameters) tensors_["param/" + each.name] = {each.dtype, each.shape};
    for (const Parameter& each : program.buffers) tensors_["buffer/" + each.name] = {each.dtype, each.shape};
  }
  void write(const std::string& name, const HostTensor& value) override { tensors_.at(name) = value; }
  std::vector<HostTensor> read(std::span<const std::string> names) override {
    std::vector<HostTensor> out;
    for (const std::string& name : names) out.push_back(tensors_.at(name));
    return out;
  }
  void copy(const std::string& from, const std::string& to) override { tensors_.at(to) = tensors_.at(from); }

 private:
  HostTensor zeros_like(const std::string&, const HostTensor& weight) override {
    return {weight.dtype(), weight.shape()};
  }
};

// What a phase was told of one micro-batch.
struct Micro {
  std::string phase;
  size_t staged;
  bool first;
  std::optional<UpdateStep> update;
};

struct Log {
  std::vector<Micro> runs;
  std::vector<std::string> staged;  // "train: 1 x"
  bool skips = false;
};

class FakePhase final : public LoweredPhase {
 public:
  FakePhase(const BoundPhase& bound, HostStore& store, Log& log) : bound_(bound), log_(log) {
    for (const std::string& name : bound.averaged) store.average(name);
    for (const std::string& name : bound.trained) store.slot(name, "momentum");
    terms_.resize(bound.graph.loss.size());
  }
  void begin_staging(size_t micro_batches) override { firsts_.assign(micro_batches, std::nullopt); }
  void stage(size_t micro_batch, ValueId, const std::string& name, const HostTensor& value) override {
    log_.staged.push_back(cat(bound_.phase.name, ": ", micro_batch, " ", name));
    if (!firsts_.at(micro_batch)) firsts_[micro_batch] = as_doubles(value).at(0);
  }
  std::span<const double> run(const MicroBatch& micro) override {
    log_.runs.push_back({bound_.phase.name, micro.staged, micro.first, {}});
    if (micro.update) log_.runs.back().update = *micro.update;
    for (size_t t = 0; t < terms_.size(); ++t)
      terms_[t] = firsts_.at(micro.staged).value() * static_cast<double>(t + 1);
    return terms_;
  }
  bool skipped() const override { return log_.skips; }
  HostTensor output(size_t index) override { return scalar_tensor(static_cast<double>(index), DType::f64); }
  std::optional<HostTensor> gradient(size_t index) override {
    return scalar_tensor(terms_.empty() ? 0 : terms_.back() + static_cast<double>(index), DType::f64);
  }

 private:
  const BoundPhase& bound_;
  Log& log_;
  std::vector<std::optional<double>> firsts_;
  std::vector<double> terms_;
};

class FakeBackend final : public ProgramSession {
 public:
  SessionIdentity identity() const override { return {}; }
  std::vector<NodeSupport> check(const Program&) const override { return {}; }
  SessionMemory memory() const override { return {}; }
  void reset_peak_memory() override {}
  std::optional<double> gemm_rate(const Precision&, double) override { return {}; }

  Log log;

 private:
  Store& open(const Program& program, const LoadOptions&) override { return store_.emplace(program); }
  LoweredPhase& lower(const BoundPhase& phase) override {
    return *phases_.emplace_back(std::make_unique<FakePhase>(phase, *store_, log));
  }

  std::optional<HostStore> store_;
  std::vector<std::unique_ptr<FakePhase>> phases_;
};

struct Form {
  int64_t accumulate = 1, repeat = 1, from_step = 1;
  bool fresh_inputs = true;
  std::optional<double> ema = {};
};

// A phase with an input "x", two terms "a" (norm 1) and "b" (norm 3), and Adam, whose correction tells the count.
void add_phase(Program& program, const std::string& name, const Form& form) {
  Builder g(program, name);
  const Tensor x = g.input("x", {Builder::batch(), 2});
  const Tensor y = g.linear(name + ".fc", x, {.out = 1});
  g.output(name + "_y", y);
  g.loss("a", g.sum(y));
  g.loss("b", g.sum(g.square(y)), 3);
  g.accumulate(form.accumulate);
  g.update({.optimizer = {.kind = Optimizer::Kind::adam}, .schedule = {.base = 0.5}, .ema = form.ema});
  program.step.push_back(
      {.phase = name, .repeat = form.repeat, .from_step = form.from_step, .fresh_inputs = form.fresh_inputs});
}

Program one_phase(const Form& form = {}) {
  Program program = {.model = "toy", .config = "one"};
  add_phase(program, "train", form);
  return program;
}

Program two_phases() {
  Program program = {.model = "toy", .config = "two"};
  add_phase(program, "critic", {.repeat = 3});
  add_phase(program, "generator", {.from_step = 2});
  return program;
}

std::unique_ptr<FakeBackend> loaded(const Program& program, bool capture = true) {
  auto session = std::make_unique<FakeBackend>();
  session->load(program, {.bindings = {{"N", 2}}, .capture = capture});
  return session;
}

// Each x is one larger than the one before; norms are the program's.
TensorMap counted_batch(const Program& program) {
  TensorMap batch = input_needs(program, {{"N", 2}}).norms;
  float next = 1;
  for (const StepInput& input : step_inputs(program)) {
    HostTensor x(DType::f32, {2, 2});
    x.as<float>()[0] = next++;
    batch[input.name] = x;
  }
  return batch;
}

std::unique_ptr<FakeBackend> ready(const Program& program, bool capture = true) {
  auto session = loaded(program, capture);
  session->stage(counted_batch(program));
  session->log.staged.clear();
  return session;
}

StepRequest at_step(int64_t number, std::optional<std::string> phase = {}) {
  return {.number = number, .schedule_step = number, .lr = {}, .only_phase = std::move(phase)};
}

double scalar_of(const TensorMap& tensors, const std::string& name) { return as_doubles(tensors.at(name)).at(0); }

std::vector<size_t> staged_of(const Log& log) {
  std::vector<size_t> out;
  for (const Micro& run : log.runs) out.push_back(run.staged);
  return out;
}

std::string sentence_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(StepInterpreter, SumsTermsTimesTheirNormsOverMicroBatches) {
  auto session = ready(one_phase({.accumulate = 2}));
  // Norms are 1 / 4 and 3 / 4 for two micro-batches of two samples; x is 1, then 2.
  EXPECT_DOUBLE_EQ(session->step(at_step(1)).loss, (1 + 2) / 4.0 + 3 * 2 * (1 + 2) / 4.0);
  const TensorMap kept = session->read({"loss", "term/"});
  EXPECT_DOUBLE_EQ(scalar_of(kept, "term/a"), (1 + 2) / 4.0);
  EXPECT_DOUBLE_EQ(scalar_of(kept, "term/b"), 3 * 2 * (1 + 2) / 4.0);
  EXPECT_DOUBLE_EQ(scalar_of(kept, "loss"), scalar_of(kept, "term/a") + scalar_of(kept, "term/b"));
}

TEST(StepInterpreter, GoesOnWithTheCountOfAppliedUpdates) {
  auto first = ready(one_phase());
  for (int64_t number = 1; number <= 3; ++number) first->step(at_step(number));
  const TensorMap kept = first->read({"updates/"});
  EXPECT_EQ(scalar_of(kept, "updates/train"), 3);
  auto second = ready(one_phase());
  second->write(kept);
  second->step(at_step(4));
  first->step(at_step(4));
  ASSERT_TRUE(second->log.runs.back().update.has_value());
  EXPECT_EQ(second->log.runs.back().update->number, first->log.runs.back().update->number);
  EXPECT_THAT(sentence_of([&] {
                second->write({{"updates/trian", scalar_tensor(1, DType::f64)}});
              }),
              HasSubstr("trian"));
}

TEST(StepInterpreter, RefusesAMultipleThatItsBackendDoesNotKeep) {
  auto session = ready(one_phase());
  TensorMap values = session->read({"param/"});
  const std::string name = values.begin()->first;
  values[cat("scale/", name)] = scalar_tensor(2, DType::f64);
  EXPECT_THAT(sentence_of([&] { session->write(values); }), HasSubstr(cat("keeps no multiple of '", name, "'")));
}

TEST(StepInterpreter, UpdatesAfterTheLastMicroBatchOfEachRepeat) {
  auto session = ready(one_phase({.accumulate = 2, .repeat = 2}));
  session->step(at_step(1));
  const std::vector<Micro>& runs = session->log.runs;
  EXPECT_THAT(staged_of(session->log), ElementsAre(0, 1, 2, 3));
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].first, i % 2 == 0) << i;
    EXPECT_EQ(runs[i].update.has_value(), i % 2 == 1) << i;
  }
  EXPECT_EQ(runs[1].update->number, 1);
  EXPECT_EQ(runs[3].update->number, 2);
}

TEST(StepInterpreter, RepeatsTheSameInputsWhereTheyAreNotFresh) {
  auto session = ready(one_phase({.accumulate = 2, .repeat = 2, .fresh_inputs = false}));
  session->step(at_step(1));
  EXPECT_THAT(staged_of(session->log), ElementsAre(0, 1, 0, 1));
}

TEST(StepInterpreter, StagesEachInputByTheNameOfItsMicroBatch) {
  const Program program = one_phase({.accumulate = 2});
  auto session = loaded(program);
  session->stage(counted_batch(program));
  EXPECT_THAT(session->log.staged, ElementsAre("train: 0 train.0/x", "train: 0 norm/a", "train: 0 norm/b",
                                               "train: 1 train.1/x", "train: 1 norm/a", "train: 1 norm/b"));
}

TEST(StepInterpreter, RunsPhasesFromTheirStepOn) {
  auto session = ready(two_phases());
  EXPECT_THAT(session->step(at_step(1)).losses, ElementsAre(Key("critic")));
  EXPECT_EQ(session->log.runs.size(), 3u);
  const StepReport second = session->step(at_step(2));
  EXPECT_THAT(second.losses, ElementsAre(Key("critic"), Key("generator")));
  EXPECT_EQ(second.loss, second.losses.at("generator"));
  EXPECT_EQ(session->log.runs.back().phase, "generator");
}

TEST(StepInterpreter, ForgetsTheLossOfAPhaseThatDidNotRun) {
  auto session = ready(two_phases());
  session->step(at_step(2));
  EXPECT_THAT(session->read({"loss"}), ElementsAre(Key("loss/critic"), Key("loss/generator")));
  session->step(at_step(1));
  EXPECT_THAT(session->read({"loss"}), ElementsAre(Key("loss/critic")));
}

TEST(StepInterpreter, RunsAPhaseAloneOnceWhateverItsFirstStep) {
  auto session = ready(two_phases());
  session->step(at_step(1, "generator"));
  session->step(at_step(1, "critic"));
  ASSERT_EQ(session->log.runs.size(), 2u);
  EXPECT_EQ(session->log.runs[0].phase, "generator");
  EXPECT_EQ(session->log.runs[1].phase, "critic");
}

TEST(StepInterpreter, RefusesAPhaseThatItCannotRunAlone) {
  Program program = two_phases();
  program.step.pop_back();
  auto session = ready(program);
  EXPECT_THAT(sentence_of([&] { session->step(at_step(1, "critics")); }), HasSubstr("'critic'"));
  EXPECT_THAT(sentence_of([&] { session->step(at_step(1, "generator")); }),
              HasSubstr("no step entry runs the phase 'generator'"));
  EXPECT_TRUE(session->log.runs.empty());
}

TEST(StepInterpreter, RefusesAStepListWithAPhaseTwice) {
  Program program = one_phase();
  program.step.push_back(program.step.front());
  EXPECT_THAT(sentence_of([&] { loaded(program); }), HasSubstr("phase 'train' stands twice"));
}

TEST(StepInterpreter, TakesScheduleAndCountOfTheScheduleStep) {
  auto session = ready(one_phase({.repeat = 2}));
  session->step({.number = 1, .schedule_step = 11, .lr = 0.25, .only_phase = {}});
  ASSERT_EQ(session->log.runs.size(), 2u);
  EXPECT_EQ(session->log.runs[0].update->number, 21);  // ten steps of two updates came before
  EXPECT_EQ(session->log.runs[1].update->number, 22);
  EXPECT_EQ(session->log.runs[0].update->scalars.lr, 0.25);
  EXPECT_DOUBLE_EQ(session->log.runs[1].update->scalars.correction1, 1 - std::pow(0.9, 22));
}

TEST(StepInterpreter, DoesNotCountAnUpdateThatWasSkipped) {
  auto session = ready(one_phase());
  session->log.skips = true;
  session->step(at_step(1));
  session->log.skips = false;
  session->step(at_step(2));
  session->step(at_step(3));
  EXPECT_EQ(session->log.runs[1].update->number, 1);
  EXPECT_EQ(session->log.runs[2].update->number, 2);
}

TEST(StepInterpreter, KeepsOutputsAndGradientsOnlyWhenCapturing) {
  auto session = ready(one_phase());
  session->step(at_step(1));
  EXPECT_THAT(session->read({"output/", "grad/"}),
              ElementsAre(Key("grad/train.fc.bias"), Key("grad/train.fc.weight"), Key("output/train_y")));
  auto quiet = ready(one_phase(), /*capture=*/false);
  quiet->step(at_step(1));
  EXPECT_TRUE(quiet->read({"loss", "term/", "output/", "grad/"}).empty());
}

TEST(StepInterpreter, ABatchThatIsRefusedLeavesNothingStaged) {
  const Program program = two_phases();
  auto session = ready(program);
  TensorMap batch = counted_batch(program);
  batch["x"] = HostTensor(DType::f32, {3, 2});  // the generator's, after the critic's
  EXPECT_THAT(sentence_of([&] { session->stage(batch); }),
              testing::AllOf(HasSubstr("'x'"), HasSubstr("(3, 2)"), HasSubstr("(2, 2)")));
  EXPECT_TRUE(session->log.staged.empty());
  EXPECT_THAT(sentence_of([&] { session->step(at_step(1)); }), HasSubstr("staged"));
  batch.erase("x");
  EXPECT_THAT(sentence_of([&] { session->stage(batch); }), HasSubstr("lacks the input 'x'"));
}

TEST(StepInterpreter, NeedsTheNormOfEachTerm) {
  const Program program = one_phase();
  auto session = loaded(program);
  TensorMap batch = counted_batch(program);
  batch.erase("norm/b");
  EXPECT_THAT(sentence_of([&] { session->stage(batch); }), HasSubstr("lacks the input 'norm/b'"));
}

TEST(StepInterpreter, AnAverageFollowsItsWeightUntilTheFirstStep) {
  const std::string weight = "param/train.fc.weight", average = "state/train.fc.weight/ema";
  auto session = ready(one_phase({.ema = 0.9}));
  HostTensor values(DType::f32, {1, 2});
  values.as<float>()[1] = 7;
  session->write({{weight, values}});
  EXPECT_EQ(as_doubles(session->read({average}).at(average)), (std::vector<double>{0, 7}));
  session->step(at_step(1));
  values.as<float>()[1] = 8;
  session->write({{weight, values}});
  EXPECT_EQ(as_doubles(session->read({average}).at(average)), (std::vector<double>{0, 7}));
}

TEST(StepInterpreter, AnAverageThatIsWrittenStays) {
  const std::string weight = "param/train.fc.weight", average = "state/train.fc.weight/ema";
  auto session = ready(one_phase({.ema = 0.9}));
  HostTensor values(DType::f32, {1, 2});
  values.as<float>()[1] = 7;
  session->write({{average, values}});
  session->step(at_step(1));
  EXPECT_EQ(as_doubles(session->read({average}).at(average)), (std::vector<double>{0, 7}));
  EXPECT_EQ(as_doubles(session->read({weight}).at(weight)), (std::vector<double>{0, 0}));
}

TEST(StepInterpreter, WriteIsAtomic) {
  auto session = ready(one_phase());
  HostTensor ones(DType::f32, {1});
  ones.as<float>()[0] = 1;
  const std::string bias = "param/train.fc.bias";
  EXPECT_THAT(sentence_of([&] {
                session->write({{bias, ones}, {"param/train.fc.weigth", ones}});
              }),
              HasSubstr("train.fc.weight"));
  EXPECT_THAT(sentence_of([&] {
                session->write({{bias, ones}, {"param/train.fc.weight", ones}});
              }),
              testing::AllOf(HasSubstr("(1)"), HasSubstr("(1, 2)")));
  EXPECT_EQ(scalar_of(session->read({bias}), bias), 0);
}

TEST(StepInterpreter, ReportsALossThatIsNotFiniteAndFindsTheFirstTensor) {
  const Program program = one_phase();
  auto session = ready(program);
  session->step(at_step(1));
  EXPECT_EQ(session->first_non_finite(), "");
  TensorMap batch = counted_batch(program);
  batch["x"].as<float>()[0] = std::numeric_limits<float>::infinity();
  session->stage(batch);
  EXPECT_TRUE(std::isnan(session->step(at_step(2)).loss));
  EXPECT_EQ(session->first_non_finite(), "grad/train.fc.weight");
  HostTensor bias(DType::f32, {1});
  bias.as<float>()[0] = std::nanf("");
  session->write({{"param/train.fc.bias", bias}});
  EXPECT_EQ(session->first_non_finite(), "param/train.fc.bias");
}

TEST(StepInterpreter, RefusesOptionsUnsupportedByAllBackEnds) {
  const auto load = [](const LoadOptions& options) {
    return sentence_of([&] { FakeBackend().load(one_phase(), options); });
  };
  EXPECT_THAT(load({.bindings = {{"N", 2}}, .threads = 0}), HasSubstr("threads"));
  EXPECT_THAT(load({.bindings = {{"N", 2}}, .world = {.place = {0, 2}}}),
              HasSubstr("cannot sum gradients over 2 ranks"));
  EXPECT_THAT(load({.bindings = {{"N", 2}}, .world = {.place = {2, 2}}}), HasSubstr("rank 2 of 2"));
  EXPECT_THAT(load({.bindings = {{"N", 2}}, .device_memory_bytes = 1}), HasSubstr("no memory of a device"));
  auto session = ready(one_phase());
  EXPECT_THAT(sentence_of([&] { session->load(one_phase(), {.bindings = {{"N", 2}}}); }), HasSubstr("one program"));
  StepRequest traced = at_step(1);
  traced.traced = true;
  EXPECT_THAT(sentence_of([&] { session->step(traced); }), HasSubstr("pass trace"));
}

}  // namespace
}  // namespace tbd
