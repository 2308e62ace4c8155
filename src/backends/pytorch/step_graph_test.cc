// Mode cuda-graph with a graph that does on the CPU what the device's does: `capture` keeps the work, `replay` does it.
#include "backends/pytorch/step_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/pytorch/test_support.h"
#include "toy_programs.h"

namespace tbd::pytorch {
namespace {

using testing::HasSubstr;

struct Calls {
  int64_t captures = 0, replays = 0;
};

class KeptWork final : public StepGraph {
 public:
  explicit KeptWork(Calls& calls) : calls_(calls) {}
  void capture(const std::function<void()>& work) override {
    ++calls_.captures;
    work_ = work;
  }
  void replay() override {
    ++calls_.replays;
    work_();
  }

 private:
  Calls& calls_;
  std::function<void()> work_;
};

std::unique_ptr<Session> replaying(Calls& calls) {
  return make_torch_session(true, [&calls] { return std::make_unique<KeptWork>(calls); });
}

struct Trained {
  TensorMap state;
  std::vector<double> losses;
};

// Seven steps, each with a batch of its own: a stale input, rate or count shows.
Trained train(const Program& program, std::unique_ptr<Session> made, const Mode& mode) {
  const auto session = loaded(program, {.capture = false, .mode = mode}, std::move(made));
  const InputNeeds needs = input_needs(program, {{"N", 4}});
  Trained out;
  for (int64_t step = 1; step <= 7; ++step) {
    TensorMap batch = generated_inputs(needs, /*seed=*/7, step);
    batch.insert(needs.norms.begin(), needs.norms.end());
    session->stage(batch);
    out.losses.push_back(session->step(at_step(step)).loss);
  }
  out.state = session->read({"param/", "buffer/", "state/"});
  return out;
}

std::string refusal(const Program& program) {
  Calls calls;
  return sentence_from([&] { replaying(calls)->load(program, load_options({.mode = Mode::kCudaGraph})); });
}

// Rates are floats where they lie in a tensor of the device: 6e-8 of each.
TEST(StepGraph, TrainsEveryToyAsEagerDoes) {
  int64_t replayed = 0;
  for (const auto& [name, program] : toy_programs()) {
    if (refusal(program) != "no error") continue;
    Calls calls;
    const Trained eager = train(program, make_torch_session(), {});
    const Trained graph = train(program, replaying(calls), Mode::kCudaGraph);
    EXPECT_EQ(calls.captures, static_cast<int64_t>(program.step.size())) << name << ": one for each phase";
    EXPECT_GE(calls.replays, 7 - kRunsBeforeCapture - 1) << name;
    for (size_t i = 0; i < eager.losses.size(); ++i)
      EXPECT_NEAR(graph.losses[i], eager.losses[i], 1e-5 * std::abs(eager.losses[i]) + 1e-12)
          << name << " step " << i + 1;
    for (const auto& [tensor, value] : eager.state) {
      if (tensor.find("self_attn.k_proj.bias") != std::string::npos) continue;  // its gradient is 0, and rounding
      EXPECT_LT(relative_error(graph.state.at(tensor), value), 1e-5) << name << " " << tensor;
    }
    ++replayed;
  }
  EXPECT_GE(replayed, 8);
}

TEST(StepGraph, ReadsInputsThatStay) {
  const Program program = toy_program("mlp20");
  Calls calls;
  auto eager = ready(program), graph = ready(program, {.mode = Mode::kCudaGraph}, replaying(calls));
  for (int64_t step = 1; step <= 6; ++step)
    EXPECT_NEAR(graph->step(at_step(step)).loss, eager->step(at_step(step)).loss, 1e-6) << step;
  EXPECT_EQ(calls.replays, 3);
}

TEST(StepGraph, SaysWhatItCannotReplay) {
  const Program half = with_precision(toy_program("mlp20"), Precision::kFp16);
  EXPECT_THAT(refusal(half), HasSubstr("has a loss scale"));
  EXPECT_THAT(refusal(toy_program("host_labels")), HasSubstr("(host_call) runs on the host"));
  Program lamb = toy_program("mlp20");
  lamb.phases[0].update.optimizer.kind = Optimizer::Kind::lamb;
  EXPECT_THAT(refusal(lamb), HasSubstr("lamb, whose scalars the host computes"));
  Program sums = toy_program("mlp20");
  sums.phases[0].accumulate = 2;
  EXPECT_THAT(refusal(sums), HasSubstr("sums micro-batches"));
}

TEST(StepGraph, NeedsAGpu) {
  EXPECT_EQ(sentence_from([] { loaded(toy_program("mlp20"), {.mode = Mode::kCudaGraph}); }),
            "mode cuda-graph needs a GPU, not cpu");
}

}  // namespace
}  // namespace tbd::pytorch
