#include "backends/mxnet/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "backends/mxnet/test_support.h"
#include "models/model.h"
#include "toy_programs.h"

namespace tbd::mxnet {
namespace {

using testing::HasSubstr;

Program tiny_resnet(Precision precision = Precision::kFp32) {
  return with_precision(find_model("resnet50").config("tiny").program(), precision);
}

TEST(IdentityOnMxnet, NamesBuildAndPaths) {
  const SessionIdentity identity = MxnetSession().identity();
  EXPECT_THAT(identity.version, testing::MatchesRegex("1\\.9\\.[0-9]+"));
  EXPECT_THAT(identity.modes, testing::ElementsAre(Mode::kGraph));
  EXPECT_THAT(identity.precisions, testing::ElementsAre(Precision::kFp64, Precision::kFp32));
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
  EXPECT_THAT(load(mlp, [](LoadOptions& o) { o.device = Device("cuda:99"); }), HasSubstr("'cuda:99'"));
  EXPECT_THAT(load(mlp, [](LoadOptions& o) { o.layout = ImageLayout::kNhwc; }), HasSubstr("'nhwc'"));
  Program bent = toy_program("mlp20");
  bent.phases[0].nodes.push_back({"bent", Unary{Unary::Function::sigmoid}, {"x"}});
  bent.phases[0].nodes.push_back({"slope", InputGradient{}, {"bent", "x"}});
  EXPECT_THAT(load(bent, nothing), testing::AllOf(HasSubstr("input_gradient 'slope'"), HasSubstr("sigmoid 'bent'")));
  EXPECT_THAT(load(with_precision(mlp, Precision::kBf16), nothing), HasSubstr("bf16"));
}

// MXNet's kernels want the momentum and the running variance as multiples of ours, which float cannot divide exactly.
TEST(StateOnMxnet, IsGivenAndTakenBitForBit) {
  auto whole = ready(tiny_resnet()), cut = ready(tiny_resnet()), resumed = ready(tiny_resnet());
  for (int64_t step = 1; step <= 2; ++step) {
    whole->step(at_step(step));
    cut->step(at_step(step));
  }
  const std::vector<std::string> state = {"param/", "buffer/", "state/", "updates/", "scale/"};
  const TensorMap kept = cut->read(state);
  EXPECT_TRUE(kept.contains("scale/buffer/bn1.running_var"));
  resumed->write(kept);
  resumed->step(at_step(3));
  whole->step(at_step(3));
  const TensorMap found = resumed->read(state);
  for (const auto& [name, tensor] : whole->read(state))
    EXPECT_EQ(as_doubles(found.at(name)), as_doubles(tensor)) << name;
  const std::string lonely = sentence_from([&] {
    resumed->write({{"scale/param/fc.weight", kept.at("updates/train")}});
  });
  EXPECT_THAT(lonely, HasSubstr("'scale/param/fc.weight' scales no tensor beside it"));
}

TEST(ExchangeOnMxnet, NeedsAPortForEachRank) {
  EXPECT_THAT(sentence_from([] {
                join_world({.place = {0, 2}, .ports = {1}});
              }),
              HasSubstr("needs the ports of 2 ranks, got 1"));
}

TEST(GemmOnMxnet, HasNoRateInBf16) { EXPECT_EQ(MxnetSession().gemm_rate(Precision::kBf16, 0.01), std::nullopt); }

// One OpenMP and one BLAS, no protobuf, no TBB: a second would fight over threads or symbols.
TEST(LoadedObjectsOnMxnet, LoadEachRuntimeLibraryOnce) {
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
  EXPECT_EQ(count("blas") - count("libcublas"), 1) << "beside those of a GPU";
  for (const char* other : {"libiomp", "libomp", "lapack", "libmkl", "tbb", "protobuf", "absl"})
    EXPECT_EQ(count(other), 0) << other;
}

}  // namespace
}  // namespace tbd::mxnet

namespace tbd {
namespace {

class LeftOut final : public mxnet::GradientExchange {
 public:
  void sum() override {}
};

class FaultyStore final : public mxnet::Exchange {
 public:
  FaultyStore(std::unique_ptr<mxnet::Exchange> exchange, ExchangeFault fault)
      : exchange_(std::move(exchange)), fault_(fault) {}
  void sum(std::span<double> values) override { exchange_->sum(values); }
  std::unique_ptr<mxnet::GradientExchange> of_gradients(std::span<const mxnet::Array> gradients) override {
    if (fault_ == ExchangeFault::left_out) return std::make_unique<LeftOut>();
    return exchange_->of_gradients(fault_ == ExchangeFault::none ? gradients : gradients.first(1));
  }
  std::function<void()> of_bytes(DType dtype, int64_t bytes) override { return exchange_->of_bytes(dtype, bytes); }
  void wait(const std::function<void()>& work) override { exchange_->wait(work); }

 private:
  std::unique_ptr<mxnet::Exchange> exchange_;
  ExchangeFault fault_;
};

}  // namespace

std::unique_ptr<Session> rank_with(ExchangeFault fault) {
  return std::make_unique<mxnet::MxnetSession>(
      [=](const World& world) { return std::make_unique<FaultyStore>(mxnet::join_world(world), fault); });
}

}  // namespace tbd
