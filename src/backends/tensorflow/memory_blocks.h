// Which memory a run took, when it gave it back and for what: from TensorFlow's records of allocations, which say when
// and how much, and its descriptions of tensors, which say where each lies.
#pragma once
#include <map>
#include <optional>

#include "backends/tensorflow/origins.h"
#include "backends/tensorflow/run_record.h"
#include "record/memory_log.h"

namespace tbd::tensorflow {

struct RunBlock {
  int64_t bytes = 0, born = 0;   // of now_ns()
  std::optional<int64_t> freed;  // none where no record says so
  int32_t node = -1;
  MemoryPhase phase = MemoryPhase::forward;  // of the op that made it
  MemoryClass kind = MemoryClass::temporary;
  std::string variable = {};  // whose new value it is: the resource's op
};

struct RunBlocks {
  std::vector<RunBlock> blocks;               // in the order of their births
  std::map<std::string, int64_t> last_reads;  // of a variable's value, by its resource's op: when it ended
  int64_t unmatched = 0;                      // releases that fit no allocation
  int64_t counted_at = 0, counted = 0;        // the allocator's own count where it was largest: when, bytes
};

// Classes: the value of a variable is `temporary` here, for the caller to say; what its op gave back itself is
// workspace; of forward ops what a backward op reads is a feature_map; of backward ops what the update reads is a
// weight_grad and all else an activation_grad; the rest is temporary.
// Blocks are those of the allocators of GPUs ("GPU_0_bfc") or of all others.
enum class Blocks { of_host, of_gpu };
RunBlocks blocks_of(const RanOps& ran, const OpOrigins& origins, const OwnClock& clock, Blocks where = Blocks::of_host);

}  // namespace tbd::tensorflow
