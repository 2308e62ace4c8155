// What `tbd tune` prints: pure functions of what it found.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "analysis/tune/tuning.h"

namespace tbd {

// The workload as it is against the winner, by fresh launches in pairs.
struct FinalComparison {
  Comparison of_winner;
  int64_t pairs = 0;
};

// "llama in pytorch trains 1.26 times as fast (1.20 to 1.33) with mode eager-onednn and allocator kept." `subject`:
// "llama in pytorch".
std::string tune_sentence(const std::string& subject, const Tuned& tuned, const std::optional<FinalComparison>& last);
// What gives the winner in a program of one's own, setting by setting; empty without a winner.
std::vector<std::string> own_sentences(const Tuned& tuned);

// A row a remedy: the best first, then those without a gain.
Table remedies_table(const Tuned& tuned);
// A row: the winner, its gain and the command that measures it again.
Table winner_table(const Tuned& tuned, const std::optional<FinalComparison>& last, const std::string& command);

// A part of the loss bar in a traced step.
struct StepLoss {
  std::string cause;
  double seconds = 0;  // of a step
};
// Where a step's time went as it is and with the winner: what shrank most first.
Table losses_table(const std::vector<StepLoss>& usual, const std::vector<StepLoss>& winner);

}  // namespace tbd
