// What the sum of a bucket takes, for a number of workers and a link that may not have been swept (docs/link.md).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/exchange_replay.h"
#include "base/workload_words.h"
#include "record/link_sweep.h"

namespace tbd {

// Seconds by bytes: a straight line between two sizes, the last line goes on, and what is smaller than the first size
// takes its time.
struct SizeCurve {
  struct Point {
    double bytes = 0, seconds = 0;
  };
  std::vector<Point> points;  // by bytes; at least one
  double at(double bytes) const;
};

enum class Bound { value, low, high };

// A sum by what was swept between `measured` workers. In a ring a step moves S / n bytes, so a sum of S among n takes
// steps(n) / steps(m) times as long as one of S m / n among m; a key-value store takes the same for any n.
struct ExchangeCost {
  std::string basis;            // what it is made of, for people: "by size, link-1Gbit.json"
  double parts = 1, share = 1;  // steps(n) / steps(m), and m / n
  SizeCurve value, low, high;   // of the sweep; low and high: 95 % by its repetitions
  // Processor time of a worker, divided by the number of its processors: for so long backward stands still. Of the same
  // sweep; absent where that does not say.
  std::optional<SizeCurve> busy;
  std::optional<SizeCurve> loopback;  // `value` of the loopback, where it was swept
  // Where the link itself was not swept: seconds that a byte of the sum takes on the wire, and what a sum takes before
  // its first byte; the time is that and the longer of wire and processing.
  std::optional<double> byte_seconds;
  double latency = 0;
  // Of a key-value store over a swept link: seconds that a byte of the sum takes each way. A sum is pushed and then
  // comes back, and the next one is pushed meanwhile, after no less than what a sum takes over the loopback.
  std::optional<double> one_way_byte_seconds;

  double seconds(int64_t bytes, Bound bound = Bound::value) const;
  BucketSum sum(int64_t bytes, Bound bound = Bound::value) const;
};

struct NamedSweep {
  std::string name;  // of its file
  LinkSweep sweep;
};

struct WantedExchange {
  DType dtype = DType::f32;
  int64_t workers = 2;
  Link link;                         // empty: the loopback
  std::optional<double> alpha = {};  // seconds of latency of one step of the algorithm, in place of what was swept
};

// Of the bytes on an Ethernet those that TCP carries: 1448 of 1538, with preamble and gap between frames.
inline constexpr double kPayload = 1448.0 / 1538;

struct FoundCost {
  std::optional<ExchangeCost> cost;
  std::string missing;  // why there is none, a clause
};
// By the sweep of that link, where there is one: the fitted law where it holds, else by size. Otherwise by the sweep of
// the loopback and the link's rate. Of several numbers of workers the nearest one is taken. All sweeps are of one
// engine.
FoundCost exchange_cost(std::span<const NamedSweep> sweeps, const WantedExchange& wanted);

}  // namespace tbd
