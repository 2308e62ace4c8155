// Who keeps the optimizer's state of which weight, where ranks share it out: ZeRO stage 1 (Rajbhandari et al. 2020,
// arXiv:1910.02054). The owner alone gets the sum of a weight's gradients and updates it, then sends it to all.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "graph/program.h"
#include "worker/place.h"

namespace tbd::pytorch {

struct Shards {
  int64_t rank = 0;                       // this one
  std::map<std::string, int64_t> owners;  // by trained parameter: a rank
  SumOverRanks sum;                       // of what each finds out about its own share

  bool owns(const std::string& parameter) const { return owners.at(parameter) == rank; }
  std::vector<int64_t> owners_of(const std::vector<std::string>& parameters) const;
};

// The parameters that phases of the program train, in its order.
std::vector<std::string> trained_parameters(const Program& program);
// The largest first, each to the rank that has the fewest bytes so far: no rank has more than the mean and the largest.
std::map<std::string, int64_t> share_out(const Program& program, int64_t ranks);

}  // namespace tbd::pytorch
