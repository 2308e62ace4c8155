// How well a network predicts what is to come or was masked: perplexity, bits per byte, accuracy.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "base/tensor.h"

namespace tbd {

// Sums over predictions; add those of batches.
struct PredictionCounts {
  double nll = 0;       // negative log-likelihoods of the labels, natural logarithm, without label smoothing
  int64_t correct = 0;  // the label has the largest score, and the lowest index of equal ones
  int64_t count = 0;
  PredictionCounts& operator+=(const PredictionCounts& other);
};

// Which predictions count: those with a label other than `ignored`, and a weight other than 0 where there are weights.
// The end of a sentence counts; its begin and padding must be told by these.
struct CountedPredictions {
  std::optional<int32_t> ignored;
  std::span<const float> weights = {};  // one a label, or none
};
// `scores` (..., classes) f32 or f64, logits or log-probabilities; one label a row. Sums in double. Throws
// Error(invalid) for other types and counts, and for a counted row whose label is no class or that has a score which is
// not a number or is infinite (minus infinity is allowed), naming the row.
PredictionCounts count_predictions(const HostTensor& scores, std::span<const int32_t> labels,
                                   const CountedPredictions& counted = {});

// exp(nll / count); infinite where nll / count > 700. Of vocabularies that differ it cannot be compared: state the unit
// (word, word piece) and print bits per byte beside it. nullopt where nothing was counted.
std::optional<double> perplexity(const PredictionCounts& counts);
// nll / (ln 2 * bytes of the raw text that the labels spell). nullopt without bytes; Error(invalid) for a negative
// count.
std::optional<double> bits_per_byte(const PredictionCounts& counts, int64_t bytes);
// correct / count: masked-language accuracy over masked places, next-sentence accuracy over samples. nullopt where
// nothing was counted.
std::optional<double> accuracy(const PredictionCounts& counts);

}  // namespace tbd
