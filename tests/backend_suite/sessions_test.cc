// The session's contract (worker/session.h) on the back-end that is linked: state by name, staging, refusals, what it
// says of itself, and a network that learns.
#include <gmock/gmock.h>

#include <limits>
#include <map>

#include "backend_suite/support.h"
#include "models/model.h"
#include "toy_programs.h"

namespace tbd::suite {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<std::string> kState = {"param/", "buffer/", "state/"};

class Resnet : public testing::TestWithParam<Precision> {};

TEST_P(Resnet, LearnsAFixedBatch) {
  const Program program = with_precision(find_model("resnet50").config("tiny").program(), GetParam());
  auto session = ready(program, {.layout = backend_facts().layouts.back(), .capture = false});
  const double first = session->step(at_step(1, 0.02)).loss;
  double last = first;
  for (int64_t step = 2; step <= 8; ++step) last = session->step(at_step(step, 0.02)).loss;
  EXPECT_GT(first, 1.0);
  EXPECT_LT(last, 0.6 * first);
}
INSTANTIATE_TEST_SUITE_P(Precisions, Resnet, testing::ValuesIn(backend_facts().precisions),
                         [](const auto& info) { return info.param.text(); });

TEST(ReadAndWrite, RoundTrip) {
  const Program program = toy_program("conv_forms");
  if (const std::string why = why_not(program); !why.empty()) GTEST_SKIP() << why;
  auto session = ready(program), other = ready(program);
  for (int64_t step = 1; step <= 2; ++step) session->step(at_step(step));
  const TensorMap state = session->read(kState);
  EXPECT_TRUE(state.contains("state/same.weight/ema"));
  other->write(state);
  const TensorMap copy = other->read(kState);
  ASSERT_EQ(copy.size(), state.size());
  for (const auto& [name, tensor] : state) {
    EXPECT_EQ(copy.at(name).shape(), tensor.shape());
    EXPECT_TRUE(std::ranges::equal(copy.at(name).bytes(), tensor.bytes())) << name;
  }
}

// A back-end may hold momentum and running variance in its framework's terms.
TEST(ReadAndWrite, ASessionContinuesFromAnothersState) {
  const Program program = toy_program("norms");
  auto session = ready(program), other = ready(program);
  for (int64_t step = 1; step <= 2; ++step) session->step(at_step(step, 0.1 / static_cast<double>(step)));
  other->write(session->read(kState));
  session->step(at_step(3, 0.02));
  other->step(at_step(3, 0.02));
  const TensorMap expected = session->read(kState);
  for (const auto& [name, tensor] : other->read(kState))
    EXPECT_LT(relative_error(tensor, expected.at(name)), 1e-6) << name;
}

TEST(ReadAndWrite, GiveOnlyWhatIsAskedFor) {
  auto session = ready(toy_program("mlp20"));
  session->step(at_step(1));
  EXPECT_EQ(session->read({"param/layers.1"}).size(), 22u);  // layers 1 and 10 to 19, weight and bias
  EXPECT_EQ(session->read({"loss"}).size(), 1u);
  EXPECT_TRUE(session->read({"nothing"}).empty());
}

TEST(ReadAndWrite, NamesTheMismatch) {
  auto session = loaded(toy_program("mlp20"));
  const auto write = [&](const std::string& name, const Shape& shape) {
    return sentence_from([&] { session->write({{name, HostTensor(DType::f32, shape)}}); });
  };
  EXPECT_THAT(write("param/layers.0.weight", {4, 4}),
              AllOf(HasSubstr("layers.0.weight"), HasSubstr("(4, 4)"), HasSubstr("(32, 32)")));
  EXPECT_THAT(write("param/layers.0.weigth", {32, 32}), HasSubstr("layers.0.weight"));
}

TEST(Stage, NamesAMissingOrMisshapenInput) {
  const Program program = toy_program("mlp20");
  auto session = ready(program);
  TensorMap batch = random_batch(program);
  batch["x"] = HostTensor(DType::f32, {3, 32});
  EXPECT_THAT(sentence_from([&] { session->stage(batch); }),
              AllOf(HasSubstr("'x'"), HasSubstr("(3, 32)"), HasSubstr("(4, 32)")));
  EXPECT_THAT(sentence_from([&] { session->step(at_step(1)); }), HasSubstr("staged"));
  batch.erase("x");
  EXPECT_THAT(sentence_from([&] { session->stage(batch); }), HasSubstr("'x'"));
  EXPECT_THAT(sentence_from([&] { session->step(at_step(1)); }), HasSubstr("staged"));
}

TEST(Stage, NeedsTheNormOfEachTerm) {
  const Program program = toy_program("mlp20");
  auto session = loaded(program);
  TensorMap batch = random_batch(program);
  batch.erase("norm/ce");
  EXPECT_THAT(sentence_from([&] { session->stage(batch); }), HasSubstr("'norm/ce'"));
}

TEST(NonFinite, IsSeenAndNamed) {
  const char* bias = backend_facts().relu_keeps_nan ? "param/layers.3.bias" : "param/layers.19.bias";
  auto session = ready(toy_program("mlp20"));
  session->step(at_step(1));
  EXPECT_EQ(session->first_non_finite(), "");
  TensorMap weights = session->read({bias});
  weights.begin()->second.as<float>()[5] = std::numeric_limits<float>::infinity();
  session->write(weights);
  EXPECT_TRUE(std::isnan(session->step(at_step(2, 0.0)).loss));
  EXPECT_THAT(session->first_non_finite(), HasSubstr("layers"));
}

TEST(Identity, AgreesWithTheFacts) {
  const BackendFacts& facts = backend_facts();
  const SessionIdentity identity = make_session()->identity();
  EXPECT_EQ(identity.framework, facts.framework);
  EXPECT_THAT(identity.version, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.(post)?[0-9]+"));
  EXPECT_EQ(identity.layouts, facts.layouts);
  for (const Precision& precision : facts.precisions) EXPECT_THAT(identity.precisions, testing::Contains(precision));
  EXPECT_EQ(facts.precisions.size(), std::ranges::count_if(identity.precisions, [](const Precision& each) {
              return each != Precision::kTf32;  // of other devices
            }));
}

TEST(Check, NamesEveryNodeAndAnUnknownHostFunction) {
  const auto session = make_session();
  for (const auto& [name, program] : toy_programs())
    for (const NodeSupport& node : session->check(program)) {
      if (node.level == NodeSupport::Level::unsupported) continue;
      EXPECT_FALSE(node.detail.empty()) << name << " " << node.node;
    }
  Program program = toy_program("conv_forms");
  program.phases[0].nodes.push_back({"call", HostCall{"top_row", {{{0, 1}, DType::i32}}}, {"head"}});
  std::map<std::string, NodeSupport> rows;
  for (const NodeSupport& row : session->check(program)) rows[row.node] = row;
  EXPECT_EQ(rows.at("call").level, NodeSupport::Level::unsupported);
  EXPECT_THAT(rows.at("call").detail, HasSubstr("top_rows"));
}

TEST(Load, RefusesWhatItCannotRun) {
  const Program program = toy_program("mlp20");
  const auto load = [&](const std::function<void(LoadOptions&)>& change) {
    LoadOptions options = load_options();
    change(options);
    return sentence_from([&] { make_session()->load(program, options); });
  };
  EXPECT_EQ(load([](LoadOptions&) {}), "no error");
  EXPECT_THAT(load([](LoadOptions& o) { o.device = Device("tpu"); }), HasSubstr("'tpu'"));
  EXPECT_NE(load([](LoadOptions& o) { o.device = Device("cuda:99"); }), "no error");
  EXPECT_THAT(load([](LoadOptions& o) { o.layout = ImageLayout("nwhc"); }), HasSubstr("nwhc"));
  EXPECT_THAT(load([](LoadOptions& o) { o.threads = 0; }), HasSubstr("threads"));
  EXPECT_THAT(load([](LoadOptions& o) { o.world.place = {2, 2}; }), HasSubstr("rank 2 of 2"));
  if (make_session()->identity().exchanges.empty()) {
    EXPECT_THAT(load([](LoadOptions& o) { o.world.place = {1, 2}; }), HasSubstr("cannot sum gradients over 2 ranks"));
  }
}

TEST(Gemm, RateIsPositiveOrAbsent) {
  const auto session = loaded(toy_program("mlp20"));
  EXPECT_GT(session->gemm_rate(Precision::kFp32, 0.01).value(), 1e8);
  for (const char* other : {"int8", "int4"})
    EXPECT_EQ(session->gemm_rate(Precision(other), 0.01), std::nullopt) << other;
}

}  // namespace
}  // namespace tbd::suite
