#include "backends/mxnet/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <set>

#include "backends/mxnet/test_support.h"
#include "models/model.h"
#include "toy_programs.h"

namespace tbd::mxnet {
namespace {

using testing::HasSubstr;

Program tiny_resnet(Precision precision = Precision::fp32) {
  return with_precision(find_model("resnet50").config("tiny").program(), precision);
}

TEST(ResnetOnMxnet, LearnsAFixedBatch) {
  for (const Precision precision : {Precision::fp32, Precision::fp64}) {
    auto session = ready(tiny_resnet(precision), 4, false);
    double first = 0, last = 0;
    for (int64_t step = 1; step <= 8; ++step) {
      last = session->step(at_step(step, 0.02)).loss;
      if (step == 1) first = last;
    }
    EXPECT_GT(first, 1.0);
    EXPECT_LT(last, 0.6 * first);
  }
}

TEST(ReadAndWriteOnMxnet, RoundTrip) {
  const Program program = toy_program("conv_forms");
  auto session = ready(program), other = ready(program);
  for (int64_t step = 1; step <= 2; ++step) session->step(at_step(step));
  const TensorMap state = session->read({"param/", "buffer/", "state/"});
  EXPECT_TRUE(state.contains("state/same.weight/ema"));
  other->write(state);
  const TensorMap copy = other->read({"param/", "buffer/", "state/"});
  ASSERT_EQ(copy.size(), state.size());
  for (const auto& [name, tensor] : state) {
    EXPECT_EQ(copy.at(name).shape(), tensor.shape());
    EXPECT_TRUE(std::ranges::equal(copy.at(name).bytes(), tensor.bytes())) << name;
  }
}

// Momentum and running variance are held in MXNet's terms; a session that starts from what another read goes on alike.
TEST(ReadAndWriteOnMxnet, ASessionContinuesFromAnothersState) {
  const Program program = toy_program("norms");
  auto session = ready(program), other = ready(program);
  for (int64_t step = 1; step <= 2; ++step) session->step(at_step(step, 0.1 / static_cast<double>(step)));
  other->write(session->read({"param/", "buffer/", "state/"}));
  session->step(at_step(3, 0.02)), other->step(at_step(3, 0.02));
  const TensorMap expected = session->read({"param/", "buffer/", "state/"});
  for (const auto& [name, tensor] : other->read({"param/", "buffer/", "state/"}))
    EXPECT_LT(relative_error(tensor, expected.at(name)), 1e-6) << name;
}

TEST(ReadAndWriteOnMxnet, GiveOnlyWhatIsAskedFor) {
  auto session = ready(toy_program("mlp20"));
  session->step(at_step(1));
  EXPECT_EQ(session->read({"param/layers.1"}).size(), 22u);  // layers 1 and 10 to 19, weight and bias
  EXPECT_EQ(session->read({"loss"}).size(), 1u);
  EXPECT_TRUE(session->read({"nothing"}).empty());
}

TEST(ReadAndWriteOnMxnet, NamesTheMismatch) {
  auto session = loaded(toy_program("mlp20"));
  const auto write = [&](const std::string& name, Shape shape) {
    return sentence_from([&] { session->write({{name, HostTensor(DType::f32, shape)}}); });
  };
  EXPECT_THAT(write("param/layers.0.weight", {4, 4}),
              testing::AllOf(HasSubstr("layers.0.weight"), HasSubstr("(4, 4)"), HasSubstr("(32, 32)")));
  EXPECT_THAT(write("param/layers.0.weigth", {32, 32}), HasSubstr("layers.0.weight"));
}

TEST(StageOnMxnet, NamesAMissingOrMisshapenInput) {
  const Program program = toy_program("mlp20");
  auto session = loaded(program);
  TensorMap batch = random_batch(program, {{"N", 4}});
  batch["x"] = HostTensor(DType::f32, {3, 32});
  EXPECT_THAT(sentence_from([&] { session->stage(batch); }),
              testing::AllOf(HasSubstr("'x'"), HasSubstr("(3, 32)"), HasSubstr("(4, 32)")));
  batch.erase("x");
  EXPECT_THAT(sentence_from([&] { session->stage(batch); }), HasSubstr("'x'"));
  EXPECT_THAT(sentence_from([&] { session->step(at_step(1)); }), HasSubstr("staged"));
}

// In the last layer: MXNet's relu turns a NaN into 0.
TEST(NonFiniteOnMxnet, IsSeenAndNamed) {
  auto session = ready(toy_program("mlp20"));
  session->step(at_step(1));
  EXPECT_EQ(session->first_non_finite(), "");
  TensorMap weights = session->read({"param/layers.19.bias"});
  weights.begin()->second.as<float>()[5] = std::numeric_limits<float>::infinity();
  session->write(weights);
  EXPECT_TRUE(std::isnan(session->step(at_step(2, 0.0)).loss));
  EXPECT_THAT(session->first_non_finite(), HasSubstr("layers"));
}

TEST(IdentityOnMxnet, NamesBuildAndPaths) {
  const SessionIdentity identity = MxnetSession().identity();
  EXPECT_EQ(identity.framework, "mxnet");
  EXPECT_THAT(identity.version, testing::MatchesRegex("1\\.9\\.[0-9]+"));
  EXPECT_THAT(identity.modes, testing::ElementsAre("graph"));
  EXPECT_THAT(identity.precisions, testing::ElementsAre("fp64", "fp32"));
  EXPECT_EQ(identity.build.at("status"), "retired upstream");
  EXPECT_THAT(identity.build.at("features"), HasSubstr("MKLDNN"));
  EXPECT_EQ(identity.build.at("optimizer.sgd"), "sgd_mom_update");
}

TEST(CheckOnMxnet, SaysWhatIsComposedAndWhatCannotRun) {
  Program program = toy_program("conv_forms");
  program.phases[0].nodes.push_back({"call", HostCall{"top_row", {{{0, 1}, DType::i32}}}, {"head"}});
  program.phases[0].nodes.push_back({"bent", Unary{Unary::Function::sigmoid}, {"head"}});
  program.phases[0].nodes.push_back({"slope", InputGradient{}, {"bent", "head"}});
  std::map<std::string, NodeSupport> rows;
  for (const NodeSupport& row : MxnetSession().check(program)) rows[row.node] = row;
  EXPECT_EQ(rows.at("grouped").level, NodeSupport::Level::native);
  EXPECT_EQ(rows.at("same").level, NodeSupport::Level::composed);
  EXPECT_EQ(rows.at("call").level, NodeSupport::Level::unsupported);
  EXPECT_THAT(rows.at("call").detail, HasSubstr("top_rows"));
  EXPECT_EQ(rows.at("slope").level, NodeSupport::Level::unsupported);
  EXPECT_THAT(rows.at("slope").detail, HasSubstr("sigmoid 'bent'"));
}

TEST(LoadOnMxnet, RefusesWhatItCannotRun) {
  const Program mlp = toy_program("mlp20");
  const auto load = [](const Program& program, const std::function<void(LoadOptions&)>& change) {
    LoadOptions options;
    options.bindings = {{"N", 2}};
    change(options);
    return sentence_from([&] { MxnetSession().load(program, options); });
  };
  const auto nothing = [](LoadOptions&) {};
  EXPECT_EQ(load(mlp, nothing), "no error");
  EXPECT_THAT(load(mlp, [](LoadOptions& o) { o.device = "cuda:0"; }), HasSubstr("'cuda:0'"));
  EXPECT_THAT(load(mlp, [](LoadOptions& o) { o.layout = "nhwc"; }), HasSubstr("'nhwc'"));
  EXPECT_THAT(load(mlp, [](LoadOptions& o) { o.threads = 0; }), HasSubstr("threads"));
  Program bent = toy_program("mlp20");
  bent.phases[0].nodes.push_back({"bent", Unary{Unary::Function::sigmoid}, {"x"}});
  bent.phases[0].nodes.push_back({"slope", InputGradient{}, {"bent", "x"}});
  EXPECT_THAT(load(bent, nothing), testing::AllOf(HasSubstr("input_gradient 'slope'"), HasSubstr("sigmoid 'bent'")));
  EXPECT_THAT(load(with_precision(mlp, Precision::bf16), nothing), HasSubstr("bf16"));
}

TEST(GemmOnMxnet, RateIsPositiveOrAbsent) {
  MxnetSession session;
  EXPECT_GT(session.gemm_rate("fp32", 0.01).value(), 1e8);
  EXPECT_EQ(session.gemm_rate("bf16", 0.01), std::nullopt);
}

// One OpenMP and one BLAS, no protobuf, no TBB: a second would fight over threads or symbols.
TEST(LoadedObjectsOnMxnet, BringNoSecondRuntime) {
  auto session = ready(tiny_resnet());
  session->step(at_step(1));
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> objects;
  for (std::string line; std::getline(maps, line);)
    if (const size_t slash = line.rfind('/'); slash != std::string::npos) objects.insert(line.substr(slash + 1));
  const auto count = [&](std::string_view part) {
    return std::ranges::count_if(objects, [&](const std::string& o) { return o.find(part) != std::string::npos; });
  };
  for (const char* own : {"libmxnet.so", "libgomp", "libopenblas"}) EXPECT_EQ(count(own), 1) << own;
  EXPECT_EQ(count("blas"), 1);
  for (const char* other : {"libiomp", "libomp", "lapack", "libmkl", "tbb", "protobuf", "absl"})
    EXPECT_EQ(count(other), 0) << other;
}

}  // namespace
}  // namespace tbd::mxnet
