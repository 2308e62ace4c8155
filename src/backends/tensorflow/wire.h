// Messages of protocol buffers as bytes, for the options that the C API takes: no second protobuf enters the process.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbd::tensorflow {

// Fields are written in the order of the calls.
class WireMessage {
 public:
  WireMessage& integer(uint32_t field, int64_t value);  // int32, int64, bool, enum; negative ones take ten bytes
  WireMessage& text(uint32_t field, std::string_view bytes);
  WireMessage& number(uint32_t field, float value);  // the only one of a repeated field
  WireMessage& message(uint32_t field, const WireMessage& inner) { return text(field, inner.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value);
  std::string bytes_;
};

struct SessionSettings {
  int64_t intra_op_threads = 1, inter_op_threads = 1;
  std::optional<int64_t> gpu = {};        // its index; the session sees no other, and takes of its memory what it needs
  std::optional<int64_t> gpu_bytes = {};  // at most, by whole MiB
  bool trace_gpu = false;                 // in traced runs its own work, too; not part of the bytes
  bool xla = false;                       // compiled on the first run; not part of the bytes
  std::string server = {};                // that runs the graph, as TensorFlow names it; not part of the bytes
  std::string only_device = {};           // of that server's cluster: the session sees no other
};
// ConfigProto (tensorflow/core/protobuf/config.proto).
std::string session_config(const SessionSettings& settings);
// RunOptions of the same file: trace_level SOFTWARE_TRACE, whose step statistics are those of the executor; or
// FULL_TRACE, which starts a profiler of devices besides. A server gives step statistics with FULL_TRACE alone, and
// starts no profiler.
std::string traced_run_options(bool with_devices);

}  // namespace tbd::tensorflow
