// Beam search: the likeliest sequences that a network with a causal decoder or a language model writes.
// Rule of tensor2tensor's beam_search.py; length and coverage penalties of Wu et al. 2016 (GNMT), arXiv:1609.08144,
// section 7. fairseq divides by length^alpha instead: its alphas are others.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/tensor.h"

namespace tbd {

// The tokens of a sequence so far, without one for its begin, and which source it is written for.
struct Prefix {
  size_t source = 0;
  std::span<const int32_t> tokens;
};
struct NextScores {
  HostTensor logits;             // (prefixes, vocabulary) f32 or f64, of the token that comes next; -inf: impossible
  std::vector<double> coverage;  // log_coverage of each prefix with the step that gave its logits; empty: none
};
// Called once a step with the prefixes of all sources that are not done; what it says of one must not depend on the
// others.
using Scorer = std::function<NextScores(std::span<const Prefix>)>;

struct BeamSettings {
  size_t beams = 4;
  int32_t end = 0;              // the token that ends a sequence
  double length_penalty = 0.6;  // alpha >= 0; Vaswani et al. 2017, section 6.1
  double coverage_penalty = 0;  // beta >= 0; needs coverage of the scorer
};
struct Hypothesis {
  std::vector<int32_t> tokens;  // the end included
  bool finished = false;        // has its end
  double log_probability = 0;   // natural
  double score = 0;             // log_probability / ((5 + tokens) / 6)^alpha + beta * coverage
};

// For each source its finished hypotheses, the best score first and of equal ones the smaller sequence; at most
// `beams`. Where none has its end at the source's length of `longest` tokens (the end counted): those still alive.
//
// Each step ranks all next tokens of the alive hypotheses by log_probability / length penalty, then lower parent, then
// lower token, and takes the best 2 * beams: those that end are finished, the best `beams` of the others live on. A
// source is done at its longest, without anything alive, or when `beams` are finished and no alive one can become
// better than the worst of them. tensor2tensor stops once any is finished. Coverage, which is known of whole sequences
// alone, does not rank what is alive.
//
// One beam is not the path of the likeliest tokens: an end that is second best is kept, too, and may win.
// Probabilities are log-softmax of the logits in double. Throws Error(invalid) for settings out of range, a longest
// below 1, answers that do not fit the prefixes, and scores that are not numbers.
std::vector<std::vector<Hypothesis>> beam_search(const Scorer& scorer, std::span<const int64_t> longest,
                                                 const BeamSettings& settings);

// Sum over the tokens of a source of ln min(attention, 1): how much of the source the sequence has attended to.
// `attention`: of each token, summed over the steps so far. Attention that underflowed to 0 counts as the smallest
// normal float.
double log_coverage(std::span<const float> attention);

}  // namespace tbd
