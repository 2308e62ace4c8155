#include "trace/import/nsight.h"

#include <unordered_map>

#include "base/error.h"
#include "trace/codec.h"
#include "trace/import/sqlite.h"
#include "trace/names.h"

namespace tbd {
namespace {

// Ids pack the process above 24 bits of the thread.
int64_t process_of(int64_t global) { return global >> 24 & 0xffffff; }
int64_t thread_of(int64_t global) { return global & 0xffffff; }
constexpr int64_t kPushPop = 59;  // NVTX event type

class NsightImport {
 public:
  NsightImport(const std::filesystem::path& path, Trace& trace) : file_(path), trace_(trace) {}

  void read() {
    read_strings();
    find_ranks();
    read_calls();
    read_kernels("CUPTI_ACTIVITY_KIND_KERNEL");
    read_copies("CUPTI_ACTIVITY_KIND_MEMCPY", EventKind::memcpy);
    read_copies("CUPTI_ACTIVITY_KIND_MEMSET", EventKind::memset);
    read_graphs();
    read_ranges();
    read_overhead();
  }

 private:
  StringId string_of(std::optional<int64_t> id) {
    if (!id) return 0;
    const auto found = strings_.find(*id);
    return found == strings_.end() ? 0 : found->second;
  }
  void read_strings() {
    SqliteRows rows(file_, "StringIds", {"id", "value"});
    while (rows.next()) strings_[rows.integer_or(0, -1)] = trace_.string(rows.text(1));
    SqliteRows meta(file_, "META_DATA_EXPORT", {"name", "value"});
    while (meta.next()) trace_.facts[std::string(meta.text(0))] = meta.text(1);
  }
  void find_ranks() {
    std::set<int64_t> processes;
    for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY"}) {
      SqliteRows rows(file_, table, {"globalPid"});
      while (rows.next()) processes.insert(process_of(rows.integer_or(0, 0)));
    }
    for (const int64_t process : processes) {
      const auto rank = static_cast<int32_t>(ranks_.size());
      ranks_[process] = rank;
    }
  }
  int32_t rank_of(int64_t process) const {
    const auto found = ranks_.find(process);
    return found == ranks_.end() ? 0 : found->second;
  }
  TrackId host(int64_t global) {
    const int64_t process = process_of(global);
    return track({.rank = rank_of(process), .process = process, .thread = thread_of(global)});
  }
  TrackId stream(const SqliteRows& rows, int device, int context, int stream, int global) {
    const int64_t process = process_of(rows.integer_or(global, 0));
    return track({.place = Track::Place::device,
                  .rank = rank_of(process),
                  .device = static_cast<int32_t>(rows.integer_or(device, 0)),
                  .context = rows.integer_or(context, 0),
                  .process = process,
                  .thread = rows.integer_or(stream, 0)});
  }
  TrackId track(const Track& track) {
    if (track == last_track_ && have_last_) return last_;
    last_ = trace_.track(track);
    last_track_ = track;
    have_last_ = true;
    return last_;
  }
  uint32_t link(int64_t process, std::optional<int64_t> correlation) {
    if (!correlation || *correlation == 0) return 0;
    const uint64_t key = static_cast<uint64_t>(process) << 40 ^ static_cast<uint64_t>(*correlation);
    return links_.try_emplace(key, static_cast<uint32_t>(links_.size() + 1)).first->second;
  }
  // False, and counted, when the times cannot be used.
  bool set_times(Event& event, std::optional<int64_t> begin, std::optional<int64_t> end, std::string_view table) {
    if (!begin || !end) {
      trace_.fault("events without a time", table);
      return false;
    }
    if (*begin > *end) {
      trace_.fault("negative durations, not used", table);
      return false;
    }
    if (*begin == 0 && *end == 0) {
      trace_.fault("records with zero stamps, not used", table);
      return false;
    }
    if (*begin < 0) {
      trace_.fault("events beyond the range of time", table);
      return false;
    }
    event.begin = *begin;
    event.duration = *end - *begin;
    return true;
  }
  void read_calls();
  void read_kernels(std::string_view table);
  void read_copies(std::string_view table, EventKind kind);
  void read_graphs();
  void read_ranges();
  void read_overhead();

  SqliteFile file_;
  Trace& trace_;
  std::unordered_map<int64_t, StringId> strings_;
  std::unordered_map<int64_t, int32_t> ranks_;  // by process
  std::unordered_map<uint64_t, uint32_t> links_;
  Track last_track_;
  TrackId last_ = 0;
  bool have_last_ = false;
};

void NsightImport::read_calls() {
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
  SqliteRows rows(file_, kTable, {"start", "end", "globalTid", "correlationId", "nameId"});
  while (rows.next()) {
    Event event{.kind = EventKind::api};
    if (!set_times(event, rows.integer(0), rows.integer(1), kTable)) continue;
    const int64_t global = rows.integer_or(2, 0);
    event.link = link(process_of(global), rows.integer(3));
    event.name = string_of(rows.integer(4));
    if (is_sync_call(trace_.strings()[event.name])) event.kind = EventKind::sync;
    event.track = host(global);
    trace_.add(event);
  }
}

void NsightImport::read_kernels(std::string_view table) {
  SqliteRows rows(file_, table,
                  {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "demangledName",
                   "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread",
                   "staticSharedMemory", "dynamicSharedMemory"});
  const auto extent = [&](int column) { return static_cast<uint32_t>(rows.integer_or(column, 0)); };
  while (rows.next()) {
    Event event{.kind = EventKind::kernel};
    if (!set_times(event, rows.integer(0), rows.integer(1), table)) continue;
    event.link = link(process_of(rows.integer_or(6, 0)), rows.integer(5));
    event.name = string_of(rows.integer(7));
    if (event.name == 0) event.name = string_of(rows.integer(8));
    event.track = stream(rows, 2, 3, 4, 6);
    if (is_collective_kernel(trace_.strings()[event.name])) {
      event.kind = EventKind::collective;
    } else {
      event.detail = trace_.detail(KernelDetail{.grid = {extent(9), extent(10), extent(11)},
                                                .block = {extent(12), extent(13), extent(14)},
                                                .registers = extent(15),
                                                .shared = wrapped_sum(rows.integer_or(16, 0), rows.integer_or(17, 0))});
    }
    trace_.add(event);
  }
}

void NsightImport::read_copies(std::string_view table, EventKind kind) {
  constexpr std::pair<std::string_view, CopyDirection> kKinds[] = {{"Memcpy", CopyDirection::unknown},
                                                                   {"Memcpy HtoD", CopyDirection::to_device},
                                                                   {"Memcpy DtoH", CopyDirection::to_host},
                                                                   {"Memcpy HtoA", CopyDirection::to_device},
                                                                   {"Memcpy AtoH", CopyDirection::to_host},
                                                                   {"Memcpy AtoA", CopyDirection::on_device},
                                                                   {"Memcpy AtoD", CopyDirection::on_device},
                                                                   {"Memcpy DtoA", CopyDirection::on_device},
                                                                   {"Memcpy DtoD", CopyDirection::on_device},
                                                                   {"Memcpy HtoH", CopyDirection::on_host},
                                                                   {"Memcpy PtoP", CopyDirection::between_devices}};
  SqliteRows rows(
      file_, table,
      {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "bytes", "copyKind"});
  while (rows.next()) {
    Event event{.kind = kind};
    if (!set_times(event, rows.integer(0), rows.integer(1), table)) continue;
    const int64_t copy = rows.integer_or(8, 0);
    const auto& [name, direction] = kKinds[copy > 0 && copy < 11 ? copy : 0];
    event.name = trace_.string(kind == EventKind::memset ? "Memset" : name);
    event.link = link(process_of(rows.integer_or(6, 0)), rows.integer(5));
    event.track = stream(rows, 2, 3, 4, 6);
    event.detail = trace_.detail(CopyDetail{.bytes = rows.integer_or(7, 0), .direction = direction});
    trace_.add(event);
  }
}

void NsightImport::read_graphs() {
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
  SqliteRows rows(file_, kTable,
                  {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphId"});
  while (rows.next()) {
    Event event{.kind = EventKind::kernel};
    if (!set_times(event, rows.integer(0), rows.integer(1), kTable)) continue;
    event.link = link(process_of(rows.integer_or(6, 0)), rows.integer(5));
    event.name = trace_.string(cat("CUDA graph ", rows.integer_or(7, 0)));
    event.track = stream(rows, 2, 3, 4, 6);
    trace_.add(event);
    trace_.fault("CUDA graphs traced as a whole: their kernels are hidden", kTable);
  }
}

void NsightImport::read_ranges() {
  SqliteRows rows(file_, "NVTX_EVENTS", {"start", "end", "text", "textId", "eventType", "globalTid"});
  while (rows.next()) {
    if (rows.integer_or(4, 0) != kPushPop || !rows.integer(1)) continue;
    Event event{.kind = EventKind::annotation};
    if (!set_times(event, rows.integer(0), rows.integer(1), "NVTX_EVENTS")) continue;
    event.name = rows.text(2).empty() ? string_of(rows.integer(3)) : trace_.string(rows.text(2));
    const std::string_view name = trace_.strings()[event.name];
    event.kind = is_step(name) ? EventKind::step : is_input(name) ? EventKind::input : EventKind::annotation;
    event.phase = phase_of(name);
    event.track = host(rows.integer_or(5, 0));
    trace_.add(event);
  }
}

void NsightImport::read_overhead() {
  SqliteRows rows(file_, "PROFILER_OVERHEAD", {"start", "end", "globalTid", "nameId"});
  while (rows.next()) {
    Event event{.kind = EventKind::overhead};
    if (!set_times(event, rows.integer(0), rows.integer(1), "PROFILER_OVERHEAD")) continue;
    event.name = string_of(rows.integer(3));
    event.track = host(rows.integer_or(2, 0));
    trace_.add(event);
  }
}

}  // namespace

void import_nsight(const std::filesystem::path& path, Trace& trace) {
  const size_t before = trace.size();
  NsightImport import(path, trace);
  try {
    import.read();
  } catch (const Error& e) {
    if (trace.size() == before) throw;
    trace.fault("the file is damaged, the rest was not read", e.what());
  }
}

}  // namespace tbd
