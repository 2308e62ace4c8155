// The sweeps that a rule may look at together: of one machine, device and input mode, without what proves nothing.
#pragma once
#include "analysis/observations/decide.h"

namespace tbd::rules {

struct Scope {
  std::string machine;
  Device device;
  InputMode input_mode;
  std::vector<const Sweep*> sweeps;             // of one worker
  std::vector<std::string> notes;               // what was left out: "3 workloads of effort smoke"
  std::string label;                            // "CPU"
  std::span<const KnownNetwork> networks = {};  // that suggestions may name
  std::vector<const Sweep*> together = {};      // of several workers
};
// In the order of their sweeps. Left out: effort smoke; networks that the gates found to differ from the reference's;
// beside other frameworks, those never checked against it.
std::vector<Scope> scopes(std::span<const Sweep> sweeps);

std::vector<const SweepPoint*> ran(const Sweep& sweep);
constexpr double kLeastEpsilon = 0.02;
// How far two measurements of one rate may differ: max(2 %, 2 x CV between launches), the largest of neighbours in the
// sweep. Where launches took turns the CV is that of their ratios over sqrt(2): what moved both is in neither.
double epsilon(const Sweep& sweep);
// The same of neighbours that no other work disturbed. What it did to the others is within their intervals.
double quiet_epsilon(const Sweep& sweep);
// Points whose value is known.
std::vector<const SweepPoint*> with(const Sweep& sweep, Measured SweepPoint::*value);
const SweepPoint* best(const std::vector<const SweepPoint*>& points, Measured SweepPoint::*value);  // highest; or null
const SweepPoint* fastest(const Sweep& sweep);                                                      // or null
// X_a / X_b of their launches (analysis/cell.h); where other work disturbed and fewer than kFewestPairs took turns, of
// the levels of their quiet blocks if both have these in kFewestLaunches or more.
std::optional<Comparison> compare_points(const SweepPoint& a, const SweepPoint& b);
// The ratio of that, else of the two throughputs. Without an interval, so that it decides nothing, where other work
// left no bounds of one (SweepPoint::bounded) and they did not take turns.
Ranged speed(const SweepPoint& a, const SweepPoint& b);
// F_a / F_b of workloads of one math type that other work disturbed, by their launches in turns: F = X (FLOPs of a
// unit) / (U R), and R is the machine's peak, so that what slowed both cancels. Absent where the evidence is alike,
// where they did not take turns, and where X, U or the FLOPs of one are unknown.
std::optional<Ranged> flops_in_turns(const SweepPoint& a, const SweepPoint& b);
// How the device is used. The ratio of two points is that of their values, or `in_turns` where it has one.
struct Figure {
  Measured SweepPoint::*value;
  std::optional<Ranged> (*in_turns)(const SweepPoint&, const SweepPoint&);  // or null
  const char* symbol;
};
constexpr Figure kU = {&SweepPoint::compute_utilization, nullptr, "U"},
                 kF = {&SweepPoint::flop_active, flops_in_turns, "F"};
// The passes whose launches it is from: U from traced ones, F in turns from clean ones too.
std::vector<Pass> narrowed_by(const Figure& figure);
std::vector<std::string> hashes(const std::vector<const SweepPoint*>& points);
// Framework, its version and mode, and precision: what must be alike for models to be set side by side.
std::string stack(const Sweep& sweep);
size_t models(const std::vector<const Sweep*>& sweeps);  // different ones

// An observation of this scope with number, claim and label filled in.
Observation begun(int number, const Scope& scope);
// Fills in offenders; drops `missing` and `command` unless inconclusive.
void finish(Observation& observation);

// Rules, by number.
Observation throughput_rises(const Scope& scope);       // 1
Observation memory_ends_recurrent(const Scope& scope);  // 2
Observation no_framework_wins(const Scope& scope);      // 3
Observation batches_fill_device(const Scope& scope);    // 4
Observation lstm_uses_less(const Scope& scope);         // 5
Observation batches_fill_units(const Scope& scope);     // 6
Observation recurrent_uses_less(const Scope& scope);    // 7
Observation long_slow_kernels(const Scope& scope);      // 8
Observation processors_idle(const Scope& scope);        // 9
Observation feature_maps_dominate(const Scope& scope);  // 11
Observation full_memory_is_waste(const Scope& scope);   // 12

// 10: of scopes of one input mode.
Observation faster_device_used_less(std::span<const Scope> devices);

// 13. One measured number of workers over one link.
struct ScalingPoint {
  std::string what;  // "resnet50 pytorch fp32, batch 8"
  int64_t workers = 2, batch = 0;
  bool fast_link = false, emulated = false;
  Ranged speedup;  // X(n) / X(1), as speed() has it
  std::vector<std::string> records;
  const Sweep* sweep = nullptr;  // of the workers over this link
};
// Of the scope's sweeps of several workers that exchange as usual, against one worker with their batch and as many
// threads as each of them. Slow: up to 1 Gbit/s, as Ethernet in the paper; fast: from 10 Gbit/s on, the loopback too.
std::vector<ScalingPoint> scaling_points(const Scope& scope);
Observation scaling_needs_network(const Scope& scope, std::span<const ScalingPoint> points);

}  // namespace tbd::rules
