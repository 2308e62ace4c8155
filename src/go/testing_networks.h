// Networks that cost nothing, for tests of the search; the goldens were computed with the same.
#pragma once
#include <algorithm>
#include <vector>

#include "go/evaluator.h"

namespace tbd::go::testing_networks {

inline uint64_t mix(uint64_t x) {  // SplitMix64
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

// FNV-1a of the board's size, 1 (Black) or 2 (White) to play, and its points: 0 empty, 1 black, 2 white.
inline uint64_t position_hash(const Game& game) {
  uint64_t hash = 0xCBF29CE484222325;
  const auto add = [&](int byte) { hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001B3; };
  add(game.board().size());
  add(game.to_play() == Color::black ? 1 : 2);
  for (int point = 0; point < game.board().points(); ++point) {
    const Color color = game.board().at(point);
    add(color == Color::black ? 1 : color == Color::white ? 2 : 0);
  }
  return hash;
}

inline float hash_prior(uint64_t hash, Move move) {
  return static_cast<float>((mix(hash + static_cast<uint64_t>(move) + 1) >> 54) + 1) / 1024;
}
inline float hash_value(uint64_t hash) {
  return static_cast<float>(static_cast<int64_t>(mix(hash ^ 0x5851F42D4C957F2D) >> 44) - (1 << 19)) / (1 << 20);
}

// One position at a time, so that batches make no difference.
class PositionNetwork : public Evaluator {
 public:
  void evaluate(std::span<const Question> positions, std::span<float> priors, std::span<float> values) override {
    const size_t width = priors.size() / positions.size();
    batches.push_back(positions.size());
    for (size_t i = 0; i < positions.size(); ++i)
      values[i] = answer(*positions[i].game, priors.subspan(i * width, width));
  }
  std::vector<size_t> batches;  // sizes so far

 private:
  virtual float answer(const Game& game, std::span<float> priors) = 0;
};

// Priors and a value in [-0.5, 0.5) by chance, the same for the same stones and player.
class HashNetwork final : public PositionNetwork {
  float answer(const Game& game, std::span<float> priors) override {
    const uint64_t hash = position_hash(game);
    for (size_t move = 0; move < priors.size(); ++move) priors[move] = hash_prior(hash, static_cast<Move>(move));
    return hash_value(hash);
  }
};

// Equal priors; who is ahead by area and komi, in 16ths of a point, is ahead.
class AreaNetwork final : public PositionNetwork {
  float answer(const Game& game, std::span<float> priors) override {
    std::ranges::fill(priors, 1.f);
    return std::clamp(static_cast<float>(game.score()) / 32, -1.f, 1.f);
  }
};

// Equal priors, nobody ahead.
class ZeroNetwork final : public PositionNetwork {
  float answer(const Game&, std::span<float> priors) override {
    std::ranges::fill(priors, 1.f);
    return 0;
  }
};

}  // namespace tbd::go::testing_networks
