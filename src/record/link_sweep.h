// All-reduces of several sizes by the engine of one framework, as `tbd link` keeps them in a file (docs/link.md).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace tbd {

class JsonValue;

struct LinkTimes {
  DType dtype = DType::f32;
  int64_t bytes = 0;              // of each all-reduce
  std::vector<int64_t> times_ns;  // by repetition: from the last rank's begin to the last rank's end
  // That the processors of a worker are not idle for one, summed over them, with the small sum before it; the mean over
  // repetitions and workers. Absent: the system did not say.
  std::optional<int64_t> busy_ns = {};
};

struct LinkSweep {
  std::string created, tool;
  std::string framework, framework_version, engine;
  int64_t workers = 2;
  std::string link;     // between them, "1Gbit"; empty: the loopback
  int64_t threads = 1;  // of each worker
  std::vector<LinkTimes> sizes;
  std::string environment_hash;  // of the machine; empty: unknown
};

// Types that engines sum, as precisions are named: "fp32".
DType exchanged_type(std::string_view precision);  // throws Error(usage) with the nearest name
std::string_view exchanged_name(DType dtype);

inline constexpr int kLinkVersion = 1;
std::string to_text(const LinkSweep& sweep, const JsonValue& environment);
// Throws Error(invalid) "WHERE: ..." on what to_text does not write.
LinkSweep link_sweep_from(std::string_view text, std::string_view where);

}  // namespace tbd
