#include "measure/data_segment.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "base/text.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"

namespace tbd {

DataSegmentWatch::DataSegmentWatch(pid_t process)
    : thread_([this, process](const std::stop_token& stop) { watch(stop, process); }) {}

std::optional<int64_t> DataSegmentWatch::peak() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return peak_ > 0 ? std::optional(peak_) : std::nullopt;
}

void DataSegmentWatch::watch(const std::stop_token& stop, pid_t process) {
  const SystemFile status(cat("/proc/", process, "/status"));
  std::string buffer;
  do {
    const auto text = status.read(buffer);
    if (!text) return;
    peak_ = std::max(peak_, bytes_of_line(parse_colon_lines(*text), "VmData").value_or(0));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (!stop.stop_requested());
}

}  // namespace tbd
