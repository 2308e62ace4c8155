// From CLOCK_REALTIME, which profilers stamp with, to the clock of now_ns(), by readings of both at once.
#pragma once
#include <cstdint>
#include <vector>

namespace tbd {

// One instant on both clocks, known to the time that reading one clock takes (well below 1 us).
struct ClockPair {
  int64_t epoch_ns, raw_ns;
};
ClockPair read_clocks();

class ClockMap {
 public:
  void add(const ClockPair& pair) { pairs_.push_back(pair); }  // later than all before
  void clear() { pairs_.clear(); }
  bool empty() const { return pairs_.size() < 2; }
  // On the line through the readings before and after, since NTP slews the former. Needs two readings.
  int64_t raw_ns(int64_t epoch_ns) const;

 private:
  std::vector<ClockPair> pairs_;
};

}  // namespace tbd
