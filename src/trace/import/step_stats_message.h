// What TensorFlow's step statistics say, message by message (tensorflow/core/framework/step_stats.proto), read as wire
// bytes. Views point into the bytes. Every function throws Error(invalid) on malformed ones.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tbd {

struct StepStatsAllocation {
  int64_t at_us = 0;
  int64_t bytes = 0;  // negative: given back
  std::string_view allocator = {};
};

struct StepStatsUse {  // as the allocator itself counts
  std::string_view allocator;
  int64_t bytes = 0;  // at the op's end; 0 where it does not count
};

struct StepStatsOutput {  // of an op
  int64_t slot = 0;
  int64_t type = 0;  // a DataType
  std::vector<int64_t> shape;
  int64_t requested = 0;   // bytes
  int64_t allocation = 0;  // counts the allocations of the op that made the memory, from 1; 0 where nothing is known
  uint64_t pointer = 0;
  std::string_view allocator = {};
};

// NodeExecStats. Times are of the op itself, without queueing.
struct StepStatsNode {
  std::string_view name, label;
  int64_t thread = 0;
  std::vector<StepStatsAllocation> allocations;  // in order
  std::vector<StepStatsOutput> outputs;
  std::vector<StepStatsUse> in_use;  // of the allocators that it took from

  // Nanoseconds of the wall clock, in microseconds' steps where the writer knew no better. nullopt: impossible ones.
  std::optional<int64_t> begin() const { return at(op_start_us, op_start_ns); }
  std::optional<int64_t> end() const { return at(op_end_us, op_end_ns); }

  int64_t all_start_us = 0, op_start_us = 0, op_end_us = 0;
  int64_t all_start_ns = 0, op_start_ns = 0, op_end_ns = 0;

 private:
  std::optional<int64_t> at(int64_t relative_us, int64_t relative_ns) const;
};

struct StepStatsDevice {
  std::string_view name;
  std::vector<std::string_view> nodes;  // messages, for step_stats_node
};

// (start + relative) * unit; nullopt beyond int64.
std::optional<int64_t> checked_time(int64_t start, int64_t relative, int64_t unit);

// Of a serialised RunMetadata or StepStats; throws WireError where it is malformed.
std::vector<StepStatsDevice> step_stats_devices(std::string_view message);
// The same, keeping those before the fault.
void add_step_stats_devices(std::string_view message, std::vector<StepStatsDevice>& devices);
StepStatsNode step_stats_node(std::string_view message);

// "conv1 = Conv2D(x, w:1, ^c)": "Conv2D" and {"x", "w:1"}, without what is only waited for; empty where a label does
// not say it.
std::string_view op_type(std::string_view label);
std::vector<std::string_view> op_inputs(std::string_view label);

}  // namespace tbd
