// What the tests of all back-ends have to know of the one that they are linked with.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/workload_words.h"
#include "graph/passes.h"

namespace tbd {

class Session;

enum class ExchangeFault { none, left_out, first_gradient_only, no_owner, mean_without_one };

struct BackendFacts {
  std::string framework;
  std::vector<Precision> precisions;
  std::vector<ImageLayout> layouts;  // the first is the usual one
  // How far three steps in single precision may be from those in double.
  double single_precision = 0;
  // How far an update may be from its formula, in each precision that is tested.
  std::vector<std::pair<Precision, double>> updates;
  // Sessions of one process keep the number of threads of the first.
  bool one_thread_count = false;
  // A relu that turns a NaN into 0 hides it from the layers behind.
  bool relu_keeps_nan = true;
  // Steps of canonical networks in double take seconds, not minutes.
  bool runs_large_steps = false;
  // A session for one of several ranks, whose exchange of gradients has that fault; nullptr: it trains alone.
  std::unique_ptr<Session> (*rank_with)(ExchangeFault fault) = nullptr;
  // Its ranks share out the optimizer's state, average weights and sum gradients as products, too.
  bool ranks_share_state = false;
  // Its engine has one rank in a process: main() calls train_rank_of in a process with kRankArgument and a folder.
  bool rank_of_process = false;
};

// Defined by each back-end's tests (facts_test.cc).
const BackendFacts& backend_facts();

namespace suite {

inline constexpr const char* kRankArgument = "train-rank";
// Does the job that the folder holds and leaves there what came of it: the exit code (ranks_test.cc).
int train_rank_of(const std::string& folder);

}  // namespace suite

}  // namespace tbd
