#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "backends/pytorch/guard.h"
#include "backends/pytorch/test_support.h"
#include "graph/builder.h"
#include "models/model.h"
#include "toy_programs.h"

namespace tbd::pytorch {
namespace {

using testing::HasSubstr;

Program tiny_resnet(Precision precision = Precision::kFp32) {
  return with_precision(find_model("resnet50").config("tiny").program(), precision);
}

TEST(TorchLiveness, OverwritingInPlaceKeepsResultsBitIdentical) {
  const auto weights = [](bool obey) {
    auto session = ready_obeying(obey, tiny_resnet(), {.layout = ImageLayout::kNhwc, .capture = false});
    for (int64_t step = 1; step <= 2; ++step) session->step(at_step(step, 0.02));
    return session->read({"param/", "buffer/", "state/"});
  };
  const TensorMap with = weights(true), without = weights(false);
  for (const auto& [name, tensor] : with)
    EXPECT_TRUE(std::ranges::equal(tensor.bytes(), without.at(name).bytes())) << name;
}

TEST(TorchLiveness, FreesWhatLivenessReleases) {
  const auto peak = [](bool obey) {
    auto session = ready_obeying(obey, tiny_resnet(), {.batch = 8, .capture = false});
    session->step(at_step(1));
    session->reset_peak_memory();
    const int64_t before = session->memory().live_bytes.value();
    session->step(at_step(2));
    EXPECT_NEAR(static_cast<double>(session->memory().live_bytes.value()), static_cast<double>(before), 4096);
    return session->memory().peak_bytes.value() - before;
  };
  EXPECT_LT(peak(true), peak(false));
}

// A bias added to the loss's input through batch_norm, with gradients that fp16's first scale overflows.
TEST(LossScale, SkipsTheUpdateAndHalvesUntilGradientsAreFinite) {
  Program program = toy_program("norms");
  program.phases[0].update.ema = 0.9;
  program = with_precision(program, Precision::kFp16);
  TensorMap batch = random_batch(program, {{"N", 4}});
  batch["norm/ce"] = converted(doubles({}, {1e36}), DType::f32);
  auto session = loaded(program);
  session->stage(batch);
  const TensorMap before = session->read({"param/", "buffer/", "state/"});
  session->step(at_step(1));
  const TensorMap after = session->read({"param/", "buffer/", "state/"});
  for (const auto& [name, tensor] : after) {
    const bool statistics = name.starts_with("buffer/running.") || name.starts_with("buffer/plain.");
    EXPECT_EQ(relative_error(tensor, before.at(name)) == 0, !statistics) << name;
  }
  batch["norm/ce"] = converted(doubles({}, {0.25}), DType::f32);
  session->stage(batch);
  session->step(at_step(2));
  EXPECT_GT(relative_error(session->read({"param/head.weight"}).begin()->second, before.at("param/head.weight")), 0);
}

TEST(LossScale, CapturedGradientsAreUnscaled) {
  const Program fp32 = toy_program("mlp20"), fp16 = with_precision(fp32, Precision::kFp16);
  auto a = ready(fp32), b = ready(fp16);
  a->step(at_step(1));
  b->step(at_step(1));
  const auto gradient = [](Session& s) { return s.read({"grad/layers.19.weight"}).begin()->second; };
  EXPECT_LT(relative_error(gradient(*b), gradient(*a)), 0.05);
}

TEST(TorchIdentity, NamesBuildAndPaths) {
  const SessionIdentity identity = make_torch_session()->identity();
  EXPECT_THAT(identity.version, testing::MatchesRegex("2\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(identity.precisions, testing::Contains(Precision::kBf16));
  EXPECT_EQ(identity.build.at("optimizer.sgd"), "_fused_sgd_");
}

TEST(TorchCheck, SaysWhatIsComposedAndWhatIsUnknown) {
  Program program = toy_program("conv_forms");
  program.phases[0].nodes.push_back({"call", HostCall{"top_row", {{{0, 1}, DType::i32}}}, {"head"}});
  std::map<std::string, NodeSupport> rows;
  for (const NodeSupport& row : make_torch_session()->check(program)) rows[row.node] = row;
  EXPECT_EQ(rows.at("grouped").level, NodeSupport::Level::native);
  EXPECT_EQ(rows.at("same").level, NodeSupport::Level::composed);
  EXPECT_EQ(rows.at("call").level, NodeSupport::Level::unsupported);
  EXPECT_THAT(rows.at("call").detail, HasSubstr("top_rows"));
}

TEST(TorchLoad, SaysThatThereIsNoSuchDevice) {
  LoadOptions options = load_options();
  options.device = Device("cuda:99");
  EXPECT_THAT(sentence_from([&] { make_torch_session()->load(toy_program("mlp20"), options); }), HasSubstr("CUDA"));
}

TEST(TorchFaults, NameTheNodeAndThePhase) {
  const Program program = toy_program("mlp20");
  auto session = loaded(program);
  TensorMap batch = random_batch(program);
  batch["label"].as<int32_t>()[0] = 10;
  session->stage(batch);
  EXPECT_THAT(sentence_from([&] { session->step(at_step(1)); }),
              testing::StartsWith("torch: in the forward pass of phase 'train' at softmax_cross_entropy '"));
}

TEST(TorchFaults, OutOfMemoryStaysThatAndSaysWhere) {
  const auto full = []() -> int { throw c10::OutOfMemoryError({"f", "file", 1}, "CUDA out of memory. Tried"); };
  const std::string sentence = sentence_from([&] { located(full, [] { return "in the update of phase 'train'"; }); });
  EXPECT_EQ(sentence, "torch: out of memory in the update of phase 'train': CUDA out of memory. Tried");
}

// One OpenMP, one BLAS (inside libtorch_cpu), no protobuf, no TBB: a second would fight over threads or symbols.
TEST(TorchLoadedObjects, LoadEachRuntimeLibraryOnce) {
  auto session = ready(tiny_resnet());
  session->step(at_step(1));
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> objects;
  for (std::string line; std::getline(maps, line);)
    if (const size_t slash = line.rfind('/'); slash != std::string::npos) objects.insert(line.substr(slash + 1));
  const auto count = [&](std::string_view part) {
    return std::ranges::count_if(objects, [&](const std::string& o) { return o.find(part) != std::string::npos; });
  };
  if (count("libtorch_cuda.so") > 0) GTEST_SKIP() << "another test has loaded torch's half for GPUs, and its BLAS";
  EXPECT_EQ(count("libtorch_cpu.so"), 1);
  EXPECT_EQ(count("gomp"), 1);
  for (const char* other : {"libiomp", "libomp", "blas", "lapack", "libmkl", "tbb", "protobuf", "absl"})
    EXPECT_EQ(count(other), 0) << other;
}

}  // namespace
}  // namespace tbd::pytorch

namespace tbd {
namespace {

class LeftOut final : public pytorch::GradientExchange {
 public:
  void before_forward() override {}
  void before_backward() override {}
};

class FaultyGloo final : public pytorch::Exchange {
 public:
  FaultyGloo(std::unique_ptr<pytorch::Exchange> exchange, ExchangeFault fault)
      : exchange_(std::move(exchange)), fault_(fault) {}
  std::vector<std::string> gather(const std::string& name, const std::string& own) override {
    return exchange_->gather(name, own);
  }
  void sum(std::span<double> values) override { exchange_->sum(values); }
  std::function<void()> of_values(const at::Tensor& values) override { return exchange_->of_values(values); }
  std::unique_ptr<pytorch::GradientExchange> of_gradients(const std::vector<at::Tensor>& parameters,
                                                          const std::vector<int64_t>& owners) override {
    before_ = parameters.front().detach().clone();
    if (fault_ == ExchangeFault::left_out) return std::make_unique<LeftOut>();
    if (fault_ != ExchangeFault::first_gradient_only) return exchange_->of_gradients(parameters, owners);
    return exchange_->of_gradients({parameters.front()}, {owners.begin(), owners.begin() + !owners.empty()});
  }
  void spread(const std::vector<at::Tensor>& tensors, const std::vector<int64_t>& owners) override {
    if (fault_ == ExchangeFault::no_owner && tensors.front().sizes() == before_.sizes()) put_back(tensors.front());
    exchange_->spread(tensors, owners);
  }
  void average(const std::vector<at::Tensor>& tensors) override {
    if (fault_ == ExchangeFault::mean_without_one) return spread(tensors, std::vector<int64_t>(tensors.size()));
    exchange_->average(tensors);
  }

 private:
  void put_back(const at::Tensor& weight) const {
    const at::NoGradGuard no_grad;
    weight.detach().copy_(before_);
  }

  std::unique_ptr<pytorch::Exchange> exchange_;
  ExchangeFault fault_;
  at::Tensor before_;  // the first weight, as it was when gradients began to be exchanged
};

}  // namespace

std::unique_ptr<Session> rank_with(ExchangeFault fault) {
  return pytorch::make_torch_session(
      true, {}, [=](const World& world, bool) { return std::make_unique<FaultyGloo>(pytorch::join(world), fault); });
}

}  // namespace tbd
