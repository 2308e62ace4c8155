#include "analysis/flags.h"

namespace tbd {
namespace {

constexpr Flag kFlags[] = {
    {"assumed-correlation",
     "fewer than 20 steps in a launch: the interval assumes a correlation of 0.5 between neighbours"},
    {"bad-files", "the data set holds files that could not be used; the record names them"},
    {"bunched-steps",
     "more than 10 % of the steps were told several at once: the time between shared evenly, single times are unknown"},
    {"clock-drift", "the GPU's clock differed by more than 3 % between the first and the last third of the steps"},
    {"cut-line-dropped", "the last line of steps.csv was cut off and left out"},
    {"disturbed-major-faults", "pages were read from disk during the steps"},
    {"disturbed-other-work", "other processes used more than 5 % of the usable processors"},
    {"disturbed-runqueue", "the worker's threads waited for a processor for more than 2 % of their runnable time"},
    {"disturbed-steal", "the hypervisor gave more than 1 % of the processors' time to others"},
    {"disturbed-throttled", "a control group's quota stopped the worker"},
    {"fitted-files",
     "recordings were resampled, or images and objects left out; the report counts them under Left out"},
    {"level-shift", "after warming up the step time drifts, or has levels that differ, by more than 5 %"},
    {"one-step", "a single step after warming up: no interval"},
    {"over-roof", "the FLOP rate exceeds the measured peak by more than 2 %: an error, so no share is shown"},
    {"oversubscribed", "more workers than usable cores ran: they shared cores"},
    {"peaks-drift", "the measured peaks differed by more than 3 % before and after"},
    {"tuned", "a setting of speed alone is not the default: mode eager-onednn, or of threads, memory or prefetching"},
    {"retired-upstream", "the framework is no longer developed upstream"},
    {"roof-beaten", "the FLOP rate exceeds the best measured matrix product"},
    {"shared-device", "another process used the GPU"},
    {"short", "fewer than 100 steps in a launch"},
    {"threads-over-cores", "more threads than usable cores were asked for"},
    {"throttled", "the GPU lowered its clocks under load; launch.json says why"},
    {"unbounded", "the interval has no upper end"},
    {"unpinned", "the framework's build is outside the lock file"},
};

}  // namespace

std::span<const Flag> known_flags() { return kFlags; }

}  // namespace tbd
