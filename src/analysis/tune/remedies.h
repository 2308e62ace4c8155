// What people try to make a training faster, as values of a workload's axes: which lost time each fits, and what gives
// the same in a program of one's own. The table is in remedies.cc.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/workload.h"

namespace tbd {

// A part of the loss bar (analysis/profile), as a share of a step.
struct LostShare {
  std::string cause;
  double share = 0;
};

// What this machine and the framework's worker can do with the workload.
struct Offer {
  std::vector<Mode> modes;
  std::vector<ImageLayout> layouts;  // empty where the network has no images
  std::vector<Precision> precisions;
  int64_t cores = 1;                 // usable ones
  std::vector<std::string> allowed;  // of kAskedFirst: "bf16", "batch"
};
// Remedies that change what is trained: candidates only where a person allows them.
inline constexpr std::string_view kAskedFirst[] = {"bf16", "tf32", "fp16", "batch"};

struct Candidate {
  std::string axis, value;  // as the axis prints it
  bool gated = false;       // it changes what is computed: the equality gates come first
  std::string own;          // gives the same in a program of one's own; empty: tbd only
  std::string cause;        // the largest lost time that it fits; empty: it fits none that was seen
  double share = 0;         // of it
  double promise = 0;       // how much of a step it may save, at a guess: decides what is tried first

  std::string name() const;   // "mode=eager-onednn"
  std::string words() const;  // "mode eager-onednn"
  void apply(Workload& workload) const;
};

// Candidates for a workload, the most promising first. `measured` is the workload as it ran: a value that it has is
// none.
std::vector<Candidate> candidates(const Workload& measured, const Offer& offer, std::span<const LostShare> lost);

// Whether some remedy fits this part of the loss bar.
bool has_remedy(std::string_view cause);

// "allocator kept and mode eager-onednn"; "as it is" of none.
std::string settings_in_words(std::span<const Candidate> settings);

}  // namespace tbd
