// Two sessions, each in a thread of its own or, where the engine wants that, a process, exchange gradients as two
// workers do; what they train is held against one session that accumulates twice as often. Faults of a data-parallel
// step are planted, and have to show. Of back-ends whose engine sums over ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <thread>

#include "backend_suite/support.h"
#include "base/files.h"
#include "base/held_ports.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "graph/passes.h"
#include "record/safetensors.h"
#include "toy_programs.h"

namespace tbd::suite {
namespace {

using testing::AllOf, testing::HasSubstr;

constexpr int64_t kRankTestSteps = 3;  // each on a batch of its own

enum class RankFault {
  none,
  no_exchange,
  first_gradient_only,
  mean,
  norm_of_own_batch,
  no_update_on_one,
  same_batch,
  one_sleeps,
  no_owner,
  mean_without_one
};

ExchangeFault of_exchange(RankFault fault) {
  if (fault == RankFault::no_exchange) return ExchangeFault::left_out;
  if (fault == RankFault::first_gradient_only) return ExchangeFault::first_gradient_only;
  if (fault == RankFault::no_owner) return ExchangeFault::no_owner;
  if (fault == RankFault::mean_without_one) return ExchangeFault::mean_without_one;
  return ExchangeFault::none;
}

TensorMap batch_of(const Program& program, RankPlace place, int64_t step) {
  const InputNeeds needs = input_needs(program, {{"N", 4}}, place);
  TensorMap batch = generated_inputs(needs, /*seed=*/7, step);
  batch.insert(needs.norms.begin(), needs.norms.end());
  return batch;
}

void scale_norms(TensorMap& batch, double by) {
  for (auto& [name, tensor] : batch)
    if (name.find(kNormPrefix) != std::string::npos)
      tensor = scalar_tensor(as_doubles(tensor).at(0) * by, tensor.dtype());
}

struct RankJob {
  Program program;
  World world;
  RankFault fault = RankFault::none;
  Mode mode = {};
};

struct RankTrained {
  TensorMap state;
  std::vector<double> losses;
  std::string refusal;  // the sentence with which it ended; empty: it trained
};

// How the ranks of a test exchange; its place, store and ports are each world's own.
struct Way {
  ExchangeMode exchange = ExchangeMode::kAllReduce;
  WireType wire = WireType::kSame;
  int64_t every = 1;
  int64_t ranks = 2;
};

RankTrained train_rank(const RankJob& job) {
  const auto& [program, world, fault, mode] = job;
  const RankPlace place = world.place;
  const auto session = backend_facts().rank_with(of_exchange(fault));
  LoadOptions options = load_options({.capture = false, .mode = mode});
  options.world = world;
  session->load(program, options);
  session->write(initial_weights(program));
  RankTrained out;
  if (fault == RankFault::one_sleeps && place.rank == 1) {
    std::this_thread::sleep_for(std::chrono::duration<double>(world.timeout_seconds + 2));
    return {};
  }
  for (int64_t step = 1; step <= kRankTestSteps; ++step) {
    TensorMap batch = batch_of(program, fault == RankFault::same_batch ? RankPlace{0, place.world} : place, step);
    if (fault == RankFault::mean) scale_norms(batch, 0.5);
    if (fault == RankFault::norm_of_own_batch) scale_norms(batch, 2);
    session->stage(batch);
    const TensorMap before = session->read({"param/", "state/"});
    out.losses.push_back(session->step(at_step(step)).loss);
    if (fault == RankFault::no_update_on_one && place.rank == 1) session->write(before);
  }
  out.state = session->read({"param/", "state/"});
  return out;
}

// A job and what came of it, as files of a folder: how the process of a rank is told and answers.
void write_job(const std::filesystem::path& folder, const RankJob& job) {
  const World& world = job.world;
  const Json json = {{"program", to_json(job.program)},
                     {"rank", world.place.rank},
                     {"world", world.place.world},
                     {"ports", world.ports},
                     {"timeout_seconds", world.timeout_seconds},
                     {"exchange", world.exchange.text()},
                     {"wire", world.wire.text()},
                     {"every", world.every},
                     {"bucket_bytes", world.bucket_bytes},
                     {"fault", static_cast<int64_t>(job.fault)},
                     {"mode", std::string(job.mode.text())}};
  write_file(folder / "job", json.dump());
}
RankJob read_job(const std::filesystem::path& folder) {
  const Json json = parse_json(read_file(folder / "job"), "job");
  return {.program = program_from_json(json["program"]),
          .world = {.place = {at<int64_t>(json, "rank"), at<int64_t>(json, "world")},
                    .store = "",
                    .ports = at<std::vector<int64_t>>(json, "ports"),
                    .timeout_seconds = at<double>(json, "timeout_seconds"),
                    .exchange = ExchangeMode(at<std::string>(json, "exchange")),
                    .wire = WireType(at<std::string>(json, "wire")),
                    .bucket_bytes = at<int64_t>(json, "bucket_bytes"),
                    .every = at<int64_t>(json, "every")},
          .fault = static_cast<RankFault>(at<int64_t>(json, "fault")),
          .mode = Mode(at<std::string>(json, "mode"))};
}
void write_trained(const std::filesystem::path& folder, const RankTrained& trained) {
  TensorMap tensors = trained.state;
  tensors["losses"] = doubles({std::ssize(trained.losses)}, trained.losses);
  write_safetensors(folder / "tensors", tensors);
  write_file(folder / "refusal", trained.refusal);
}
RankTrained read_trained(const std::filesystem::path& folder) {
  RankTrained out{
      .state = read_safetensors(folder / "tensors"), .losses = {}, .refusal = read_file(folder / "refusal")};
  out.losses = as_doubles(out.state.at("losses"));
  out.state.erase("losses");
  return out;
}

RankTrained refused_or_trained(const RankJob& job) {
  try {
    return train_rank(job);
  } catch (const Error& e) {
    return {.state = {}, .losses = {}, .refusal = e.what()};
  }
}

// A process is started from this thread alone: an engine may stop its threads around each fork.
class RankProcess {
 public:
  explicit RankProcess(const RankJob& job) {
    write_job(folder_.path(), job);
    process_.emplace(SpawnOptions{.argv = {"/proc/self/exe", kRankArgument, folder_.path().string()},
                                  .environment = {},
                                  .stderr_file = folder_.path() / "log"});
  }
  RankTrained trained() {
    const std::optional<ExitStatus> status = process_->wait(60);
    if (status && status->ok()) return read_trained(folder_.path());
    const std::string how = status ? status->words() : "it hangs";
    return {.state = {}, .losses = {}, .refusal = cat(how, ": ", read_file(folder_.path() / "log"))};
  }

 private:
  TemporaryFolder folder_{"tbd-rank"};
  std::optional<Subprocess> process_;
};

std::vector<RankTrained> trained(const std::vector<RankJob>& jobs) {
  std::vector<std::future<RankTrained>> threads;
  std::vector<std::unique_ptr<RankProcess>> processes;
  for (const RankJob& job : jobs)
    if (backend_facts().rank_of_process)
      processes.push_back(std::make_unique<RankProcess>(job));
    else
      threads.push_back(std::async(std::launch::async, refused_or_trained, job));
  std::vector<RankTrained> out;
  for (std::future<RankTrained>& rank : threads) out.push_back(rank.get());
  for (const std::unique_ptr<RankProcess>& rank : processes) out.push_back(rank->trained());
  return out;
}

// The worlds of a test: each finds its ranks by a store and ports of its own.
class Worlds {
 public:
  World world(RankPlace place, double timeout_seconds = 20) const {
    return {.place = place,
            .store = store_,
            .ports = {ports_.numbers().begin(), ports_.numbers().begin() + place.world},
            .timeout_seconds = timeout_seconds,
            .bucket_bytes = 256};  // several to a toy
  }

 private:
  TemporaryFolder folder_{"tbd-ranks"};
  std::string store_ = (folder_.path() / "store").string();
  HeldPorts ports_{3};
};

std::vector<RankTrained> together(const Program& program, RankFault fault = RankFault::none, const Mode& mode = {},
                                  const Way& way = {}) {
  const Worlds worlds;
  std::vector<RankJob> jobs;
  for (int64_t rank = 0; rank < way.ranks; ++rank) {
    RankJob& job = jobs.emplace_back(RankJob{program, worlds.world({rank, way.ranks}), fault, mode});
    job.world.exchange = way.exchange;
    job.world.wire = way.wire;
    job.world.every = way.every;
  }
  std::vector<RankTrained> ranks = trained(jobs);
  for (const RankTrained& rank : ranks) require(rank.refusal.empty(), rank.refusal);
  return ranks;
}

RankTrained alone(Program program, int64_t ranks = 2) {
  for (Phase& phase : program.phases) phase.accumulate *= ranks;
  return train_rank({program, {}});
}

void average_by_hand(std::span<const std::unique_ptr<Session>> sessions) {
  std::map<std::string, std::vector<double>> means;
  TensorMap values;
  for (const auto& session : sessions) {
    values = session->read({"param/"});
    for (const auto& [name, tensor] : values) {
      std::vector<double>& mean = means[name];
      const std::vector<double> own = as_doubles(tensor);
      mean.resize(own.size());
      for (size_t i = 0; i < own.size(); ++i) mean[i] += own[i] / static_cast<double>(sessions.size());
    }
  }
  for (auto& [name, tensor] : values) tensor = doubles(tensor.shape(), means.at(name));
  for (const auto& session : sessions) session->write(values);
}

// What each rank of so many trains when their weights become their mean after every so many steps: sessions that know
// nothing of each other, each with its share of the batch as a batch of its own.
std::vector<RankTrained> by_hand(const Program& program, int64_t ranks, int64_t every) {
  std::vector<std::unique_ptr<Session>> sessions;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    sessions.push_back(make_session());
    sessions.back()->load(program, load_options({.capture = false}));
    sessions.back()->write(initial_weights(program));
  }
  for (int64_t step = 1; step <= kRankTestSteps; ++step) {
    for (int64_t rank = 0; rank < ranks; ++rank) {
      TensorMap batch = batch_of(program, {rank, ranks}, step);
      scale_norms(batch, static_cast<double>(ranks));
      sessions[static_cast<size_t>(rank)]->stage(batch);
      sessions[static_cast<size_t>(rank)]->step(at_step(step));
    }
    if (step % every == 0) average_by_hand(sessions);
  }
  std::vector<RankTrained> out;
  for (const auto& session : sessions)
    out.push_back({.state = session->read({"param/", "state/"}), .losses = {}, .refusal = ""});
  return out;
}

// Of the tensor's largest element, over all tensors of all ranks; of 1 where the tensor vanishes.
double largest_error(const std::vector<RankTrained>& ranks, const RankTrained& expected, const Program& program) {
  double worst = 0;
  for (const RankTrained& rank : ranks)
    for (const auto& [name, tensor] : expected.state) {
      const auto own = [&](const Parameter& b) { return name.starts_with(cat("state/", b.name, "/")); };
      if (std::ranges::any_of(program.buffers, own)) continue;
      const std::vector<double> a = as_doubles(rank.state.at(name)), b = as_doubles(tensor);
      double difference = 0, size = vanishes(name) ? 1 : 1e-300;
      for (size_t i = 0; i < a.size(); ++i) {
        difference = std::max(difference, std::abs(a[i] - b[i]));
        size = std::max(size, std::abs(b[i]));
      }
      worst = std::max(worst, difference / size);
    }
  return worst;
}

double largest_error(const std::vector<RankTrained>& ranks, const std::vector<RankTrained>& expected,
                     const Program& program) {
  double worst = 0;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    worst = std::max(worst, largest_error({ranks[rank]}, expected.at(rank), program));
  return worst;
}

class Ranks : public testing::Test {
 protected:
  void SetUp() override {
    if (!backend_facts().rank_with) GTEST_SKIP() << backend_facts().framework << " trains alone";
  }
};

TEST_F(Ranks, TrainEveryToyAsOneDoesThatAccumulates) {
  for (const auto& [name, toy] : toy_programs()) {
    SCOPED_TRACE(name);
    const Program program = with_precision(with_dropout(toy, DropoutMode::kMask), Precision::kFp64);
    const std::vector<RankTrained> ranks = together(program);
    const RankTrained expected = alone(program);
    EXPECT_LE(largest_error(ranks, expected, program), 1e-12);
    for (const RankTrained& rank : ranks)
      for (size_t step = 0; step < kRankTestSteps; ++step)
        EXPECT_NEAR(rank.losses[step], expected.losses[step], 1e-12 * std::abs(expected.losses[step]));
  }
}

TEST_F(Ranks, TrainInEveryMode) {
  const Program program = with_precision(toy_program("mlp20"), Precision::kFp64);
  const RankTrained expected = alone(program);
  for (const Mode& mode : make_session()->identity().modes) {
    if (mode == Mode::kCudaGraph) continue;
    EXPECT_LE(largest_error(together(program, RankFault::none, mode), expected, program), 1e-12) << mode;
  }
}

TEST_F(Ranks, ShowTheFaultsOfADataParallelStep) {
  const Program program = with_precision(toy_programs().begin()->second, Precision::kFp64);
  const RankTrained expected = alone(program);
  ASSERT_LE(largest_error(together(program), expected, program), 1e-12);
  for (const RankFault fault : {RankFault::no_exchange, RankFault::first_gradient_only, RankFault::mean,
                                RankFault::norm_of_own_batch, RankFault::no_update_on_one, RankFault::same_batch})
    EXPECT_GT(largest_error(together(program, fault), expected, program), 1e-6) << static_cast<int>(fault);
}

TEST_F(Ranks, WithSharesOfTheStateTrainAsOneDoesThatAccumulates) {
  if (!backend_facts().ranks_share_state) GTEST_SKIP() << "each keeps all state";
  for (const int64_t count : {2, 3})
    for (const auto& [name, toy] : toy_programs()) {
      SCOPED_TRACE(cat(name, " on ", count));
      const Program program = with_precision(with_dropout(toy, DropoutMode::kMask), Precision::kFp64);
      const std::vector<RankTrained> ranks =
          together(program, RankFault::none, {}, {.exchange = ExchangeMode::kSharded, .ranks = count});
      EXPECT_LE(largest_error(ranks, alone(program, count), program), 1e-12);
    }
}

TEST_F(Ranks, WithSharesOfTheStateShowTheirFaults) {
  if (!backend_facts().ranks_share_state) GTEST_SKIP() << "each keeps all state";
  const Program program = with_precision(toy_program("mlp20"), Precision::kFp64);
  const RankTrained expected = alone(program);
  for (const RankFault fault : {RankFault::no_exchange, RankFault::first_gradient_only, RankFault::mean,
                                RankFault::no_owner, RankFault::no_update_on_one, RankFault::same_batch}) {
    const auto ranks = together(program, fault, {}, {.exchange = ExchangeMode::kSharded});
    EXPECT_GT(largest_error(ranks, expected, program), 1e-6) << static_cast<int>(fault);
  }
}

TEST_F(Ranks, AverageTheirWeightsAsAPersonWouldByHand) {
  if (!backend_facts().ranks_share_state) GTEST_SKIP() << "they exchange gradients in every step";
  for (const int64_t count : {2, 3})
    for (const char* toy : {"mlp20", "conv_forms", "penalty", "norms"}) {
      SCOPED_TRACE(cat(toy, " on ", count));
      Program program = with_precision(toy_program(toy), Precision::kFp64);
      // One by epochs follows the samples of all ranks, of which a session by itself does not know.
      for (Phase& phase : program.phases) phase.update.schedule = {.base = phase.update.schedule.base};
      const std::vector<RankTrained> ranks = together(program, RankFault::none, {}, {.every = 2, .ranks = count});
      EXPECT_LE(largest_error(ranks, by_hand(program, count, 2), program), 1e-12);
    }
}

TEST_F(Ranks, ThatAverageWithoutOneDiffer) {
  if (!backend_facts().ranks_share_state) GTEST_SKIP() << "they exchange gradients in every step";
  const Program program = with_precision(toy_program("mlp20"), Precision::kFp64);
  const std::vector<RankTrained> expected = by_hand(program, 2, 2);
  EXPECT_GT(largest_error(together(program, RankFault::mean_without_one, {}, {.every = 2}), expected, program), 1e-6);
  EXPECT_GT(largest_error(together(program, RankFault::none, {}, {.every = 3}), expected, program), 1e-6);
}

TEST_F(Ranks, AreRefusedAnExchangeThatTheirEngineLacks) {
  const Worlds worlds;
  const auto refusal = [&](const Way& way) {
    RankJob job = {toy_program("mlp20"), worlds.world({0, 2}, 0.5)};
    job.world.exchange = way.exchange;
    job.world.wire = way.wire;
    job.world.every = way.every;
    return trained({job})[0].refusal;
  };
  EXPECT_THAT(refusal({.exchange = ExchangeMode::kSharded, .every = 2}), HasSubstr("weights become their mean"));
  EXPECT_THAT(refusal({.wire = WireType::kBf16, .every = 2}), HasSubstr("weights become their mean"));
  if (backend_facts().ranks_share_state) return;
  EXPECT_THAT(refusal({.exchange = ExchangeMode::kSharded}), HasSubstr("keep all optimizer state"));
  EXPECT_THAT(refusal({.every = 2}), HasSubstr("gradients in every step"));
  EXPECT_THAT(refusal({.wire = WireType::kLowRank2}), HasSubstr("low_rank_2"));
}

TEST_F(Ranks, RoundGradientsToTheTypeOfTheWire) {
  if (backend_facts().framework == "mxnet") GTEST_SKIP() << "its key-value store sums arrays as they are";
  const Program program = with_precision(toy_program("norms"), Precision::kFp32);  // whose gradients fp16 holds
  const RankTrained expected = alone(program);
  for (const WireType& wire : {WireType::kBf16, WireType::kFp16}) {
    SCOPED_TRACE(wire.text());
    const std::vector<RankTrained> ranks = together(program, RankFault::none, {}, {.wire = wire});
    const double error = largest_error(ranks, expected, program);
    EXPECT_GT(error, 1e-6);
    EXPECT_LT(error, 0.05);
    for (const auto& [name, tensor] : ranks[0].state)
      EXPECT_EQ(as_doubles(tensor), as_doubles(ranks[1].state.at(name))) << name;
  }
}

TEST_F(Ranks, TrainBesideEachOtherWithoutAnExchange) {
  const Program program = with_precision(toy_program("mlp20"), Precision::kFp64);
  const std::vector<RankTrained> ranks = together(program, RankFault::none, {}, {.exchange = ExchangeMode::kNone});
  const std::vector<RankTrained> expected = together(program, RankFault::no_exchange);
  for (size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(ranks[rank].losses, expected[rank].losses);
    for (const auto& [name, tensor] : expected[rank].state)
      EXPECT_EQ(as_doubles(ranks[rank].state.at(name)), as_doubles(tensor)) << name;
  }
}

// What an engine would add up in silence.
TEST_F(Ranks, OfAnotherProgramAreRefused) {
  const Worlds worlds;
  const Program program = toy_programs().begin()->second;
  const auto ranks = trained({{with_precision(program, Precision::kFp32), worlds.world({0, 2})},
                              {with_precision(program, Precision::kFp64), worlds.world({1, 2})}});
  EXPECT_THAT(ranks[0].refusal, AllOf(HasSubstr("rank 1 has program: "), HasSubstr("; rank 0 has program: ")));
}

TEST_F(Ranks, ThatDoNotComeAreMissed) {
  const Worlds worlds;
  const auto ranks = trained({{toy_programs().begin()->second, worlds.world({0, 2}, 0.5)}});
  EXPECT_THAT(ranks[0].refusal, HasSubstr("meeting the other ranks"));
}

// An engine in a process of its own is one that waits for ever, so the back-end ends the wait, and the process.
TEST_F(Ranks, ThatSleepAreNotWaitedForLonger) {
  if (!backend_facts().rank_of_process) GTEST_SKIP() << "its engine is told the timeout";
  const Worlds worlds;
  const Program program = toy_program("mlp20");
  const auto ranks = trained({{program, worlds.world({0, 2}, 5), RankFault::one_sleeps},
                              {program, worlds.world({1, 2}, 5), RankFault::one_sleeps}});
  EXPECT_THAT(ranks[0].refusal, AllOf(HasSubstr("exited with code 1"), HasSubstr("did not answer for 5")));
  EXPECT_EQ(ranks[1].refusal, "");
}

}  // namespace

int train_rank_of(const std::string& folder) {
  write_trained(folder, refused_or_trained(read_job(folder)));
  return 0;
}

}  // namespace tbd::suite
