// A workload: as it is asked for, and as it was measured. What is true of each of its axes is a row in axes.cc.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/workload_words.h"

namespace tbd {

// As a batch: the largest that fits into the memory budget, found by running before the workload is measured.
inline constexpr int64_t kLargestThatFits = -1;

// The request.
struct Workload {
  std::string model;                  // a name, or the path of a program file
  std::string config;                 // empty: the model's default
  std::string framework = "pytorch";  // "pytorch", "pytorch@2.11", "pytorch@DIR"
  int64_t batch = 0;                  // samples in one forward pass per worker; 0: the default batch (default_batch)
  int64_t accumulate = 1;             // times as many micro-batches an update as the network itself takes
  Precision precision = Precision::kFp32;
  Device device = Device::kCpu;
  int64_t threads = 0;  // inside an op, per worker; 0: one per usable core
  int64_t interop = 1;  // ops that may run at once, each on `threads` threads
  int64_t workers = 1;  // that train the network together, a batch each
  Link link;            // between several workers; empty: the loopback
  ExchangeMode exchange = ExchangeMode::kAllReduce;
  WireType wire = WireType::kSame;
  int64_t every = 1;                    // World::every
  std::optional<int64_t> bucket_bytes;  // of gradients that workers sum at once; absent: kBucketBytes
  ImageLayout layout;                   // empty: the framework's usual one for the precision
  Mode mode;                            // empty: the framework's usual one
  InputMode input_mode = InputMode::kResident;
  int64_t prefetch = 3;  // of pipeline input: batches prepared ahead at most
  DropoutMode dropout = DropoutMode::kFramework;
  Allocator allocator = Allocator::kStock;
  WaitPolicy wait = WaitPolicy::kPassive;
  Affinity affinity = Affinity::kProcess;
  std::string data;                            // a dataset folder; empty: synthetic
  uint64_t seed = 0;                           // of weights, order and augmentation
  std::optional<int64_t> memory_budget_bytes;  // for the worker's data, enforced; absent: the machine's memory
  bool operator==(const Workload&) const = default;
};

// What was trained, on what, how: the identity of a record (docs/profile.md, Passes). Axes that the request left open
// are filled in; the model is named as its program names it, the framework without its build, and the mode as the
// worker says it.
struct MeasuredWorkload : Workload {
  std::string model_hash, lowered_hash;
  std::string framework_version;
  int64_t samples_per_step = 0;          // samples that one step trains on: batch * repeats * accumulation * workers
  std::string unit;                      // of throughput, per second: "images", "tokens"
  std::string effort = "quick";          // smoke, quick, publish
  std::string optimizer;                 // with its path: "sgd foreach"
  std::string synchronisation = "step";  // step, events
  std::optional<std::string> data_hash;  // of the data set and its preparation
  bool unpinned = false;                 // the framework's build is outside the lock file
  std::string repro;                     // the command line that measures the workload again, for people
};

// "8", or "largest" for kLargestThatFits, and back. Throws Error(invalid) that begins with `what` on another text.
int64_t batch_from(const std::string& text, std::string_view what);
std::string batch_text(int64_t batch);
// A whole number from 1. Throws as batch_from.
int64_t count_from(const std::string& text, std::string_view what);

// "tbd run resnet50 --framework pytorch --batch 8 ...": the command that measures the workload again, for people and
// their shells. `effort` may be empty.
std::string repro_line(const Workload& workload, std::string_view effort = {});
// "resnet50-pytorch-fp32-b8-t2-nchw-resident": its folder, of letters, digits, '.', '_' and '-'.
std::string folder_name(const Workload& workload);
// Text that a shell reads as one word.
std::string shell_word(const std::string& word);

}  // namespace tbd
