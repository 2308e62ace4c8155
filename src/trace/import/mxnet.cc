#include "trace/import/mxnet.h"

#include <unordered_map>

#include "base/text.h"
#include "trace/import/chrome.h"
#include "trace/import/chrome_tracks.h"
#include "trace/import/decimal.h"
#include "trace/names.h"

namespace tbd {
namespace {

class MxnetImport final : public ChromeHandler {
 public:
  explicit MxnetImport(Trace& trace) : trace_(trace), tracks_(trace) {}

  void event(const ChromeEvent& event) override {
    const std::string_view ph = event[ChromeKey::ph];
    if (ph == "\"B\"") return begin(event);
    if (ph == "\"E\"") return end(event);
    if (ph == "\"b\"" || ph == "\"e\"") return task(event, ph == "\"b\"");
    if (ph == "\"M\"") return metadata(event);
    if (ph == "\"C\"" || ph == "\"i\"" || ph == "\"I\"") return;
    trace_.fault("events of a kind that is not read", cat("byte ", event.position));
  }
  void property(std::string_view key, std::string_view json) override { trace_.facts[std::string(key)] = json; }
  void fault(std::string_view what, std::string_view where) override { trace_.fault(what, where); }
  void finish() {
    int64_t left = 0;
    for (const auto& [key, begins] : open_) left += static_cast<int64_t>(begins.size());
    if (left > 0) trace_.fault("begins without an end", {}, left);
    tracks_.finish();
  }

 private:
  std::string key_of(const ChromeEvent& event) const {
    return cat(event[ChromeKey::pid], "\n", event[ChromeKey::tid], "\n", event[ChromeKey::name]);
  }
  // A task that the program named. Of each operator there is one, too, with the times of the dump: its begin and end
  // say when it ran.
  void task(const ChromeEvent& event, bool begins) {
    if (event[ChromeKey::cat] == "\"operator\"") return;
    if (begins)
      begin(event);
    else
      end(event);
  }
  void begin(const ChromeEvent& event) {
    if (const auto ts = scaled_decimal(event[ChromeKey::ts], 3)) return open_[key_of(event)].push_back(*ts);
    trace_.fault("events without a time", cat("byte ", event.position));
  }
  void end(const ChromeEvent& event) {
    const auto ts = scaled_decimal(event[ChromeKey::ts], 3);
    if (!ts) return trace_.fault("events without a time", cat("byte ", event.position));
    const auto found = open_.find(key_of(event));
    if (found == open_.end() || found->second.empty())
      return trace_.fault("ends without a begin", cat("byte ", event.position));
    const int64_t begin = found->second.back();
    found->second.pop_back();
    if (*ts < begin) return trace_.fault("negative durations, not used", cat("byte ", event.position));
    if (begin < 0 && *ts > INT64_MAX + begin)
      return trace_.fault("events beyond the range of time", cat("byte ", event.position));
    add(event, begin, *ts);
  }
  void metadata(const ChromeEvent& event) {
    std::string scratch;
    if (json_text(event[ChromeKey::name], scratch) != "process_name") return;
    processes_[std::string(event[ChromeKey::pid])] = json_text(event[ChromeKey::args_name], scratch);
  }
  void add(const ChromeEvent& event, int64_t begin, int64_t end) {
    std::string scratch;
    const std::string_view pid = event[ChromeKey::pid], tid = event[ChromeKey::tid];
    const auto process = processes_.find(std::string(pid));
    const bool device = process != processes_.end() && process->second.starts_with("gpu/");
    const bool other = process != processes_.end() && !device && !process->second.starts_with("cpu");
    const std::string_view name = json_text(event[ChromeKey::name], scratch);
    Event out{.begin = begin, .duration = end - begin, .name = trace_.string(name)};
    const bool backward = name.starts_with("_backward") || name.starts_with("[_backward");
    out.kind = other ? EventKind::annotation : backward ? EventKind::backward_op : EventKind::op;
    if (name == "WaitForVar") out.kind = EventKind::sync;  // of the engine, for a result that the program asked for
    if (device) out.kind = name.starts_with("Copy") ? EventKind::memcpy : EventKind::kernel;
    out.phase = backward ? EventPhase::backward : EventPhase::unknown;
    out.track = device ? tracks_.stream(pid, tid, {}, {}) : tracks_.host(pid, tid);
    trace_.add(out);
  }

  Trace& trace_;
  ChromeTracks tracks_;
  std::unordered_map<std::string, std::vector<int64_t>> open_;  // begins by process, thread and name
  std::unordered_map<std::string, std::string> processes_;      // names by pid
};

}  // namespace

void import_mxnet(ByteSource& source, Trace& trace) {
  MxnetImport import(trace);
  read_chrome(source, import);
  import.finish();
}

}  // namespace tbd
