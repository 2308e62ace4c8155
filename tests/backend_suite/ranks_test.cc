// Two sessions, each in a thread of its own, exchange gradients as two workers do; what they train is held against one
// session that accumulates twice as often. Faults of a data-parallel step are planted, and have to show. Of back-ends
// whose engine sums over ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>

#include "backend_suite/support.h"
#include "base/files.h"
#include "base/free_ports.h"
#include "graph/passes.h"
#include "toy_programs.h"

namespace tbd::suite {
namespace {

using testing::AllOf, testing::HasSubstr;

constexpr int64_t kRankTestSteps = 3;  // each on a batch of its own

enum class RankFault { none, no_exchange, first_gradient_only, mean, norm_of_own_batch, no_update_on_one, same_batch };

ExchangeFault of_exchange(RankFault fault) {
  if (fault == RankFault::no_exchange) return ExchangeFault::left_out;
  if (fault == RankFault::first_gradient_only) return ExchangeFault::first_gradient_only;
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

struct RankTrained {
  TensorMap state;
  std::vector<double> losses;
};

// How the ranks of a test exchange; its place, store and ports are each world's own.
struct Way {
  ExchangeMode exchange = ExchangeMode::kAllReduce;
  WireType wire = WireType::kSame;
};

RankTrained train_rank(const Program& program, const World& world, RankFault fault = RankFault::none,
                       const Mode& mode = {}) {
  const RankPlace place = world.place;
  const auto session = backend_facts().rank_with(of_exchange(fault));
  LoadOptions options = load_options({.capture = false, .mode = mode});
  options.world = world;
  session->load(program, options);
  session->write(initial_weights(program));
  RankTrained out;
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

// The worlds of a test: each finds its ranks by a store and ports of its own.
class Worlds {
 public:
  World world(RankPlace place, double timeout_seconds = 20) const {
    return {.place = place,
            .store = store_,
            .ports = ports_,
            .timeout_seconds = timeout_seconds,
            .bucket_bytes = 256};  // several to a toy
  }

 private:
  TemporaryFolder folder_{"tbd-ranks"};
  std::string store_ = (folder_.path() / "store").string();
  std::vector<int64_t> ports_ = free_ports(2);
};

std::vector<RankTrained> together(const Program& program, RankFault fault = RankFault::none, const Mode& mode = {},
                                  const Way& way = {}) {
  const Worlds worlds;
  std::vector<std::future<RankTrained>> ranks;
  for (int64_t rank = 0; rank < 2; ++rank)
    ranks.push_back(std::async(std::launch::async, [&, rank] {
      World world = worlds.world({rank, 2});
      world.exchange = way.exchange;
      world.wire = way.wire;
      return train_rank(program, world, fault, mode);
    }));
  std::vector<RankTrained> out;
  for (std::future<RankTrained>& rank : ranks) out.push_back(rank.get());
  return out;
}

RankTrained alone(Program program) {
  for (Phase& phase : program.phases) phase.accumulate *= 2;
  return train_rank(program, {});
}

// Of the tensor's largest element, over all tensors of both ranks. A gradient that is 0 but for rounding has elements
// of 1e-17, which say nothing.
double largest_error(const std::vector<RankTrained>& ranks, const RankTrained& expected, const Program& program) {
  double worst = 0;
  for (const RankTrained& rank : ranks)
    for (const auto& [name, tensor] : expected.state) {
      const auto own = [&](const Parameter& b) { return name.starts_with(cat("state/", b.name, "/")); };
      if (std::ranges::any_of(program.buffers, own)) continue;
      const std::vector<double> a = as_doubles(rank.state.at(name)), b = as_doubles(tensor);
      double difference = 0, size = std::max(1e-300, backend_facts().rounding_over_ranks);
      for (size_t i = 0; i < a.size(); ++i) {
        difference = std::max(difference, std::abs(a[i] - b[i]));
        size = std::max(size, std::abs(b[i]));
      }
      worst = std::max(worst, difference / size);
    }
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

TEST_F(Ranks, RoundGradientsToTheTypeOfTheWire) {
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
  const auto load = [&](int64_t rank, const Precision& precision) -> std::string {
    LoadOptions options = load_options();
    options.world = worlds.world({rank, 2});
    return sentence_from([&] { make_session()->load(with_precision(program, precision), options); });
  };
  const auto second = std::async(std::launch::async, load, 1, Precision::kFp64);
  EXPECT_THAT(load(0, Precision::kFp32), AllOf(HasSubstr("rank 1 has program: "), HasSubstr("; rank 0 has program: ")));
}

TEST_F(Ranks, ThatDoNotComeAreMissed) {
  const Worlds worlds;
  LoadOptions options = load_options();
  options.world = worlds.world({0, 2}, 0.5);
  const Program program = toy_programs().begin()->second;
  EXPECT_THAT(sentence_from([&] { make_session()->load(program, options); }), HasSubstr("meeting the other ranks"));
}

}  // namespace
}  // namespace tbd::suite
