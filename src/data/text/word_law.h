// How synthetic text is distributed. The laws and their numbers are ours: long tails of words and lengths as texts have
// them, fitted to no corpus.
#pragma once
#include <cstdint>
#include <vector>

#include "data/text/draws.h"
#include "data/text/text_spec.h"

namespace tbd {

// Words by the law of Zipf and Mandelbrot: P(rank r from 0) proportional to 1 / (r + 2.7). Rank r is token first + r.
class WordLaw {
 public:
  WordLaw(int64_t first, int64_t end);  // tokens first to end - 1
  int32_t draw(Draws& draws) const;

 private:
  int64_t first_;
  std::vector<double> cumulative_;  // by rank, ending with 1
};

// round(median exp(spread z)), z normal, drawn again until it lies from low to high; after 100 tries the nearer bound.
int64_t log_normal_length(double median, double spread, int64_t low, int64_t high, Draws& draws);

// Words of a sentence and of its translation: the source's log-normal with median 17 and spread 0.6 (mean 20.4), the
// target's the source's times exp(0.2 z). Drawn again until `buckets[bucket]` is the first that holds the pair, or,
// with bucket -1, until any does; after 1000 tries the bucket is filled.
struct PairLengths {
  int64_t source = 1, target = 1;
  size_t bucket = 0;
};
PairLengths draw_pair_lengths(const std::vector<Bucket>& buckets, int64_t bucket, Draws& draws);

}  // namespace tbd
