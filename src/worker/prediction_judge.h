// Networks that choose among classes, words or moves: how often they choose right, and how sure they were of it.
#pragma once
#include "worker/judge.h"

namespace tbd {

// Each softmax cross-entropy of the phase between an output and labels from the data, with the rows that the loss
// itself counts. One choice a sample: top1 and, of more than five classes, top5; several: accuracy and perplexity per
// token (label smoothing left out). Where there are several such terms, "<term>_" stands before the names. nullptr
// where there is none.
std::unique_ptr<Judge> prediction_judge(const Phase& phase);

// Answers policy_logits (N, moves) and value (N) against pi (N, moves) and z (N) of the data: policy_top1, how often
// the likeliest move is that of the data; value_error, the mean square.
std::unique_ptr<Judge> move_judge();

}  // namespace tbd
