// The protocol as docs/protocol.md says it, on every worker of this build and on the example in Python with NumPy
// alone; and that example trained by the real runner on a perceptron, against a computation of this file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"
#include "record/reader.h"
#include "record/safetensors.h"
#include "runner/equivalence/check.h"
#include "runner/run.h"
#include "runner/step.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kExample = TBD_SOURCE_DIR "/examples/numpy_worker/";
const std::map<std::string, std::string> kEnvironment = {{"PATH", TBD_TOOLS ":/usr/bin:/bin"},
                                                         {"OMP_NUM_THREADS", "1"}};

bool has_numpy() { return std::system("PATH=" TBD_TOOLS ":/usr/bin:/bin python3 -c 'import numpy' 2>/dev/null") == 0; }

WorkerEntry numpy_entry() {
  return {.key = "numpy", .framework = "numpy", .version = "1", .worker = kExample + "worker.py"};
}

Program perceptron() { return program_from_json(parse_json(read_file(kExample + "perceptron.json"), "perceptron")); }

// The numbers of a tensor in double.
std::vector<double> numbers(const HostTensor& tensor) {
  const HostTensor wide = converted(tensor, DType::f64);
  const auto values = wide.as<double>();
  return {values.begin(), values.end()};
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted, const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  double largest = 0;
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < found.size(); ++i)  // sums of at most 16 products in float32
    ASSERT_NEAR(found[i], wanted[i], 32 * 0x1p-24 * (largest + 1e-3)) << what << "[" << i << "]";
}

// Lines to and from a worker.
class Talk {
 public:
  explicit Talk(const WorkerEntry& entry)
      : process_({.argv = {entry.worker.string()}, .environment = kEnvironment, .stderr_file = "/dev/null"}) {}

  void send(const std::string& line) { process_.write_line(line, 10); }
  protocol::Message answer() {
    std::string line;
    if (process_.read_line(line, 60) != Subprocess::Read::line) fail(ErrorKind::io, "the worker said nothing");
    return protocol::message_from(line);
  }
  protocol::Message ask(const protocol::Request& request) {
    send(protocol::to_line(request));
    return answer();
  }
  std::string refusal(const protocol::Request& request) { return refusal_of(ask(request)); }
  std::string refusal(const std::string& line) {
    send(line);
    return refusal_of(answer());
  }
  std::optional<ExitStatus> end() { return process_.wait(20); }
  void close_input() { process_.close_input(); }

 private:
  static std::string refusal_of(const protocol::Message& message) {
    const auto* failure = std::get_if<protocol::Failure>(&message);
    return failure ? cat(failure->kind, ": ", failure->sentence) : "accepted";
  }
  Subprocess process_;
};

// Loads the perceptron in the first layout that the worker offers.
protocol::Message load_perceptron(Talk& talk) {
  const auto can = std::get<protocol::HelloReply>(talk.ask(protocol::Hello{}));
  return talk.ask(protocol::Load{.program = perceptron(),
                                 .bindings = {{"N", 4}},
                                 .layout = can.layouts.at(0),
                                 .dropout = DropoutMode::kOff,
                                 .seed = 7,
                                 .capture = true});
}

class Protocol : public ::testing::Test {
 protected:
  Protocol() {
    workers_ = read_workers(fs::path(TBD_BINARY_DIR) / "workers.json");
    if (has_numpy()) workers_.push_back(numpy_entry());
  }
  void SetUp() override {
    if (workers_.empty()) GTEST_SKIP() << "no worker is built, and python3 has no numpy";
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  TemporaryFolder folder_{"tbd-protocol"};
  std::vector<WorkerEntry> workers_;
};

TEST_F(Protocol, HelloSaysWhoItIs) {
  for (const WorkerEntry& entry : workers_) {
    SCOPED_TRACE(entry.key);
    const auto reply = std::get<protocol::HelloReply>(Talk(entry).ask(protocol::Hello{}));
    EXPECT_EQ(reply.version, protocol::kVersion);
    EXPECT_EQ(reply.framework, entry.framework);
    ASSERT_FALSE(reply.modes.empty());
    for (const Mode& mode : reply.modes) EXPECT_THAT(Mode::kKnown, ::testing::Contains(mode));
    EXPECT_THAT(reply.devices, ::testing::Contains(Device::kCpu));
    EXPECT_THAT(reply.precisions, ::testing::Contains(Precision::kFp32));
    EXPECT_FALSE(reply.layouts.empty());
  }
}

TEST_F(Protocol, EveryNodeIsAnswered) {
  const Program program = perceptron();
  for (const WorkerEntry& entry : workers_) {
    SCOPED_TRACE(entry.key);
    const auto reply = std::get<protocol::CheckReply>(Talk(entry).ask(protocol::Check{program}));
    ASSERT_EQ(reply.nodes.size(), program.phases[0].nodes.size());
    for (size_t i = 0; i < reply.nodes.size(); ++i) {
      EXPECT_EQ(reply.nodes[i].node, program.phases[0].nodes[i].name);
      EXPECT_NE(reply.nodes[i].level, "unsupported") << reply.nodes[i].detail;
    }
  }
}

TEST_F(Protocol, BadLinesAreAnsweredAndTheWorkerLivesOn) {
  for (const WorkerEntry& entry : workers_) {
    SCOPED_TRACE(entry.key);
    Talk talk(entry);
    EXPECT_THAT(talk.refusal("rubbish"), HasSubstr("invalid: request: not JSON"));
    EXPECT_THAT(talk.refusal("[]"), HasSubstr("invalid: request"));
    EXPECT_THAT(talk.refusal(R"({"type":"write"})"), HasSubstr("'file' is missing"));
    EXPECT_THAT(talk.refusal(R"({"type":"write","file":3})"), HasSubstr("'file'"));
    EXPECT_THAT(talk.refusal(protocol::Read{{"param/"}, file("none")}), HasSubstr("nothing is loaded"));
    talk.send(R"({"type":"hello","version":1,"unknown":{}})");
    EXPECT_TRUE(std::holds_alternative<protocol::HelloReply>(talk.answer()));
  }
}

TEST_F(Protocol, AProgramIsLoadedOnce) {
  for (const WorkerEntry& entry : workers_) {
    SCOPED_TRACE(entry.key);
    Talk talk(entry);
    const auto reply = std::get<protocol::LoadReply>(load_perceptron(talk));
    EXPECT_EQ(reply.batch, 4);
    EXPECT_EQ(reply.parameters, 467);
    const protocol::Message second = load_perceptron(talk);
    EXPECT_THAT(std::get<protocol::Failure>(second).sentence, HasSubstr("loaded already"));
  }
}

// A program that cannot be loaded leaves a worker that answers.
TEST_F(Protocol, RefusedProgramIsNotLoaded) {
  for (const WorkerEntry& entry : workers_) {
    SCOPED_TRACE(entry.key);
    Talk talk(entry);
    const protocol::Load load{
        .program = perceptron(), .bindings = {{"N", 4}}, .device = Device("cuda:99"), .layout = ImageLayout("none")};
    EXPECT_NE(talk.refusal(load), "accepted");
    EXPECT_THAT(talk.refusal(protocol::Run{}), HasSubstr("nothing is loaded"));
  }
}

TEST_F(Protocol, WrittenTensorsAreReadBack) {
  HostTensor bias(DType::f32, Shape{3});
  for (size_t i = 0; i < 3; ++i) bias.as<float>()[i] = static_cast<float>(i) - 0.5f;
  write_safetensors(file("in"), {{"head.bias", bias}});
  write_safetensors(file("wrong"), {{"head.weight", bias}});
  for (const WorkerEntry& entry : workers_) {
    SCOPED_TRACE(entry.key);
    Talk talk(entry);
    load_perceptron(talk);
    EXPECT_EQ(std::get<protocol::WriteReply>(talk.ask(protocol::Write{file("in")})).tensors, 1);
    EXPECT_THAT(talk.refusal(protocol::Write{file("wrong")}), HasSubstr("head.weight'"));
    EXPECT_THAT(talk.refusal(protocol::Write{file("absent")}), HasSubstr("absent"));
    EXPECT_EQ(std::get<protocol::ReadReply>(talk.ask(protocol::Read{{"param/"}, file("out")})).tensors, 6);
    EXPECT_EQ(numbers(read_safetensors(file("out")).at("param/head.bias")), numbers(bias));
  }
}

// Rows come before the reply, the first at once, and `stop` ends a run after its step.
TEST_F(Protocol, StopEndsARun) {
  for (const WorkerEntry& entry : workers_) {
    SCOPED_TRACE(entry.key);
    Talk talk(entry);
    load_perceptron(talk);
    talk.send(protocol::to_line(protocol::Run{.steps = 1'000'000'000}));
    const protocol::Message first = talk.answer();
    ASSERT_TRUE(std::holds_alternative<protocol::Steps>(first));
    EXPECT_EQ(std::get<protocol::Steps>(first).rows->at(0).at(0), 1);
    talk.send(protocol::to_line(protocol::Stop{}));
    protocol::Message message = talk.answer();
    while (std::holds_alternative<protocol::Steps>(message)) message = talk.answer();
    const auto reply = std::get<protocol::RunReply>(message);
    EXPECT_EQ(reply.ended, "stop");
    EXPECT_GE(reply.steps, 1);
    EXPECT_TRUE(std::isfinite(reply.losses.at("train")));
    EXPECT_EQ(reply.launch->at("batch_seen"), 4);
  }
}

TEST_F(Protocol, ByeAndAClosedInputEndTheWorker) {
  for (const WorkerEntry& entry : workers_) {
    SCOPED_TRACE(entry.key);
    Talk polite(entry), deserted(entry);
    EXPECT_TRUE(std::holds_alternative<protocol::ByeReply>(polite.ask(protocol::Bye{})));
    EXPECT_TRUE(polite.end().value_or(ExitStatus{}).ok());
    deserted.ask(protocol::Hello{});
    deserted.close_input();
    EXPECT_TRUE(deserted.end().has_value());
  }
}

// ---- the perceptron of the example, computed here in double

struct DenseMatrix {
  size_t rows = 0, columns = 0;
  std::vector<double> values;
  double& operator()(size_t r, size_t c) { return values[r * columns + c]; }
  double operator()(size_t r, size_t c) const { return values[r * columns + c]; }
};

DenseMatrix zeros(size_t rows, size_t columns) { return {rows, columns, std::vector<double>(rows * columns)}; }

DenseMatrix matrix_of(const TensorMap& tensors, const std::string& name) {
  const HostTensor& tensor = tensors.at(name);
  const Shape& shape = tensor.shape();
  const auto rows = shape.rank() == 2 ? static_cast<size_t>(shape[0]) : 1;
  return {rows, static_cast<size_t>(shape.elements()) / rows, numbers(tensor)};
}

// y[n, o] = sum over i of x[n, i] w[o, i] + b[o]
DenseMatrix linear(const DenseMatrix& x, const DenseMatrix& w, const DenseMatrix& b) {
  DenseMatrix y = zeros(x.rows, w.rows);
  for (size_t n = 0; n < x.rows; ++n)
    for (size_t o = 0; o < w.rows; ++o) {
      y(n, o) = b(0, o);
      for (size_t i = 0; i < x.columns; ++i) y(n, o) += x(n, i) * w(o, i);
    }
  return y;
}

struct LinearSlopes {
  DenseMatrix x, w, b;
};
LinearSlopes linear_slopes(const DenseMatrix& x, const DenseMatrix& w, const DenseMatrix& dy) {
  LinearSlopes d{zeros(x.rows, x.columns), zeros(w.rows, w.columns), zeros(1, w.rows)};
  for (size_t n = 0; n < x.rows; ++n)
    for (size_t o = 0; o < w.rows; ++o) {
      d.b(0, o) += dy(n, o);
      for (size_t i = 0; i < x.columns; ++i) {
        d.x(n, i) += dy(n, o) * w(o, i);
        d.w(o, i) += dy(n, o) * x(n, i);
      }
    }
  return d;
}

struct ExpectedGradients {
  double loss = 0;
  std::map<std::string, std::vector<double>> gradients;
};

ExpectedGradients expected(const TensorMap& weights, const TensorMap& inputs) {
  const auto w = [&](const char* layer) { return matrix_of(weights, cat(layer, ".weight")); };
  const auto b = [&](const char* layer) { return matrix_of(weights, cat(layer, ".bias")); };
  const DenseMatrix x = matrix_of(inputs, "x");
  const std::vector<double> label = numbers(inputs.at("label"));
  const DenseMatrix hidden = linear(x, w("hidden"), b("hidden"));
  DenseMatrix rectified = hidden;
  for (double& value : rectified.values) value = std::max(value, 0.0);
  DenseMatrix squashed = linear(rectified, w("gate"), b("gate"));
  for (double& value : squashed.values) value = std::tanh(value);
  const DenseMatrix logits = linear(squashed, w("head"), b("head"));

  ExpectedGradients out;
  DenseMatrix slope = zeros(logits.rows, logits.columns);
  const double norm = 1.0 / static_cast<double>(x.rows);
  for (size_t n = 0; n < logits.rows; ++n) {
    double sum = 0;
    for (size_t c = 0; c < logits.columns; ++c) sum += std::exp(logits(n, c));
    const auto truth = static_cast<size_t>(label[n]);
    out.loss -= norm * (logits(n, truth) - std::log(sum));
    for (size_t c = 0; c < logits.columns; ++c)
      slope(n, c) = norm * (std::exp(logits(n, c)) / sum - (c == truth ? 1.0 : 0.0));
  }
  const auto take = [&](const char* layer, const DenseMatrix& input) {
    LinearSlopes d = linear_slopes(input, w(layer), slope);
    out.gradients[cat(layer, ".weight")] = d.w.values;
    out.gradients[cat(layer, ".bias")] = d.b.values;
    slope = std::move(d.x);
  };
  take("head", squashed);
  for (size_t i = 0; i < slope.values.size(); ++i) slope.values[i] *= 1 - squashed.values[i] * squashed.values[i];
  take("gate", rectified);
  for (size_t i = 0; i < slope.values.size(); ++i) slope.values[i] *= hidden.values[i] > 0 ? 1 : 0;
  take("hidden", x);
  return out;
}

class NumpyWorker : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_numpy()) GTEST_SKIP() << "python3 has no numpy";
    settings_.environment = {{"PATH", TBD_TOOLS ":/usr/bin:/bin"}};
    settings_.cache = folder_.path() / "cache";
    settings_.workers = {numpy_entry()};
  }
  fs::path file(const std::string& name) const { return folder_.path() / name; }

  TemporaryFolder folder_{"tbd-numpy"};
  RunnerSettings settings_;
  Workload cell_{.model = kExample + "perceptron.json", .framework = "numpy", .batch = 5, .seed = 11};
};

TEST_F(NumpyWorker, LossGradientsAndUpdatesEqualAnOwnComputation) {
  const StepOptions step{
      .cell = cell_, .save_weights = file("weights"), .save_inputs = file("inputs"), .out = file("out")};
  const StepResult result = run_step(step, settings_);
  const TensorMap weights = read_safetensors(file("weights")), out = read_safetensors(file("out"));
  const ExpectedGradients wanted = expected(weights, read_safetensors(file("inputs")));
  EXPECT_NEAR(result.losses.at("train"), wanted.loss, 1e-6 * wanted.loss);
  EXPECT_GT(wanted.loss, 0.5);
  ASSERT_EQ(wanted.gradients.size(), 6u);
  for (const auto& [name, gradient] : wanted.gradients) {
    expect_near(numbers(out.at("grad/" + name)), gradient, "grad/" + name);
    const bool decays = name.ends_with("weight");
    const std::vector<double> before = numbers(weights.at(name));
    std::vector<double> momentum = gradient, after = before;
    for (size_t i = 0; i < before.size(); ++i) {
      momentum[i] += decays ? 0.01 * before[i] : 0;
      after[i] -= 0.1 * momentum[i];
    }
    expect_near(numbers(out.at(cat("state/", name, "/momentum"))), momentum, name + " momentum");
    expect_near(numbers(out.at("param/" + name)), after, "param/" + name);
  }
}

// Weights and inputs that no file gives come from the project's generator, whatever the worker's language.
TEST_F(NumpyWorker, DrawsTheNumbersOfTheProject) {
  run_step({.cell = cell_, .save_weights = file("weights"), .save_inputs = file("inputs"), .out = file("out")},
           settings_);
  const TensorMap weights = read_safetensors(file("weights")), inputs = read_safetensors(file("inputs"));
  const Philox uniform(11, "hidden.weight"), normal(11, "gate.weight"), x(11, "x"), label(11, "label");
  for (uint32_t i = 0; i < 128; ++i) {
    EXPECT_FLOAT_EQ(weights.at("hidden.weight").as<float>()[i],
                    static_cast<float>(0.35 * (2 * uniform.at(0, i).uniform(0) - 1)));
    EXPECT_FLOAT_EQ(weights.at("gate.weight").as<float>()[i], static_cast<float>(0.25 * normal.at(0, i).normal(0)));
  }
  for (uint32_t n = 0; n < 5; ++n) {
    EXPECT_EQ(inputs.at("label").as<int32_t>()[n], static_cast<int32_t>(3 * label.at(1, n).uniform(0)));
    for (uint32_t i = 0; i < 8; ++i)
      EXPECT_FLOAT_EQ(inputs.at("x").as<float>()[8 * n + i], static_cast<float>(x.at(1, n).normal(i)));
  }
}

TEST_F(NumpyWorker, PassesTheGatesWithEitherOptimizer) {
  const std::vector<WorkerEntry> built = read_workers(fs::path(TBD_BINARY_DIR) / "workers.json");
  const auto reference = std::ranges::find(built, "pytorch", &WorkerEntry::framework);
  if (reference == built.end()) GTEST_SKIP() << "no reference is built";
  settings_.workers.push_back(*reference);
  const std::string with_sgd = read_file(kExample + "perceptron.json"), sgd = R"({"kind": "sgd", "momentum": 0.9})";
  std::string with_adam = with_sgd;
  with_adam.replace(with_adam.find(sgd), sgd.size(), R"({"kind": "adam"})");
  for (const std::string& program : {with_sgd, with_adam}) {
    write_file(file("program.json"), program);
    const CheckResult result =
        check_model({.model = file("program.json").string(), .frameworks = {"numpy"}}, settings_);
    ASSERT_EQ(result.verdicts.size(), 1u);
    EXPECT_TRUE(result.verdicts[0].passed()) << result.verdicts[0].fault;
  }
}

// The program that judges nodes alone weights them with mul, and has a second phase for the update rule.
TEST_F(NumpyWorker, IsJudgedByTheWholeStepWhenItLacksOpsForNodeChecks) {
  const std::vector<WorkerEntry> built = read_workers(fs::path(TBD_BINARY_DIR) / "workers.json");
  const auto reference = std::ranges::find(built, "pytorch", &WorkerEntry::framework);
  if (reference == built.end()) GTEST_SKIP() << "no reference is built";
  fs::copy(kExample, file("worker"), fs::copy_options::recursive);
  std::string ops = read_file(file("worker") / "perceptron.py");
  const std::string mul = R"(, "mul": mul)";
  ops.erase(ops.find(mul), mul.size());
  write_file(file("worker") / "perceptron.py", ops);
  settings_.workers = {*reference, numpy_entry()};
  settings_.workers.back().worker = file("worker") / "worker.py";
  const CheckResult result = check_model({.model = kExample + "perceptron.json", .frameworks = {"numpy"}}, settings_);
  ASSERT_EQ(result.verdicts.size(), 1u);
  const FrameworkVerdict& verdict = result.verdicts[0];
  EXPECT_TRUE(verdict.passed()) << verdict.fault;
  EXPECT_EQ(verdict.gates.at(0).compared, 0);
  EXPECT_GT(verdict.gates.at(2).compared, 0);
  EXPECT_THAT(verdict.gates.at(0).skipped, HasSubstr("mul"));
}

TEST_F(NumpyWorker, IsMeasuredLikeAnyOther) {
  const std::vector<CellRun> runs =
      run_cells({cell_}, {.effort = Effort::smoke, .out = file("set"), .peaks = false}, settings_);
  ASSERT_EQ(runs.at(0).outcome.kind, OutcomeKind::ok) << runs.at(0).outcome.reason;
  const Record record = read_record(runs.at(0).record);
  EXPECT_EQ(record.run.workload.framework, "numpy");
  EXPECT_EQ(record.run.workload.mode, Mode::kEager);
  const auto& steps = record.launches.at(0).steps;
  ASSERT_GE(steps.size(), 6u);
  EXPECT_LT(steps.back().loss.value(), steps.front().loss.value());
}

TEST_F(NumpyWorker, AnOpThatItLacksIsNamedWithItsNode) {
  cell_.model = "resnet50";
  cell_.config = "tiny";
  const std::vector<CellRun> runs =
      run_cells({cell_}, {.effort = Effort::smoke, .out = file("set"), .peaks = false}, settings_);
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::unsupported);
  EXPECT_THAT(runs.at(0).outcome.reason, HasSubstr("node 'conv1' (conv2d): the example has no such op"));
}

}  // namespace
}  // namespace tbd
