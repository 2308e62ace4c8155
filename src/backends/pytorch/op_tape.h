// What the ops of one thread leave while they are recorded. Only that thread writes, so nothing locks; equal ops share
// a signature, so that an op costs one record of fixed size.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/event.h"

namespace at {
struct RecordFunction;
}

namespace tbd::pytorch {

struct OpRecord {
  int64_t begin = 0, end = -1;  // by now_ns(); -1: has not ended
  int64_t sequence = -1;        // torch's; -1: none
  uint64_t forward_thread = 0;  // by torch's count, of a function of autograd
  int32_t node = -1;            // in node_names(program)
  uint32_t signature = 0;       // in OpTape::signatures
  EventKind kind = EventKind::op;
  EventPhase phase = EventPhase::unknown;
};

class OpTape {
 public:
  OpTape();  // of the calling thread

  // From here on the ops of the last recording are expected again, in their order: an op that is the expected one is
  // known by its bytes alone, which lie next to those of the op before it.
  void begin_recording() { place_ = 0; }
  // Begins `record` with the function's signature, inside those that are open.
  void open(OpRecord record, const at::RecordFunction& function);
  void close(int64_t end);  // the one opened last; nothing where none is
  OpRecord* innermost();    // of those that are open; nullptr: none is
  void clear();             // records; signatures stay

  const std::vector<OpRecord>& records() const { return records_; }                // by begin
  const std::vector<std::string_view>& signatures() const { return signatures_; }  // op_signature.h
  int64_t thread() const { return thread_; }                                       // of the system
  // Whether a record of a device's profiler means this thread: by the system's number, or, where Kineto was not told
  // that of a thread, by what CUPTI has for it, the lower half of its pthread_t.
  bool is_thread(int64_t number) const;
  uint64_t torch_thread() const { return torch_thread_; }  // by torch's count

  int32_t last_autograd_node = -1;  // of the graph, that a function of autograd here belonged to

 private:
  // Bytes that stay where they are, one after the other.
  class Arena {
   public:
    std::string_view keep(std::string_view bytes);

   private:
    std::vector<std::unique_ptr<char[]>> chunks_;
    char* next_ = nullptr;
    size_t left_ = 0;
  };
  uint32_t interned(std::string_view bytes);
  uint32_t expected_or_interned(std::string_view bytes);

  int64_t thread_;
  uint32_t half_handle_;  // of its pthread_t
  uint64_t torch_thread_;
  std::vector<OpRecord> records_;
  std::vector<size_t> open_;
  std::vector<char> scratch_;
  Arena arena_;
  std::unordered_map<std::string_view, uint32_t> ids_;
  std::vector<std::string_view> signatures_;
  std::vector<uint32_t> expected_;  // signatures of the ops of the last recording, and of this one up to place_
  size_t place_ = 0;
};

}  // namespace tbd::pytorch
