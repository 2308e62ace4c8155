// Two sessions, each in a thread of its own, exchange gradients as two workers do; what they train is held against one
// session that accumulates twice as often. Faults of a data-parallel step are planted, and have to show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>

#include "backends/pytorch/exchange.h"
#include "backends/pytorch/test_support.h"
#include "base/files.h"
#include "graph/passes.h"
#include "toy_programs.h"

namespace tbd::pytorch {
namespace {

using testing::AllOf, testing::HasSubstr;

constexpr int64_t kRankTestSteps = 3;  // each on a batch of its own

enum class RankFault { none, no_exchange, first_gradient_only, mean, norm_of_own_batch, no_update_on_one, same_batch };

// Leaves gradients as they are.
class NoExchange final : public GradientExchange {
 public:
  void before_forward() override {}
  void before_backward() override {}
};

class Faulty final : public Exchange {
 public:
  Faulty(std::unique_ptr<Exchange> exchange, RankFault fault) : exchange_(std::move(exchange)), fault_(fault) {}
  std::vector<std::string> gather(const std::string& name, const std::string& own) override {
    return exchange_->gather(name, own);
  }
  void sum(std::span<double> values) override { exchange_->sum(values); }
  std::unique_ptr<GradientExchange> of_gradients(const std::vector<at::Tensor>& parameters) override {
    if (fault_ == RankFault::no_exchange) return std::make_unique<NoExchange>();
    if (fault_ == RankFault::first_gradient_only) return exchange_->of_gradients({parameters.front()});
    return exchange_->of_gradients(parameters);
  }

 private:
  std::unique_ptr<Exchange> exchange_;
  RankFault fault_;
};

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

RankTrained train_rank(const Program& program, const World& world, RankFault fault = RankFault::none) {
  const RankPlace place = world.place;
  const auto session =
      make_torch_session(true, {}, [&](const World& w) { return std::make_unique<Faulty>(join(w), fault); });
  LoadOptions options = load_options({.capture = false});
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

std::vector<RankTrained> together(const Program& program, RankFault fault = RankFault::none, int64_t world = 2) {
  const TemporaryFolder folder("tbd-ranks");
  std::vector<std::future<RankTrained>> ranks;
  for (int64_t rank = 0; rank < world; ++rank)
    ranks.push_back(std::async(std::launch::async, [&, rank] {
      return train_rank(
          program, {.place = {rank, world}, .store = (folder.path() / "store").string(), .timeout_seconds = 20}, fault);
    }));
  std::vector<RankTrained> out;
  for (std::future<RankTrained>& rank : ranks) out.push_back(rank.get());
  return out;
}

RankTrained alone(Program program, int64_t times = 2) {
  for (Phase& phase : program.phases) phase.accumulate *= times;
  return train_rank(program, {});
}

// Of the tensor's largest element, over all tensors of both ranks.
double largest_error(const std::vector<RankTrained>& ranks, const RankTrained& expected, const Program& program) {
  double worst = 0;
  for (const RankTrained& rank : ranks)
    for (const auto& [name, tensor] : expected.state) {
      const auto own = [&](const Parameter& b) { return name.starts_with(cat("state/", b.name, "/")); };
      if (std::ranges::any_of(program.buffers, own)) continue;
      const std::vector<double> a = as_doubles(rank.state.at(name)), b = as_doubles(tensor);
      double difference = 0, size = 1e-300;
      for (size_t i = 0; i < a.size(); ++i) {
        difference = std::max(difference, std::abs(a[i] - b[i]));
        size = std::max(size, std::abs(b[i]));
      }
      worst = std::max(worst, difference / size);
    }
  return worst;
}

TEST(Ranks, TrainEveryToyAsOneDoesThatAccumulates) {
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

TEST(Ranks, ShowTheFaultsOfADataParallelStep) {
  const Program program = with_precision(toy_programs().begin()->second, Precision::kFp64);
  const RankTrained expected = alone(program);
  ASSERT_LE(largest_error(together(program), expected, program), 1e-12);
  for (const RankFault fault : {RankFault::no_exchange, RankFault::first_gradient_only, RankFault::mean,
                                RankFault::norm_of_own_batch, RankFault::no_update_on_one, RankFault::same_batch})
    EXPECT_GT(largest_error(together(program, fault), expected, program), 1e-6) << static_cast<int>(fault);
}

// What an engine would add up in silence.
TEST(Ranks, OfAnotherProgramOrSeedAreRefused) {
  const TemporaryFolder folder("tbd-ranks");
  const Program program = toy_programs().begin()->second;
  const auto load = [&](int64_t rank, uint64_t seed, const Precision& precision) -> std::string {
    LoadOptions options = load_options();
    options.seed = seed;
    options.world = {
        .place = {rank, 2}, .store = (folder.path() / cat("store-", seed)).string(), .timeout_seconds = 20};
    return sentence_from([&] { make_torch_session()->load(with_precision(program, precision), options); });
  };
  const auto second = std::async(std::launch::async, load, 1, 1, Precision::kFp64);
  EXPECT_THAT(load(0, 1, Precision::kFp32),
              AllOf(HasSubstr("rank 1 has program: "), HasSubstr("; rank 0 has program: ")));
}

TEST(Ranks, ThatDoNotComeAreMissed) {
  const TemporaryFolder folder("tbd-ranks");
  LoadOptions options = load_options();
  options.world = {.place = {0, 2}, .store = (folder.path() / "store").string(), .timeout_seconds = 0.5};
  const Program program = toy_programs().begin()->second;
  EXPECT_THAT(sentence_from([&] { make_torch_session()->load(program, options); }),
              HasSubstr("meeting the other ranks"));
}

}  // namespace
}  // namespace tbd::pytorch
