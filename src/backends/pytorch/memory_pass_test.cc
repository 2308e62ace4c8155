// Where the session's memory goes, told to a ledger while it trains.
#include <ATen/Context.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <ATen/record_function.h>
#include <c10/core/CPUAllocator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "backends/pytorch/memory.h"
#include "backends/pytorch/tensor_watch.h"
#include "backends/pytorch/test_support.h"
#include "graph/builder.h"
#include "measure/memory_ledger.h"
#include "measure/process_memory.h"
#include "toy_programs.h"

namespace tbd::pytorch {
namespace {

int64_t of(const MemoryTotals& totals, MemoryClass kind) { return totals[static_cast<size_t>(kind)]; }
int64_t all(const MemoryTotals& totals) { return std::accumulate(totals.begin(), totals.end(), int64_t{0}); }

// A session that tells a ledger, with its batch staged.
struct Watched {
  explicit Watched(const Program& program, const Device& device = Device::kCpu) : ledger(node_names(program)) {
    constexpr int64_t batch = 4;
    session = make_torch_session();
    before = counted_memory(at::Device(device.text())).live_bytes.value_or(0);
    session->load(program, {.bindings = {{"N", batch}}, .device = device, .ledger = &ledger});
    session->write(initial_weights(program));
    session->stage(random_batch(program, {{"N", batch}}));
  }
  void steps(int64_t count) {
    for (int64_t i = 0; i < count; ++i, ++next)
      session->step({.number = next, .schedule_step = next, .lr = {}, .only_phase = {}});
  }
  MemoryLedger ledger;
  std::unique_ptr<Session> session;
  int64_t before = 0, next = 1;
};

// Each in whole `units`.
int64_t bytes_of(const std::vector<Parameter>& parameters, int64_t unit = 1) {
  int64_t bytes = 0;
  for (const Parameter& p : parameters) bytes += (p.shape.elements() * size_of(p.dtype) + unit - 1) / unit * unit;
  return bytes;
}

// CUDA's caching allocator tells a profiler of blocks as it rounds them, not of what was asked for.
int64_t unit_of_blocks(const Device& device) { return device == Device::kCpu ? 1 : 512; }

int64_t held(const MemoryLog& log) {
  int64_t bytes = 0;
  for (const MemoryBlock& block : log.blocks) bytes += block.freed == kNeverFreed ? block.held : 0;
  return bytes;
}

// Of a step with a convolution's result (4, 3, 4, 4): what `rest` makes of it, then a square.
MemoryLog log_behind(const std::function<Tensor(Builder&, const Tensor&)>& rest) {
  Program program = {.model = "kept", .config = "toy"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 2, 4, 4});
  g.loss("sum", g.sum(g.square(rest(g, g.conv2d("conv", x, {.out = 3, .kernel = 1})))));
  g.update({});
  program.step = {{.phase = "train"}};
  Watched watched(program);
  watched.steps(1);
  return watched.ledger.log();
}
// Bytes that backward keeps.
int64_t kept_behind(const std::function<Tensor(Builder&, const Tensor&)>& rest) {
  int64_t kept = 0;
  for (const MemoryBlock& block : log_behind(rest).blocks)
    if (block.kind == MemoryClass::feature_map) kept += block.requested;
  return kept;
}
constexpr int64_t kMap = 4 * 3 * 4 * 4 * 4, kOfChannels = 3 * 4;
int64_t kept_behind_a_norm(const BatchNorm& norm) {
  return kept_behind([&](Builder& g, const Tensor& y) { return g.relu(g.batch_norm("bn", y, norm)); });
}

// The convolution keeps its input, the norm its input and two statistics, the square, which has the storage of the
// relu, its operand.
// Both are no tensor's, and stay.
TEST(MemoryPass, ThereIsMemoryThatLibrariesKeep) {
  if (!at::hasMKL() || !at::hasMKLDNN()) GTEST_SKIP() << "this PyTorch was built without MKL or oneDNN";
  const at::Tensor x = at::randn({1024, 1024});
  at::mm(x, x);
  at::conv2d(at::randn({4, 16, 64, 64}), at::randn({16, 16, 3, 3}));
  const ProcessMemory memory = process_memory().value();
  EXPECT_GT(memory.mkl_bytes, 0);
  EXPECT_GT(memory.made_code_bytes, 0);
}

TEST(MemoryPass, FeatureMapsAreWhatBackwardKeeps) { EXPECT_EQ(kept_behind_a_norm({}), 2 * kMap + 2 * kOfChannels); }

TEST(MemoryPass, AFrozenNormKeepsItsScaleAlone) {
  EXPECT_EQ(kept_behind_a_norm({.stats = BatchNorm::Stats::frozen}), kMap + kOfChannels);
}

// The square keeps the channels that the gather takes; its positions are an input.
TEST(MemoryPass, AGatherKeepsNothingOfWhatItReads) {
  const int64_t kept = kept_behind([](Builder& g, const Tensor& y) {
    return g.gather(y, g.input("channel", {Builder::batch(), 1}, DType::i32));
  });
  EXPECT_EQ(kept, kMap / 3);
}

// The square keeps the cells.
TEST(MemoryPass, APoolOfOneCellKeepsNothing) {
  const int64_t kept =
      kept_behind([](Builder& g, const Tensor& y) { return g.max_pool(y, {.kernel = 1, .stride = 2}); });
  EXPECT_EQ(kept, kMap / 4);
}

// Of a map, its target and weights of samples, which are made in forward. The square keeps the term.
TEST(MemoryPass, HuberKeepsItsSlopeAlone) {
  const int64_t kept = kept_behind([](Builder& g, const Tensor& y) {
    const Tensor weights = g.affine(g.input("weights", {Builder::batch()}), 2);
    return g.node(Huber{}, {y, g.stop_gradient(g.affine(y, 2)), weights});
  });
  EXPECT_EQ(kept, kMap + 4);
}

// Six boxes at the first cell, which are made in forward.
struct Boxes {
  explicit Boxes(Builder& g) : rois(g.affine(g.input("rois", {6, 5}), 0)), level(g.input("level", {6}, DType::i32)) {}
  Tensor rois, level;
};
Tensor patches(Builder& g, std::vector<Tensor> maps, const Boxes& boxes) {
  const std::vector<double> scales(maps.size(), 1);
  maps.push_back(boxes.rois);
  maps.push_back(boxes.level);
  return g.node(RoiAlign{.out = 2, .scales = scales}, maps);
}

// The square keeps the patches.
TEST(MemoryPass, RoiAlignKeepsItsBoxesAlone) {
  const int64_t kept = kept_behind([](Builder& g, const Tensor& y) { return patches(g, {y}, Boxes(g)); });
  EXPECT_EQ(kept, 6 * 5 * 4 + 6 * 3 * 2 * 2 * 4);
}

// Gradients of the size of the convolution's result.
std::vector<MemoryBlock> gradients_of_maps(const std::function<Tensor(Builder&, const Tensor&)>& rest) {
  std::vector<MemoryBlock> out = log_behind(rest).blocks;
  std::erase_if(
      out, [](const MemoryBlock& block) { return block.phase != MemoryPhase::backward || block.requested != kMap; });
  return out;
}

// The second gradient of a map is added to the first, in no place of its own; the convolution copies it once.
TEST(MemoryPass, GradientsOfRoiAlignAddUpInPlace) {
  const auto read_twice = [](Builder& g, const Tensor& y) {
    const Boxes boxes(g);
    return g.concat({patches(g, {y}, boxes), patches(g, {y}, boxes)});
  };
  EXPECT_EQ(gradients_of_maps(read_twice).size(), 3);
}

// Two maps have a gradient each when those of the second reading are made, one after the other.
TEST(MemoryPass, RoiAlignMakesTheGradientOfOneMapAtATime) {
  const std::vector<MemoryBlock> made = gradients_of_maps([](Builder& g, const Tensor& y) {
    const Boxes boxes(g);
    const Tensor z = g.affine(y, 2);
    return g.concat({patches(g, {y, z}, boxes), patches(g, {y, z}, boxes)});
  });
  const auto beside = [&](const MemoryBlock& last) {
    return std::ranges::count_if(made,
                                 [&](const MemoryBlock& b) { return b.born <= last.born && last.born < b.freed; });
  };
  int64_t most = 0;
  for (const MemoryBlock& block : made) most = std::max<int64_t>(most, beside(block));
  EXPECT_EQ(most, 3);
}

// No box is read from the second map: reading from the first alone allows no other level. What made that map has no
// gradient either.
TEST(MemoryPass, AMapWithoutBoxesHasNoGradient) {
  const auto second_map = [](Builder& g, const Tensor& y) {
    const Boxes boxes(g);
    const Tensor z = g.conv2d("second", y, {.out = 3, .kernel = 1});
    return g.concat({patches(g, {y}, boxes), patches(g, {y, z}, boxes)});
  };
  EXPECT_EQ(gradients_of_maps(second_map).size(), 3);
}

void expect_closed_memory(const std::string& toy, const Device& device) {
  const Program program = toy_program(toy);
  Watched watched(program, device);
  watched.steps(2);
  const int64_t after_two = watched.ledger.live_bytes();
  watched.steps(2);
  const MemoryTotals live = watched.ledger.live();
  const MemoryLog log = watched.ledger.log();
  EXPECT_EQ(held(log), *watched.session->memory().live_bytes - watched.before) << "to the byte";
  EXPECT_EQ(all(live), watched.ledger.live_bytes());
  EXPECT_EQ(of(live, MemoryClass::weight), bytes_of(program.parameters, unit_of_blocks(device)));
  EXPECT_EQ(of(live, MemoryClass::weight_grad), 0);
  EXPECT_EQ(of(live, MemoryClass::feature_map), 0) << "kept between steps";
  EXPECT_EQ(of(live, MemoryClass::activation_grad), 0) << "kept between steps";
  EXPECT_EQ(watched.ledger.live_bytes(), after_two) << "a leak";
}

class MemoryOf : public testing::TestWithParam<const char*> {};

TEST_P(MemoryOf, AddsUpToTheAllocatorAndIsGivenBack) { expect_closed_memory(GetParam(), Device::kCpu); }

TEST(MemoryOnGpu, AddsUpToTheAllocatorAndIsGivenBack) {
  if (const std::string why = why_not_on(kFirstGpu); !why.empty()) GTEST_SKIP() << why;
  for (const char* toy : kWatchedToys) {
    SCOPED_TRACE(toy);
    expect_closed_memory(toy, kFirstGpu);
  }
}

// On the CPU oneDNN and products of matrices take scratch from torch's allocator within their ops: of all blocks that
// are called a library's, each was workspace before, so that no tensor is among them.
TEST_P(MemoryOf, NoTensorIsTakenForScratchOfALibrary) {
  const Program program = toy_program(GetParam());
  MemoryTotals sums[2] = {};
  for (const bool told : {false, true}) {
    Watched watched(program);
    std::optional<TensorWatch> tensors;
    if (told) tensors.emplace(watched.ledger);
    watched.steps(2);
    for (const MemoryBlock& block : watched.ledger.log().blocks)
      sums[told][static_cast<size_t>(block.kind)] += block.requested;
  }
  int64_t& workspace = sums[true][static_cast<size_t>(MemoryClass::workspace)];
  workspace += std::exchange(sums[true][static_cast<size_t>(MemoryClass::library_workspace)], 0);
  EXPECT_EQ(sums[true], sums[false]);
}

INSTANTIATE_TEST_SUITE_P(Toys, MemoryOf, testing::ValuesIn(kWatchedToys),
                         [](const auto& info) { return std::string(info.param); });

// Takes scratch from torch's allocator as libraries do on a GPU: each convolution frees its own before it ends, as
// cuDNN's; the first matrix product's is kept with the handle, as cuBLAS's.
class ScriptedLibraries {
 public:
  static constexpr int64_t kOfConvolution = 3001, kOfHandle = 5003;

  ScriptedLibraries() {
    handle.clear();
    callback_ = at::addGlobalCallback(at::RecordFunctionCallback(&begin, &end).scopes({at::RecordScope::FUNCTION}));
  }
  ~ScriptedLibraries() {
    at::removeCallback(callback_);
    handle.clear();
  }

 private:
  struct Scratch final : at::ObserverContext {
    c10::DataPtr block = c10::GetCPUAllocator()->allocate(kOfConvolution);
  };
  static inline c10::DataPtr handle;

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    if (!std::strcmp(function.name(), "aten::addmm") && !handle) handle = c10::GetCPUAllocator()->allocate(kOfHandle);
    const bool convolves = !std::strcmp(function.name(), "aten::convolution") ||
                           !std::strcmp(function.name(), "aten::convolution_backward");
    return convolves ? std::make_unique<Scratch>() : nullptr;
  }
  static void end(const at::RecordFunction&, at::ObserverContext*) {}

  uint64_t callback_;
};

TEST(MemoryPass, ScratchOfLibrariesIsAClassOfItsOwn) {
  Program program = {.model = "scratch", .config = "toy"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 2, 4, 4});
  const Tensor y = g.linear("fc", g.global_mean(g.conv2d("conv", x, {.out = 3, .kernel = 1})), {.out = 2});
  g.loss("sum", g.sum(g.square(y)));
  g.update({});
  program.step = {{.phase = "train"}};
  Watched watched(program);
  const TensorWatch tensors(watched.ledger);
  const ScriptedLibraries libraries;
  watched.steps(2);
  EXPECT_EQ(of(watched.ledger.live(), MemoryClass::library_workspace), ScriptedLibraries::kOfHandle);
  std::map<std::pair<int64_t, MemoryPhase>, int64_t> blocks;
  const MemoryLog log = watched.ledger.log();
  for (const MemoryBlock& block : log.blocks) {
    if (block.kind != MemoryClass::library_workspace) continue;
    ++blocks[{block.requested, block.phase}];
    EXPECT_EQ(log.nodes[static_cast<size_t>(block.node)],
              block.requested == ScriptedLibraries::kOfHandle ? "fc" : "conv");
  }
  const std::map<std::pair<int64_t, MemoryPhase>, int64_t> expected = {
      {{ScriptedLibraries::kOfConvolution, MemoryPhase::forward}, 2},
      {{ScriptedLibraries::kOfConvolution, MemoryPhase::backward}, 2},
      {{ScriptedLibraries::kOfHandle, MemoryPhase::forward}, 1}};
  EXPECT_EQ(blocks, expected);
}

TEST(MemoryPass, WeightsAndTheirStateBelongToTheNodeThatReadsThem) {
  const Program program = toy_program("conv_forms");
  Watched watched(program);
  watched.steps(1);
  for (const MemoryBlock& block : watched.ledger.log().blocks) {
    if (block.kind != MemoryClass::weight) continue;
    EXPECT_GE(block.node, 0);
  }
}

TEST(MemoryPass, APlantedAllocationIsFoundWithItsSize) {
  Watched watched(toy_program("mlp20"));
  watched.steps(1);
  const int64_t before = watched.ledger.live_bytes();
  const at::Tensor planted = at::empty({1'000'003}, at::TensorOptions(at::kByte));
  EXPECT_EQ(watched.ledger.live_bytes() - before, 1'000'003);
  EXPECT_EQ(of(watched.ledger.live(), MemoryClass::temporary), 1'000'003) << "it has no role in the graph";
  const MemoryBlock& block = watched.ledger.log().blocks.back();
  EXPECT_EQ(block.requested, 1'000'003);
  EXPECT_EQ(block.phase, MemoryPhase::update);
}

TEST(MemoryPass, GradientsOfWeightsBelongToTheirNodes) {
  const Program program = toy_program("mlp20");
  Watched watched(program);
  watched.steps(1);
  const MemoryLog log = watched.ledger.log();
  int64_t bytes = 0;
  for (const MemoryBlock& block : log.blocks) {
    if (block.kind != MemoryClass::weight_grad) continue;
    bytes += block.requested;
    EXPECT_EQ(block.phase, MemoryPhase::backward);
    ASSERT_GE(block.node, 0);
  }
  EXPECT_EQ(bytes, bytes_of(program.parameters));
}

}  // namespace
}  // namespace tbd::pytorch
