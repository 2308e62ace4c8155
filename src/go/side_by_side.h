// Many games at a time, so that the networks they ask see large batches.
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "go/evaluator.h"

namespace tbd::go {

struct Request {
  size_t network = 0;  // which of several is asked
  std::span<const Question> positions;
};

// A game between players that ask networks.
class PendingGame {
 public:
  virtual ~PendingGame() = default;
  // Goes on until an answer is needed; no positions: the game has ended. Valid until `receive`, which must follow
  // otherwise. Games are independent: different ones may do this at the same time.
  virtual Request ask() = 0;
  virtual void receive(std::span<const float> priors, std::span<const float> values) = 0;
};

struct SideBySideOptions {
  int games = 32;   // at a time
  int batch = 128;  // positions that a network answers together at most
  int threads = 1;  // for the games; a network is asked by the caller's alone
};

struct GameSeries {
  int64_t count = 0;
  std::function<std::unique_ptr<PendingGame>(int64_t number)> begin;  // 0 <= number < count
  std::function<void(int64_t number, PendingGame& game)> end;         // by the caller's thread, in any order
};

struct BatchCounts {
  int64_t positions = 0, batches = 0;
  double playing_seconds = 0, asking_seconds = 0;  // wall time in the games, and in the networks
  BatchCounts& operator+=(const BatchCounts& other);
};
// Plays the series; requests name their network by its place in `networks`. What a game asks and gets does not depend
// on the games beside it, so the games are the same for all options wherever a network's answers do not depend on the
// batch.
BatchCounts play_side_by_side(const GameSeries& series, std::span<Evaluator* const> networks,
                              const SideBySideOptions& options);

}  // namespace tbd::go
