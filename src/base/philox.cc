#include "base/philox.h"

#include <cmath>
#include <numbers>

#include "base/hash.h"

namespace tbd {
namespace {
constexpr uint32_t kMultiplier[2] = {0xD2511F53, 0xCD9E8D57};
constexpr uint32_t kWeyl[2] = {0x9E3779B9, 0xBB67AE85};

uint32_t stream_of(std::string_view name) {
  const auto digest = sha256(name);
  return uint32_t{digest[0]} << 24 | uint32_t{digest[1]} << 16 | uint32_t{digest[2]} << 8 | digest[3];
}
}  // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{kMultiplier[0]} * c[0];
    const uint64_t p1 = uint64_t{kMultiplier[1]} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(p0)};
    key = {key[0] + kWeyl[0], key[1] + kWeyl[1]};
  }
  return c;
}

Philox::Philox(uint64_t seed, std::string_view stream_name, uint32_t step, uint32_t sample)
    : seed_(seed), stream_(stream_of(stream_name)), step_(step), sample_(sample) {}

Philox Philox::at(uint32_t step, uint32_t sample) const {
  Philox other = *this;
  other.step_ = step;
  other.sample_ = sample;
  return other;
}

std::array<uint32_t, 4> Philox::block(uint64_t index) const {
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)};
  return philox4x32({stream_, step_, sample_, static_cast<uint32_t>(index)}, key);
}

uint32_t Philox::word(uint64_t index) const { return block(index / 4)[index % 4]; }

double Philox::uniform(uint64_t index) const { return (word(index) >> 8) * 0x1p-24; }

double Philox::normal(uint64_t index) const {
  // 1 - u lies in (0, 1], so the logarithm is finite.
  const uint64_t first = 2 * index;  // both words lie in one block
  const std::array<uint32_t, 4> words = block(first / 4);
  const double radius = std::sqrt(-2 * std::log(1 - (words[first % 4] >> 8) * 0x1p-24));
  return radius * std::cos(2 * std::numbers::pi * ((words[first % 4 + 1] >> 8) * 0x1p-24));
}

double Philox::truncated_normal(uint64_t index, double sigma, double low, double high) const {
  for (uint64_t attempt = 0;; ++attempt) {
    const double value = sigma * normal(index * 64 + attempt);
    if (value >= low && value <= high) return value;
  }
}

}  // namespace tbd
