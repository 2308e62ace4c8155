// The main loop over pipes, with a session that trains nothing.
#include "worker/loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <chrono>

#include <cmath>
#include <thread>

#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"
#include "graph/builder.h"
#include "measure/busy_time.h"
#include "measure/cores.h"
#include "record/counter_log.h"
#include "record/safetensors.h"
#include "trace/names.h"
#include "worker/initial_values.h"
#include "worker/protocol_rows.h"
#include "worker/step_loop.h"

namespace tbd {
namespace {

using namespace protocol;
using ::testing::HasSubstr;

class FakeSession final : public Session {
 public:
  SessionIdentity identity() const override {
    return {.framework = "fake", .version = "1", .passes = {Pass::kClean, Pass::kTrace}};
  }
  std::vector<NodeSupport> check(const Program&) const override { return {}; }
  void load(const Program&, const LoadOptions& options) override {
    device_memory_bytes = options.device_memory_bytes;
    if (options.device == Device("huge")) throw std::bad_alloc();
    if (options.device == Device("wide")) throw std::runtime_error("DefaultCPUAllocator: not enough memory: you tried");
  }
  void write(const TensorMap& values) override {
    for (const auto& [name, tensor] : values) stored[name] = tensor;
  }
  TensorMap read(const std::vector<std::string>& prefixes) override {
    TensorMap out;
    for (const auto& [name, tensor] : stored)
      for (const std::string& prefix : prefixes)
        if (name.starts_with(prefix)) out[name] = tensor;
    return out;
  }
  void stage(const TensorMap& batch) override {
    staged = batch;
    ++stagings;
  }
  StepReport step(const StepRequest& request) override {
    if (request.traced) traced.push_back({now_ns(), request.number});
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const double loss = request.number == nonfinite_at ? std::nan("") : 1.0 / static_cast<double>(request.number);
    return {.loss = loss, .losses = {{"train", loss}}};
  }
  void hand_over(Trace& trace) override {
    const TrackId track = trace.track({.process = 1, .thread = 2});
    for (const auto& [begin, number] : std::exchange(traced, {}))
      trace.add({.begin = begin, .duration = 5, .name = trace.string(cat("op of ", number)), .track = track});
  }
  void sum_over_ranks(std::span<double> values) override {
    if (++sums == other_rank_ends_at) values[0] += 1;
  }
  std::function<void()> exchange_of(DType, int64_t) override {
    return [this] {
      ++exchanges;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
  }
  std::string first_non_finite() override { return "param/fc.weight"; }
  SessionMemory memory() const override { return {.peak_bytes = 4096}; }
  void reset_peak_memory() override {}
  std::optional<double> gemm_rate(const Precision&, double) override { return std::nullopt; }

  TensorMap stored, staged;
  std::vector<std::pair<int64_t, int64_t>> traced;  // begin, step
  int stagings = 0, exchanges = 0, sums = 0, other_rank_ends_at = 0;
  int64_t nonfinite_at = -1;
  std::optional<int64_t> device_memory_bytes;
};

Program toy() {
  Program program;
  program.step = {{"train"}};
  Builder g(program, "train");
  const Tensor image = g.input("image", {g.batch(), 3, 8, 8});
  const Tensor label = g.input("label", {g.batch()}, DType::i32);
  const Tensor logits = g.linear("fc", g.flatten(image), {.out = 10});
  g.loss("ce", g.softmax_cross_entropy(logits, label));
  g.update({});
  return program;
}

class WorkerLoop : public ::testing::Test {
 protected:
  WorkerLoop() {
    EXPECT_EQ(::pipe2(to_, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from_, O_CLOEXEC), 0);
    thread_ = std::thread([this] {
      Channel channel(to_[0], from_[1]);
      Worker(session_, channel, 0).serve();
    });
  }
  ~WorkerLoop() override {
    ::close(to_[1]);
    thread_.join();
    ::close(to_[0]);
    ::close(from_[0]);
    ::close(from_[1]);
  }
  void send_line(std::string line) {
    line += '\n';
    ASSERT_EQ(::write(to_[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  void send(const Request& request) { send_line(to_line(request)); }
  Message next() {
    for (;;) {
      const size_t end = buffer_.find('\n');
      if (end != std::string::npos) {
        const Message message = message_from(buffer_.substr(0, end));
        buffer_.erase(0, end + 1);
        return message;
      }
      char chunk[4096];
      const ssize_t count = ::read(from_[0], chunk, sizeof chunk);
      if (count <= 0) return ByeReply{};
      buffer_.append(chunk, static_cast<size_t>(count));
    }
  }
  Message ask(const Request& request) {
    send(request);
    return next();
  }
  LoadReply load() {
    Load request{.program = toy(), .bindings = {{"N", 4}}};
    request.seed = 7;
    return std::get<LoadReply>(ask(request));
  }
  // The rows and the reply of a run.
  RunReply finish(std::vector<StepRow>& rows) {
    for (;;) {
      const Message message = next();
      if (const auto* steps = std::get_if<Steps>(&message)) {
        for (const StepRow& row : unpack(*steps)) rows.push_back(row);
        continue;
      }
      return std::get<RunReply>(message);
    }
  }
  RunReply run(const protocol::Run& request, std::vector<StepRow>& rows) {
    send(request);
    return finish(rows);
  }

  FakeSession session_;
  int to_[2], from_[2];
  std::string buffer_;
  std::thread thread_;
};

TEST_F(WorkerLoop, SaysWhoItIs) {
  const auto reply = std::get<HelloReply>(ask(Hello{}));
  EXPECT_EQ(reply.version, kVersion);
  EXPECT_EQ(reply.framework, "fake");
  EXPECT_TRUE(reply.pipeline);
}

TEST_F(WorkerLoop, AMalformedLineIsAnsweredAndTheNextIsServed) {
  send_line("{\"type\": 1");
  EXPECT_THAT(std::get<Failure>(next()).sentence, HasSubstr("not JSON"));
  EXPECT_EQ(std::get<HelloReply>(ask(Hello{})).framework, "fake");
}

TEST_F(WorkerLoop, LoadsWithInitialValuesOfItsOwn) {
  EXPECT_EQ(load().parameters, 10 * 192 + 10);
  const auto weight = session_.stored.at("param/fc.weight").as<float>();
  const Program program = toy();
  const double width = program.parameters.at(0).init.a;
  EXPECT_EQ(program.parameters.at(0).name, "fc.weight");
  EXPECT_EQ(weight[5], static_cast<float>(width * (2 * Philox(7, "fc.weight", 0, 5).uniform(0) - 1)));
}

TEST_F(WorkerLoop, RepeatsTheLimitOfADevicesMemory) {
  Load request{.program = toy(), .bindings = {{"N", 4}}};
  request.device_memory_bytes = int64_t{5} << 30;
  EXPECT_EQ(std::get<LoadReply>(ask(request)).settings.at(kDeviceMemorySetting), "5368709120");
  EXPECT_EQ(session_.device_memory_bytes, int64_t{5} << 30);
}

TEST_F(WorkerLoop, RunsTheStepsAskedForAndStampsEach) {
  load();
  std::vector<StepRow> rows;
  const RunReply reply = run({.steps = 5}, rows);
  EXPECT_EQ(reply.ended, "steps");
  EXPECT_EQ(reply.steps, 5);
  EXPECT_EQ(reply.launch->at("batch_seen"), 4);
  EXPECT_EQ(reply.launch->at("allocator_peak_bytes"), 4096);
  ASSERT_EQ(rows.size(), 5u);
  int64_t before = reply.launch->at("first_step_began_ns");
  for (const StepRow& row : rows) {
    EXPECT_GE(row.completed_ns - before, 2'000'000);
    before = row.completed_ns;
    EXPECT_EQ(row.units, 4);
    EXPECT_EQ(row.samples, 4);
    EXPECT_FALSE(row.valid || row.padded);
  }
  EXPECT_EQ(session_.stagings, 1);  // resident
  EXPECT_EQ(session_.staged.at("image").shape(), (Shape{4, 3, 8, 8}));
  EXPECT_FLOAT_EQ(session_.staged.at("norm/ce").as<float>()[0], 0.25f);
  for (const int32_t label : session_.staged.at("label").as<int32_t>()) EXPECT_LT(label, 10);
}

TEST(StepUnits, AreThoseOfTheProgram) {
  Program program = toy();
  const std::map<std::string, double> counts = {
      {"tokens", 30}, {"slots", 48}, {"target_tokens", 17}, {"seconds", 7.25}};
  program.unit = "sentences";
  EXPECT_EQ(units_of_step(program, 4, 1, counts), 4);
  program.unit = "tokens";
  EXPECT_EQ(units_of_step(program, 4, 1, counts), 30);
  program.unit = "target tokens";
  EXPECT_EQ(units_of_step(program, 4, 1, counts), 17);
  EXPECT_EQ(units_of_step(program, 4, 1, {}), 0);
  program.unit = "seconds of audio";
  EXPECT_EQ(units_of_step(program, 4, 1, counts), 7.25);
}

TEST(StepUnits, CriticPhaseCountsImages) {
  Program program;
  program.unit = "critic images";
  program.phases = {{.name = "generator"}, {.name = "critic"}};
  program.step = {{.phase = "generator", .from_step = 2}, {.phase = "critic", .repeat = 5}};
  EXPECT_EQ(samples_of_step(program, 8, 2), 48);
  EXPECT_EQ(units_of_step(program, 8, 2, {}), 40);
}

TEST_F(WorkerLoop, TracedRunsLeaveOneTrace) {
  TemporaryFolder folder;
  std::vector<StepRow> rows;
  Load request{.program = toy(), .bindings = {{"N", 4}}, .pass = Pass::kTrace};
  ask(request);
  run({.steps = 3, .first_step = 1, .traced = true, .files = folder.path().string()}, rows);
  run({.steps = 2, .first_step = 4}, rows);
  run({.steps = 1, .first_step = 6, .traced = true, .files = folder.path().string()}, rows);
  ask(Bye{});
  const Trace trace = read_trace(folder.path() / "trace.tbdt");
  std::map<std::string, Event> found;
  for (size_t i = 0; i < trace.size(); ++i) found[std::string(trace.name(i))] = trace[i];
  for (const int64_t step : {1, 2, 3, 6}) {
    const Event &whole = found.at(cat("step ", step)), &op = found.at(cat("op of ", step));
    EXPECT_EQ(whole.kind, EventKind::step);
    EXPECT_EQ(whole.end(), rows[static_cast<size_t>(step - 1)].completed_ns);  // this worker's zero is the clock's
    EXPECT_LE(whole.begin, op.begin);
    EXPECT_LE(op.end(), whole.end());
  }
  EXPECT_EQ(found.at("step 2").begin, found.at("step 1").end());
  EXPECT_FALSE(found.contains("step 4"));
  EXPECT_EQ(found.at("batch").kind, EventKind::input);
  EXPECT_EQ(trace.facts.at("framework"), "fake");
  const std::string& scheduling = trace.facts.at("off-CPU");
  if (!scheduling.starts_with("recorded")) return;  // with the reason
  const Event& last = found.at("step 6");
  int64_t slept = 0;
  for (size_t i = 0; i < trace.size(); ++i)
    if (trace.kinds()[i] == EventKind::off_cpu && trace.name(i) == kWaiting && trace[i].track == last.track &&
        trace[i].begin >= last.begin && trace.end(i) <= last.end())
      slept += trace[i].duration;
  EXPECT_GE(slept, 1'900'000) << "the session's sleep";
}

TEST(OffCpuTrace, ReportsWhatIsRecordedOrWhyNot) {
  EXPECT_EQ(off_cpu_fact(1, 0, ""), "recorded for 1 thread");
  EXPECT_EQ(off_cpu_fact(3, 2, "no room"), "recorded for 3 threads, not for 2: no room");
  EXPECT_EQ(off_cpu_fact(0, 1, "forbidden"), "not recorded: forbidden");
}

TEST_F(WorkerLoop, ATracePassLeavesTheCountsOfItsSteps) {
  TemporaryFolder folder;
  std::vector<StepRow> rows;
  ask(Load{.program = toy(), .bindings = {{"N", 4}}, .pass = Pass::kTrace});
  const RunReply first = run({.steps = 3, .files = folder.path().string()}, rows);
  run({.steps = 2, .first_step = 4, .traced = true, .files = folder.path().string()}, rows);
  ASSERT_TRUE(first.launch->at("host").contains("counters"));
  const Json absent = first.launch->at("host").at("counters").at("absent");
  const std::vector<CounterRow> counted = read_counters(folder.path() / "counters.csv");
  ASSERT_EQ(counted.size(), 5u);
  for (size_t i = 0; i < counted.size(); ++i) {
    EXPECT_EQ(counted[i].step, rows[i].step);
    EXPECT_EQ(of(counted[i].counts, Counter::page_faults).has_value(), !absent.contains("page_faults"));
  }
}

TEST_F(WorkerLoop, OnlyTracePassesWriteCounters) {
  load();
  TemporaryFolder folder;
  std::vector<StepRow> rows;
  const RunReply reply = run({.steps = 1, .files = folder.path().string()}, rows);
  EXPECT_FALSE(reply.launch->at("host").contains("counters"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "counters.csv"));
}

TEST_F(WorkerLoop, ATracedRunNeedsItsPass) {
  load();
  EXPECT_THAT(std::get<Failure>(ask(protocol::Run{.traced = true})).sentence, HasSubstr("pass trace"));
  Load other{.program = toy(), .bindings = {{"N", 4}}, .pass = Pass::kMemory};
  EXPECT_THAT(std::get<Failure>(ask(other)).sentence, HasSubstr("loaded already"));
}

TEST_F(WorkerLoop, PipelineStagesAFreshBatchEachStep) {
  load();
  std::vector<StepRow> rows;
  run({.steps = 3, .input = {.mode = InputMode::kPipeline, .source = Json{{"kind", "synthetic"}}}}, rows);
  EXPECT_EQ(session_.stagings, 3);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(rows[1].input_wait_ns.has_value());
}

TEST_F(WorkerLoop, StopEndsAfterTheCurrentStep) {
  load();
  std::vector<StepRow> rows;
  send(protocol::Run{.steps = 1'000'000});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  send(Stop{});
  const RunReply reply = finish(rows);
  EXPECT_EQ(reply.ended, "stop");
  EXPECT_EQ(reply.steps, static_cast<int64_t>(rows.size()));
}

TEST_F(WorkerLoop, AStopRightAfterTheRunIsNotLost) {
  load();
  send_line(to_line(Request(protocol::Run{.steps = 1'000'000})) + "\n" + to_line(Request(Stop{})));
  std::vector<StepRow> rows;
  EXPECT_EQ(finish(rows).ended, "stop");
}

TEST(WorkerChannel, AStopThatCameTooLateStopsNothingElse) {
  int in[2];
  ASSERT_EQ(::pipe(in), 0);
  {
    Channel channel(in[0], STDOUT_FILENO);
    const std::string lines = to_line(Request(Stop{})) + "\n" + to_line(Request(protocol::Evaluate{})) + "\n";
    ASSERT_EQ(::write(in[1], lines.data(), lines.size()), std::ssize(lines));
    EXPECT_TRUE(channel.next().has_value());
    EXPECT_FALSE(channel.stop_requested());
  }
  ::close(in[0]);
  ::close(in[1]);
}

TEST_F(WorkerLoop, EndsWhenTheTimeIsUp) {
  load();
  std::vector<StepRow> rows;
  const RunReply reply = run({.steps = 1'000'000, .seconds = 0.05}, rows);
  EXPECT_EQ(reply.ended, "seconds");
  EXPECT_GE(reply.steps, 3);
  EXPECT_LT(reply.steps, 40);
}

TEST_F(WorkerLoop, ANonFiniteLossEndsTheRunAndNamesTheTensor) {
  session_.nonfinite_at = 3;
  load();
  std::vector<StepRow> rows;
  const RunReply reply = run({.steps = 10}, rows);
  EXPECT_EQ(reply.ended, "nonfinite");
  EXPECT_EQ(reply.nonfinite, "param/fc.weight");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(std::isnan(rows[2].loss.value()));
}

TEST_F(WorkerLoop, TimesExchangesOfSeveralRanks) {
  Load request{.program = toy(), .bindings = {{"N", 4}}};
  request.world = World{.place = {0, 2}};
  ask(request);
  const auto all = std::get<LinkReply>(ask(protocol::Link{DType::f32, 1024, 7}));
  ASSERT_EQ(all.began_ns.size(), 7u);
  ASSERT_EQ(all.ended_ns.size(), 7u);
  EXPECT_EQ(session_.exchanges, 8) << "one to begin with that is not timed";
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_GE(all.ended_ns[i] - all.began_ns[i], 2'000'000);
    if (i > 0) {
      EXPECT_GE(all.began_ns[i], all.ended_ns[i - 1]);
    }
  }
  constexpr int64_t kTicksNs = 30'000'000;
  const std::vector<int> cpus = allowed_cpus();
  EXPECT_EQ(all.busy_ns.has_value(), busy_ns(cpus).has_value());
  EXPECT_LE(all.busy_ns.value_or(0), std::ssize(cpus) * (all.ended_ns.back() - all.began_ns.front() + kTicksNs));
  const auto late = std::get<LinkReply>(ask(protocol::Link{DType::f32, 1024, 100, 0.001}));
  EXPECT_EQ(late.began_ns.size(), 5u) << "the least, whatever they take";
  session_.other_rank_ends_at = session_.sums + 3;
  EXPECT_EQ(std::get<LinkReply>(ask(protocol::Link{DType::f32, 1024, 100})).began_ns.size(), 2u);
}

TEST_F(WorkerLoop, OneRankHasNothingToExchange) {
  EXPECT_THAT(std::get<Failure>(ask(protocol::Link{DType::f32, 1024, 7})).sentence, HasSubstr("nothing is loaded"));
  load();
  EXPECT_THAT(std::get<Failure>(ask(protocol::Link{DType::f32, 1024, 7})).sentence, HasSubstr("one rank alone"));
}

TEST_F(WorkerLoop, ReportsOutOfMemorySeparately) {
  Load huge{.program = toy(), .bindings = {{"N", 4}}};
  huge.device = Device("huge");
  EXPECT_EQ(std::get<Failure>(ask(huge)).kind, "oom");
  EXPECT_EQ(failure_of(std::make_exception_ptr(std::runtime_error("not enough memory: you tried"))).kind, "oom");
  EXPECT_EQ(failure_of(std::make_exception_ptr(Error(ErrorKind::unsupported, "no such op"))).kind, "unsupported");
}

TEST_F(WorkerLoop, InputsOfAFileAreUsedAndCheckedByName) {
  load();
  const TemporaryFolder folder;
  const std::string file = folder.path() / "inputs";
  std::vector<StepRow> rows;
  protocol::Run request{.steps = 1};
  request.input.save = file;
  run(request, rows);
  const TensorMap saved = session_.staged;
  run({.steps = 1, .input = {.file = file}}, rows);
  EXPECT_TRUE(std::ranges::equal(session_.staged.at("image").bytes(), saved.at("image").bytes()));

  TensorMap wrong = read_safetensors(file);
  wrong["image"] = HostTensor(DType::f32, {4, 3, 9, 9});
  write_safetensors(file, wrong);
  send(protocol::Run{.steps = 1, .input = {.file = file}});
  EXPECT_THAT(std::get<Failure>(next()).sentence,
              HasSubstr("'image' has shape (4, 3, 9, 9), the program needs (4, 3, 8, 8)"));
}

TEST_F(WorkerLoop, WritesWeightsByParameterName) {
  load();
  const TemporaryFolder folder;
  const std::string file = folder.path() / "weights";
  TensorMap weights;
  weights["fc.bias"] = HostTensor(DType::f32, {10});
  write_safetensors(file, weights);
  EXPECT_EQ(std::get<WriteReply>(ask(Write{file})).tensors, 1);
  EXPECT_EQ(session_.stored.at("param/fc.bias").as<float>()[3], 0);
  weights["conv9.weight"] = HostTensor(DType::f32, {1});
  write_safetensors(file, weights);
  EXPECT_THAT(std::get<Failure>(ask(Write{file})).sentence, HasSubstr("'conv9.weight' is neither"));
}

TEST(InitialValue, DoesNotDependOnTheNumberOfThreads) {
  const Parameter parameter{.name = "conv1.weight", .shape = {400, 500}, .init = {Init::Kind::normal, 0.1}};
  const HostTensor one = initial_value(parameter, 3, 1), two = initial_value(parameter, 3, 2);
  EXPECT_TRUE(std::ranges::equal(one.bytes(), two.bytes()));
  EXPECT_EQ(one.as<float>()[199'999], static_cast<float>(0.1 * Philox(3, "conv1.weight", 0, 199'999).normal(0)));
}

}  // namespace
}  // namespace tbd
