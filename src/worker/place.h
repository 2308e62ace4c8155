// A worker's place among those that train one network together.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/bucket_sizes.h"
#include "base/workload_words.h"

namespace tbd {

// A rank is a share of the micro-batches: run k of a phase on rank q of W is run kW + q of one worker that accumulates
// W times as many. It reads that run's batch and draws that run's noise and masks, so W workers take the step of that
// one.
struct RankPlace {
  int64_t rank = 0, world = 1;
};

// How the ranks find each other and exchange gradients.
struct World {
  RankPlace place;
  // A file that all ranks see, where they meet; absent until the first comes. Empty: they have no such file, and meet
  // at the address and port of rank 0.
  std::string store;
  std::vector<std::string> addresses = {};  // at which each rank listens, by rank; empty: the loopback of one machine
  std::vector<int64_t> ports;               // there, by rank: for engines whose ranks listen
  double timeout_seconds = 60;              // that a rank waits for the others, in any one exchange
  ExchangeMode exchange = ExchangeMode::kAllReduce;  // of gradients; losses and votes are summed whatever it says
  WireType wire = WireType::kSame;
  int64_t bucket_bytes = kBucketBytes;  // of gradients that are summed together, in their own type
  // Local SGD (Stich 2019, arXiv:1805.09767): each rank updates by its own gradients, and after each step whose number
  // this divides the weights become their mean over the ranks. 1: ranks exchange gradients, in each step.
  int64_t every = 1;

  bool sums_gradients() const { return every == 1 && exchange != ExchangeMode::kNone; }
  bool averages_weights() const { return every > 1 && place.world > 1; }
  bool is_sharded() const { return exchange == ExchangeMode::kSharded && place.world > 1; }

  std::string address(int64_t rank) const {
    return addresses.empty() ? "127.0.0.1" : addresses.at(static_cast<size_t>(rank));
  }
};
// How a rank that cannot listen on its port begins to say so: the runner gives the world other ports.
inline constexpr std::string_view kPortIsTaken = "cannot listen on";

// The engine that sums what lies on GPUs, among those that a worker offers (protocol.h); the others sum on processors.
inline constexpr const char* kGpuExchange = "nccl";

// Replaces each number by its sum over all ranks, the same bits on each. All ranks call it with as many numbers, in the
// same order of calls. Throws Error(io) where a rank does not answer.
using SumOverRanks = std::function<void(std::span<double>)>;

}  // namespace tbd
