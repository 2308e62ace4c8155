// What workloads are named with: kinds of words, with the values that this version knows.
#pragma once
#include "base/word.h"

namespace tbd {

// Where batches come from: they stay in memory, or are read and decoded while measuring.
struct InputMode : Word<InputMode> {
  using Word::Word;
  static const InputMode resident, pipeline;
  static const std::vector<InputMode> known;
};
inline const InputMode InputMode::resident{"resident"}, InputMode::pipeline{"pipeline"};
inline const std::vector<InputMode> InputMode::known = {resident, pipeline};

}  // namespace tbd
