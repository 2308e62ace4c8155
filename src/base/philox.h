// The project's one source of randomness: Philox4x32-10, a counter-based generator.
// Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", SC11, section 3.3.
// The value at (seed, name, step, sample, index) never depends on the order of drawing.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace tbd {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// The numbers of one stream at one (step, sample). key = seed (64 bit); counter = (first 32 bits of SHA-256 of the
// name read big-endian, step, sample, index / 4); index mod 4 picks the word.
class Philox {
 public:
  Philox(uint64_t seed, std::string_view stream_name, uint32_t step = 0, uint32_t sample = 0);
  Philox at(uint32_t step, uint32_t sample) const;  // the same seed and stream elsewhere; cheap

  uint32_t word(uint64_t index) const;
  double uniform(uint64_t index) const;  // [0, 1) in steps of 2^-24
  double normal(uint64_t index) const;   // N(0, 1) by Box-Muller in double from words 2 index and 2 index + 1
  // N(0, sigma) truncated to [low, high] by rejection along the index, starting from index * 64.
  double truncated_normal(uint64_t index, double sigma, double low, double high) const;

 private:
  std::array<uint32_t, 4> block(uint64_t index) const;  // words 4 index to 4 index + 3

  uint64_t seed_;
  uint32_t stream_, step_, sample_;
};

}  // namespace tbd
