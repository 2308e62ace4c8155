#include "backends/mlx/session.h"

#include <gmock/gmock.h>

#include "backend_suite/support.h"
#include "graph/sequence_programs.h"
#include "toy_programs.h"

namespace tbd::mlx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const NamedPrograms& programs() {
  static const NamedPrograms all = with_sequences(toy_programs());
  return all;
}

TEST(IdentityOnMlx, NamesModesAndTheLibraryOfItsProducts) {
  const SessionIdentity identity = MlxSession().identity();
  EXPECT_THAT(identity.modes, ElementsAre(Mode::kEager, Mode::kCompile));
  EXPECT_THAT(identity.build.at("blas"), testing::AnyOf(StartsWith("OpenBLAS"), testing::Eq("reference")));
  EXPECT_THAT(identity.build.at("target"), HasSubstr("other hardware"));
}

TEST(LoadOnMlx, RefusesWhatItCannotRun) {
  const auto load = [](const std::string& toy, const std::function<void(LoadOptions&)>& change) {
    LoadOptions options = load_options();
    change(options);
    return sentence_from([&] { MlxSession().load(toy_program(toy), options); });
  };
  EXPECT_THAT(load("mlp20", [](LoadOptions& o) { o.layout = ImageLayout::kNchw; }), HasSubstr("runs in nhwc"));
  EXPECT_THAT(load("mlp20", [](LoadOptions& o) { o.trace = true; }), HasSubstr("pass trace"));
  EXPECT_THAT(load("host_labels", [](LoadOptions& o) { o.mode = Mode::kCompile; }),
              HasSubstr("host calls need values"));
}

TEST(MemoryOnMlx, IsCounted) {
  auto session = ready(toy_program("mlp20"));
  session->reset_peak_memory();
  session->step(at_step(1));
  const SessionMemory memory = session->memory();
  EXPECT_GT(memory.live_bytes.value(), 20 * 32 * 32 * 4);
  EXPECT_GE(memory.peak_bytes.value(), memory.live_bytes.value());
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

class ToyOnMlx : public testing::TestWithParam<std::string> {};

// What `compile` fuses rounds as the ops one by one, but for the order of sums.
TEST_P(ToyOnMlx, ModeCompileGivesTheSameNumbers) {
  const auto found = std::ranges::find(programs(), GetParam(), &NamedPrograms::value_type::first);
  const Program toy = with_precision(with_dropout(found->second, DropoutMode::kMask), Precision::kFp64);
  const auto after_two_steps = [&](const Mode& mode) {
    auto session = ready(toy, {.mode = mode});
    for (int64_t step = 1; step <= 2; ++step) session->step(at_step(step));
    return session->read({"param/", "buffer/", "state/", "grad/", "output/", "term/", "loss"});
  };
  TensorMap compiled;
  try {
    compiled = after_two_steps(Mode::kCompile);
  } catch (const Error& e) {
    ASSERT_EQ(e.kind(), ErrorKind::unsupported) << e.what();
    GTEST_SKIP() << e.what();
  }
  for (const auto& [name, tensor] : after_two_steps(Mode::kEager))
    EXPECT_LT(relative_error(compiled.at(name), tensor), 1e-11) << name;
}

std::vector<std::string> toy_names() {
  std::vector<std::string> out;
  for (const auto& [name, program] : programs()) out.push_back(name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, ToyOnMlx, testing::ValuesIn(toy_names()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tbd::mlx
