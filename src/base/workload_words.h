// What workloads are named with: kinds of words, with the values that this version knows.
#pragma once
#include <cstdint>
#include <optional>

#include "base/word.h"

namespace tbd {

// Element types of training: docs/conventions.md, Precision.
struct Precision : Word<Precision> {
  using Word::Word;
  static constexpr std::string_view kWhat = "precision";
  static const Precision kFp64, kFp32, kTf32, kBf16, kFp16;
  static const std::vector<Precision> kKnown;
};
inline const Precision Precision::kFp64{"fp64"}, Precision::kFp32{"fp32"}, Precision::kTf32{"tf32"},
    Precision::kBf16{"bf16"}, Precision::kFp16{"fp16"};
inline const std::vector<Precision> Precision::kKnown = {kFp64, kFp32, kTf32, kBf16, kFp16};

// Where a network is trained: "cpu", or "cuda:0" by CUDA's own number. "auto" is a request for a GPU where one answers.
struct Device : Word<Device> {
  using Word::Word;
  static constexpr std::string_view kWhat = "device";
  static const Device kCpu, kAuto;
  static Device gpu(int64_t number);          // "cuda:N"
  std::optional<int64_t> gpu_number() const;  // N of "cuda:N"; absent for others
};
inline const Device Device::kCpu{"cpu"}, Device::kAuto{"auto"};
void require_known(const Device& device);  // Error(usage) on another form

struct Link : Word<Link> {  // between workers that train together: base/link_limits.h; empty: the loopback
  using Word::Word;
};

// The physical order of axes of rank-4 activations.
struct ImageLayout : Word<ImageLayout> {
  using Word::Word;
  static constexpr std::string_view kWhat = "layout";
  static const ImageLayout kNchw, kNhwc;
  static const std::vector<ImageLayout> kKnown;
};
inline const ImageLayout ImageLayout::kNchw{"nchw"}, ImageLayout::kNhwc{"nhwc"};
inline const std::vector<ImageLayout> ImageLayout::kKnown = {kNchw, kNhwc};

// How a framework runs the network; `kKnown` are those that may be asked for.
struct Mode : Word<Mode> {
  using Word::Word;
  static constexpr std::string_view kWhat = "mode";
  static const Mode kEager, kEagerOnednn, kCompile, kCudaGraph, kGraph, kXla, kExternal;
  static const std::vector<Mode> kKnown;
};
inline const Mode Mode::kEager{"eager"}, Mode::kEagerOnednn{"eager-onednn"}, Mode::kCompile{"compile"},
    Mode::kCudaGraph{"cuda-graph"}, Mode::kGraph{"graph"}, Mode::kXla{"xla"}, Mode::kExternal{"external"};
inline const std::vector<Mode> Mode::kKnown = {kEager, kEagerOnednn, kCompile, kCudaGraph, kGraph, kXla};

// Where batches come from: they stay in memory, or are read and decoded while measuring.
struct InputMode : Word<InputMode> {
  using Word::Word;
  static constexpr std::string_view kWhat = "input mode";
  static const InputMode kResident, kPipeline;
  static const std::vector<InputMode> kKnown;
};
inline const InputMode InputMode::kResident{"resident"}, InputMode::kPipeline{"pipeline"};
inline const std::vector<InputMode> InputMode::kKnown = {kResident, kPipeline};

// What is dropped by dropout: the framework draws it, a mask is an input, or nothing.
struct DropoutMode : Word<DropoutMode> {
  using Word::Word;
  static constexpr std::string_view kWhat = "dropout mode";
  static const DropoutMode kFramework, kMask, kOff;
  static const std::vector<DropoutMode> kKnown;
};
inline const DropoutMode DropoutMode::kFramework{"framework"}, DropoutMode::kMask{"mask"}, DropoutMode::kOff{"off"};
inline const std::vector<DropoutMode> DropoutMode::kKnown = {kFramework, kMask, kOff};

// What workers that train together do with their gradients before an update: sum them on all, so that each updates
// every weight; sum each on its one owner, which alone updates the weight and sends it to all (ZeRO stage 1,
// Rajbhandari et al. 2020, arXiv:1910.02054); or nothing, so that each trains alone beside the others.
struct ExchangeMode : Word<ExchangeMode> {
  using Word::Word;
  static constexpr std::string_view kWhat = "exchange";
  static const ExchangeMode kAllReduce, kSharded, kNone;
  static const std::vector<ExchangeMode> kKnown;
};
inline const ExchangeMode ExchangeMode::kAllReduce{"all_reduce"}, ExchangeMode::kSharded{"sharded"},
    ExchangeMode::kNone{"none"};
inline const std::vector<ExchangeMode> ExchangeMode::kKnown = {kAllReduce, kSharded, kNone};

// As what gradients travel between workers: in their own type; rounded to one of two bytes, in which they are summed,
// too; or each matrix as a product of two of so many columns (PowerSGD, Vogels et al. 2019, arXiv:1905.13727).
struct WireType : Word<WireType> {
  using Word::Word;
  static constexpr std::string_view kWhat = "wire type";
  static const WireType kSame, kBf16, kFp16, kLowRank1, kLowRank2, kLowRank4;
  static const std::vector<WireType> kKnown;
};
inline const WireType WireType::kSame{"same"}, WireType::kBf16{"bf16"}, WireType::kFp16{"fp16"},
    WireType::kLowRank1{"low_rank_1"}, WireType::kLowRank2{"low_rank_2"}, WireType::kLowRank4{"low_rank_4"};
inline const std::vector<WireType> WireType::kKnown = {kSame, kBf16, kFp16, kLowRank1, kLowRank2, kLowRank4};

// What gives a worker's process its memory (docs/methodology.md): the C library as it is (stock); the same, told to
// keep what is freed instead of giving it back to the kernel (kept), and to ask for huge pages, too (huge); or a
// library that takes its place.
struct Allocator : Word<Allocator> {
  using Word::Word;
  static constexpr std::string_view kWhat = "allocator";
  static const Allocator kStock, kKept, kHuge, kJemalloc, kMimalloc, kTcmalloc;
  static const std::vector<Allocator> kKnown;
};
inline const Allocator Allocator::kStock{"stock"}, Allocator::kKept{"kept"}, Allocator::kHuge{"huge"},
    Allocator::kJemalloc{"jemalloc"}, Allocator::kMimalloc{"mimalloc"}, Allocator::kTcmalloc{"tcmalloc"};
inline const std::vector<Allocator> Allocator::kKnown = {kStock, kKept, kHuge, kJemalloc, kMimalloc, kTcmalloc};

// How idle compute threads wait: they sleep at once; they spin, for the fastest barriers on cores that nobody else
// uses; or as the framework's runtime has it.
struct WaitPolicy : Word<WaitPolicy> {
  using Word::Word;
  static constexpr std::string_view kWhat = "waiting policy";
  static const WaitPolicy kPassive, kActive, kFramework;
  static const std::vector<WaitPolicy> kKnown;
};
inline const WaitPolicy WaitPolicy::kPassive{"passive"}, WaitPolicy::kActive{"active"},
    WaitPolicy::kFramework{"framework"};
inline const std::vector<WaitPolicy> WaitPolicy::kKnown = {kPassive, kActive, kFramework};

// What is bound to cores: the process, to a set of them, or each of its compute threads to one of its own.
struct Affinity : Word<Affinity> {
  using Word::Word;
  static constexpr std::string_view kWhat = "affinity";
  static const Affinity kProcess, kThread;
  static const std::vector<Affinity> kKnown;
};
inline const Affinity Affinity::kProcess{"process"}, Affinity::kThread{"thread"};
inline const std::vector<Affinity> Affinity::kKnown = {kProcess, kThread};

// What a launch measures: docs/profile.md, Passes. `train` is what a training to a result leaves: no pass to ask for.
struct Pass : Word<Pass> {
  using Word::Word;
  static constexpr std::string_view kWhat = "pass";
  static const Pass kClean, kTrace, kMemory, kTrain;
  static const std::vector<Pass> kKnown;
};
inline const Pass Pass::kClean{"clean"}, Pass::kTrace{"trace"}, Pass::kMemory{"memory"}, Pass::kTrain{"train"};
inline const std::vector<Pass> Pass::kKnown = {kClean, kTrace, kMemory};

}  // namespace tbd
