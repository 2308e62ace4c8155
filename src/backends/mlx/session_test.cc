#include "backends/mlx/session.h"

#include <gtest/gtest.h>

#include "backend_suite/planned_memory.h"
#include "backend_suite/support.h"
#include "toy_programs.h"

namespace tbd::mlx {
namespace {

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(IdentityOnMlx, NamesModesAndTheLibraryOfItsProducts) {
  const SessionIdentity identity = MlxSession().identity();
  EXPECT_EQ(identity.modes, (std::vector{Mode::kEager, Mode::kCompile}));
  const std::string& blas = identity.build.at("blas");
  EXPECT_TRUE(blas.starts_with("OpenBLAS") || blas == "reference") << blas;
  EXPECT_TRUE(says(identity.build.at("target"), "other hardware"));
}

TEST(LoadOnMlx, RefusesWhatItCannotRun) {
  const auto load = [](const std::string& toy, const std::function<void(LoadOptions&)>& change) {
    LoadOptions options = load_options();
    change(options);
    return sentence_from([&] { MlxSession().load(toy_program(toy), options); });
  };
  EXPECT_TRUE(says(load("mlp20", [](LoadOptions& o) { o.layout = ImageLayout::kNchw; }), "runs in nhwc"));
  EXPECT_TRUE(says(load("mlp20", [](LoadOptions& o) { o.trace = true; }), "pass trace"));
  EXPECT_TRUE(says(load("host_labels", [](LoadOptions& o) { o.mode = Mode::kCompile; }), "host calls need values"));
}

TEST(MemoryOnMlx, IsCounted) {
  auto session = ready(toy_program("mlp20"));
  session->reset_peak_memory();
  session->step(at_step(1));
  const SessionMemory memory = session->memory();
  EXPECT_GT(memory.live_bytes.value(), 20 * 32 * 32 * 4);
  EXPECT_GE(memory.peak_bytes.value(), memory.live_bytes.value());
}

TEST(MemoryPassOnMlx, TellsStateByRoleAndTheRestAsOneBlockAStep) {
  expect_state_by_role_and_the_rest_as_one_block(/*keeps=*/false);
}

// A run draws anew, and the same seed the same again.
TEST(DropoutOnMlx, FollowsTheSeed) {
  const Program toy = toy_program("tied");
  const auto losses = [&](uint64_t seed) {
    LoadOptions options = load_options();
    options.seed = seed;
    auto session = make_session();
    session->load(toy, options);
    session->write(initial_weights(toy));
    session->stage(random_batch(toy));
    return std::vector{session->step(at_step(1, 0.0)).loss, session->step(at_step(2, 0.0)).loss};
  };
  const std::vector<double> first = losses(5);
  EXPECT_NE(first[0], first[1]);
  EXPECT_EQ(losses(5), first);
  EXPECT_NE(losses(6)[0], first[0]);
}

class ToyOnMlx : public testing::TestWithParam<const char*> {};

// What `compile` fuses rounds as the ops one by one, but for the order of sums.
TEST_P(ToyOnMlx, ModeCompileGivesTheSameNumbers) {
  const Program toy = with_precision(with_dropout(toy_program(GetParam()), DropoutMode::kMask), Precision::kFp64);
  const auto after_two_steps = [&](const Mode& mode) {
    auto session = ready(toy, {.mode = mode});
    for (int64_t step = 1; step <= 2; ++step) session->step(at_step(step));
    return session->read({"param/", "buffer/", "state/", "grad/", "output/", "term/", "loss"});
  };
  const TensorMap eager = after_two_steps(Mode::kEager), compiled = after_two_steps(Mode::kCompile);
  ASSERT_EQ(compiled.size(), eager.size());
  for (const auto& [name, tensor] : eager) EXPECT_LT(relative_error(compiled.at(name), tensor), 1e-11) << name;
}
// A compiler runs for each kernel: three toys, of which one has micro-batches and averages.
INSTANTIATE_TEST_SUITE_P(Some, ToyOnMlx, testing::Values("mlp20", "conv_forms", "frozen"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tbd::mlx
