// What memory did during a launch of the memory pass, block by block (Zhu et al. 2018, section 3.4.3, of whose
// profilers this keeps frees, the instant of the peak and every class). In a record:
// launches/memory-<n>/memory.safetensors.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

// Exhaustive and exclusive: a block has one at a time.
enum class MemoryClass : uint8_t {
  weight,
  weight_grad,
  feature_map,      // made in forward, kept for backward: masks and saved statistics too
  activation_grad,  // made in backward, no gradient of a parameter
  optimizer_state,
  workspace,  // made and freed inside one op
  temporary,  // other tensors
  input,      // batches and labels
  auxiliary,  // running statistics, averages
  comm,       // buckets, staging
  runtime,    // of the framework itself
  tool,       // of the measurement
  planned,    // feature maps, gradients of activations, workspace and temporaries in one: memory that a framework plans
              // as a whole and does not tell apart
  unexplained,       // no rule says what it is
  library_workspace  // no tensor: scratch of cuBLAS, cuDNN and of kernels, whether kept or freed inside one op
};
inline constexpr size_t kMemoryClasses = static_cast<size_t>(MemoryClass::library_workspace) + 1;
std::string_view name(MemoryClass kind);

// How much a framework lets be known.
enum class MemoryEvidence : uint8_t {
  exact,    // every block of its allocator, as it comes and goes
  partial,  // most blocks, by what the framework records; what is missing is a residual
  plan,     // what is owned is exact, what is planned is one sum
};
std::string_view name(MemoryEvidence evidence);

enum class MemoryPhase : uint8_t { setup, input, forward, backward, update };
std::string_view name(MemoryPhase phase);

inline constexpr uint32_t kNeverFreed = std::numeric_limits<uint32_t>::max();

// One storage from its allocation to its release. Events are allocations and releases, numbered from 0 in their order.
struct MemoryBlock {
  int64_t requested = 0;         // bytes asked for
  int64_t held = 0;              // as the allocator rounds them: requested <= held
  uint32_t born = 0;             // event of its allocation
  uint32_t freed = kNeverFreed;  // event of its release
  int32_t node = -1;             // of MemoryLog::nodes, whose work made it; -1: none
  MemoryClass kind = MemoryClass::unexplained;
  MemoryPhase phase = MemoryPhase::setup;  // in which it was made
};
static_assert(sizeof(MemoryBlock) <= 32);

// From this event on, work is of this step (0: before the first) and phase.
struct MemoryMark {
  uint32_t event = 0;
  int64_t time_ns = 0, step = 0;
  MemoryPhase phase = MemoryPhase::setup;
};

struct MemoryLog {
  std::vector<MemoryBlock> blocks;  // in the order of their allocation
  std::vector<int64_t> event_ns;    // when each event was, on one monotonic clock
  std::vector<MemoryMark> marks;    // in order
  std::vector<std::string> nodes;   // names
  int64_t unknown_frees = 0;        // releases of what was allocated before the log began: not events
  MemoryEvidence evidence = MemoryEvidence::exact;
  std::string note;  // what is not told apart or missing, and why; one paragraph, may be empty
};

// Throws Error(io). One file, replaced atomically.
void write_memory_log(const std::filesystem::path& path, const MemoryLog& log);
// Throws Error(invalid) with the file's name where columns differ in length, an event is not there or occurs twice, a
// release comes before its allocation, sizes are negative or a class, phase or node is none of those named.
MemoryLog read_memory_log(const std::filesystem::path& path);

}  // namespace tbd
