#include "backends/tensorflow/device_trace.h"

#include <unistd.h>

#include <optional>

#include "base/text.h"
#include "trace/names.h"

namespace tbd::tensorflow {
namespace {

// The whole number behind the word; nullopt where there is none.
std::optional<int64_t> number_after(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + word.size());
  return parse_int(rest.substr(0, rest.find_first_not_of("0123456789")));
}

// What a device of the profiler holds: "/device:GPU:0/stream:13", "…/stream:13<MemcpyH2D>", "…/stream:" of what is
// neither kernel nor copy, "…/sync" of the host's waits. "…/stream:all" and "…/memcpy" repeat the rows of streams.
struct DeviceRows {
  enum class What { kernels, copies, fills, waits, repeated } what = What::repeated;
  int32_t device = 0;
  int64_t stream = -1;
};

DeviceRows rows_of(std::string_view device) {
  DeviceRows rows{.device = static_cast<int32_t>(number_after(device, "device:GPU:").value_or(0)),
                  .stream = number_after(device, "/stream:").value_or(-1)};
  if (device.ends_with("/sync")) rows.what = DeviceRows::What::waits;
  if (device.ends_with("/stream:")) rows.what = DeviceRows::What::fills;
  if (rows.stream >= 0) rows.what = device.ends_with('>') ? DeviceRows::What::copies : DeviceRows::What::kernels;
  return rows;
}

// A kernel's label is its name, which may hold blanks, and what it was started with: "regs:32 static_shared:0
// dynamic_shared:48 grid:10,1,1 block:256,1,1 occ_pct:100".
constexpr std::string_view kBeginOfDetails = " regs:";

std::string_view kernel_name(std::string_view label) { return label.substr(0, label.rfind(kBeginOfDetails)); }

std::array<uint32_t, 3> three_after(std::string_view text, std::string_view word) {
  std::array<uint32_t, 3> out{};
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return out;
  std::string_view rest = text.substr(at + word.size());
  for (uint32_t& each : out) {
    const size_t end = rest.find_first_not_of("0123456789");
    each = static_cast<uint32_t>(parse_int(rest.substr(0, end)).value_or(0));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return out;
}

KernelDetail kernel_detail(std::string_view label) {
  const size_t begin = label.rfind(kBeginOfDetails);
  if (begin == std::string_view::npos) return {};
  const std::string_view details = label.substr(begin);
  return {.grid = three_after(details, " grid:"),
          .block = three_after(details, " block:"),
          .registers = static_cast<uint32_t>(number_after(details, kBeginOfDetails).value_or(0)),
          .shared = number_after(details, " static_shared:").value_or(0) +
                    number_after(details, " dynamic_shared:").value_or(0)};
}

// "MemcpyH2D kind_src:pageable kind_dst:device size:4096 dest:0 async:1".
CopyDetail copy_detail(std::string_view label) {
  const auto holds = [&](std::string_view part) { return label.starts_with(part); };
  return {.bytes = number_after(label, " size:").value_or(0),
          .direction = holds("MemcpyH2D")   ? CopyDirection::to_device
                       : holds("MemcpyD2H") ? CopyDirection::to_host
                       : holds("MemcpyD2D") ? CopyDirection::on_device
                       : holds("MemcpyP2P") ? CopyDirection::between_devices
                                            : CopyDirection::unknown};
}

class DeviceTrace {
 public:
  DeviceTrace(const OwnClock& clock, const OpOrigins& origins, const std::vector<std::string>& nodes, Trace& trace)
      : clock_(clock), origins_(origins), nodes_(nodes), trace_(trace) {}

  void add(const DeviceRows& rows, const StepStatsNode& row) {
    const auto begin = row.begin(), end = row.end();
    if (!begin || !end || *begin == 0 || *end < *begin)
      return trace_.fault("work of a device without a time, not used", row.name);
    const Origin origin = origin_of(row.name);
    Event event{.begin = clock_.at(*begin), .track = track_of(rows, row), .phase = origin.phase};
    event.duration = clock_.at(*end) - event.begin;
    fill(event, rows, row, origin);
    trace_.add(event);
  }
  int64_t kernels() const { return kernels_; }

 private:
  // DeviceRows are named after the op that started them, "scope/conv1:Conv2D", where the profiler knew it.
  Origin origin_of(std::string_view name) const {
    const size_t colon = name.rfind(':');
    return colon == std::string_view::npos ? Origin{} : origins_.of(name.substr(0, colon), name.substr(colon + 1));
  }

  TrackId track_of(const DeviceRows& rows, const StepStatsNode& row) {
    if (rows.what == DeviceRows::What::waits) return trace_.track({.process = getpid(), .thread = row.thread});
    const std::string name = rows.stream < 0 ? "stream unknown" : cat("stream ", rows.stream);
    return trace_.track({.place = Track::Place::device,
                         .device = rows.device,
                         .process = getpid(),
                         .thread = rows.stream,
                         .name = trace_.string(name)});
  }

  void fill(Event& event, const DeviceRows& rows, const StepStatsNode& row, const Origin& origin) {
    if (rows.what == DeviceRows::What::waits) {
      event.kind = EventKind::sync;
      event.name = trace_.string(row.name);
    } else if (rows.what == DeviceRows::What::kernels) {
      const std::string_view name = kernel_name(row.label);
      ++kernels_;
      event.kind = is_collective_kernel(name) ? EventKind::collective : EventKind::kernel;
      event.name = trace_.string(name);
      KernelDetail detail = kernel_detail(row.label);
      if (origin.node >= 0) detail.node = trace_.string(nodes_.at(static_cast<size_t>(origin.node)));
      if (event.kind == EventKind::kernel) event.detail = trace_.detail(detail);
    } else {
      event.kind = rows.what == DeviceRows::What::copies ? EventKind::memcpy : EventKind::memset;
      event.name = trace_.string(row.label.substr(0, row.label.find(' ')));
      event.detail = trace_.detail(copy_detail(row.label));
    }
  }

  const OwnClock& clock_;
  const OpOrigins& origins_;
  const std::vector<std::string>& nodes_;
  Trace& trace_;
  int64_t kernels_ = 0;
};

}  // namespace

int64_t append_device_rows(const RunRecord& run, const OwnClock& clock, const OpOrigins& origins,
                           const std::vector<std::string>& nodes, Trace& trace) {
  DeviceTrace out(clock, origins, nodes, trace);
  for (const StepStatsDevice& device : step_stats_devices(run.metadata)) {
    const DeviceRows rows = rows_of(device.name);
    if (!is_of_profiler(device.name) || rows.what == DeviceRows::What::repeated) continue;
    for (const std::string_view message : device.nodes) out.add(rows, step_stats_node(message));
  }
  if (out.kernels() > 0)
    trace.facts["kernel clock"] = "whole microseconds: TensorFlow rounds begins and durations of kernels down";
  return out.kernels();
}

}  // namespace tbd::tensorflow
