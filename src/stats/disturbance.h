// From which share on other work on the machine disturbs a measurement. The runner's gate, the evidence of a block of
// steps and the flags of a row judge by these, so that they agree.
#pragma once

namespace tbd {

// Above `flagged` a row carries the flag and a block of steps is disturbed; above `repeated` the runner measures the
// launch again.
struct DisturbanceLimit {
  double flagged, repeated;
};
inline constexpr DisturbanceLimit kStealLimit = {0.01, 0.05};      // of the usable processors' time
inline constexpr DisturbanceLimit kRunqueueLimit = {0.02, 0.05};   // of the time the threads could run
inline constexpr DisturbanceLimit kOtherWorkLimit = {0.05, 0.10};  // of the usable processors' time

// How much slower than the record's best the cores may be at the ends of an undisturbed block. A read rate is what all
// programs of the host leave: on a machine with nothing else to do 95 % of its medians of five were within 29 % of the
// best (docs/statistics.md).
inline constexpr double kMostFmaLoss = 0.03;
inline constexpr double kMostReadLoss = 0.35;

}  // namespace tbd
