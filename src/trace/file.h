// The native trace file, trace.tbdt (docs/trace.md): blocks that are compressed and checksummed one by one, appended
// as the trace grows, readable up to the last whole block when the writer died.
#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "trace/chunk.h"
#include "trace/trace.h"

namespace tbd {

constexpr uint32_t kTraceVersion = 1;
constexpr size_t kChunkEvents = 64 << 10;

// An entry of the index at the file's end: a block of events.
struct ChunkPlace {
  int64_t offset = 0, events = 0, begin = 0, end = 0;  // begin: earliest, end: latest
  bool operator==(const ChunkPlace&) const = default;
};

// Writes what is added to `trace()` in chunks; holds one chunk at a time. Not for several threads at once.
class TraceWriter {
 public:
  explicit TraceWriter(std::filesystem::path path);  // a new file; throws Error(io)
  ~TraceWriter();                                    // without finish the file lacks its index, and what is not flushed
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  Trace& trace() { return trace_; }
  void flush();   // what is held becomes a chunk; throws Error(io)
  void finish();  // flush, then the index; nothing may be added afterwards
  int64_t bytes() const { return offset_; }

 private:
  void write_block(char type, const std::string& content, const ChunkPlace& place);

  std::filesystem::path path_;
  std::ofstream out_;
  Trace trace_;
  Written written_;
  std::vector<ChunkPlace> index_;
  int64_t offset_ = 0;
};

// Reads a file chunk by chunk.
class TraceReader {
 public:
  // Throws Error(io, not_found), Error(invalid) when the file is no trace, Error(unsupported) when it is newer.
  explicit TraceReader(std::filesystem::path path);
  // Appends the next chunk to `trace`, with the strings and tracks that it needs; false when there is none. Every call
  // takes the same `trace`; for bounded memory clear its events between calls. Dictionary and faults are complete once
  // it returned false. A torn or damaged end is a fault of `trace` ("bytes lost at the end of the file").
  bool next(Trace& trace);
  int64_t size() const { return size_; }

 private:
  bool read_block(Trace& trace);
  bool torn(Trace& trace, const std::string& reason);

  std::filesystem::path path_;
  std::ifstream in_;
  int64_t offset_ = 0, size_ = 0;
  char type_ = 0;                 // of the block that was read
  std::string stored_, content_;  // of the same
  bool ended_ = false;
};

// Appends all chunks.
void read_trace(const std::filesystem::path& path, Trace& trace);
Trace read_trace(const std::filesystem::path& path);
bool is_trace_file(std::string_view first_bytes);
// The index of a file that was finished; nullopt where there is none.
std::optional<std::vector<ChunkPlace>> read_index(const std::filesystem::path& path);

}  // namespace tbd
