// What workloads are named with: kinds of words, with the values that this version knows.
#pragma once
#include "base/word.h"

namespace tbd {

// The physical order of axes of rank-4 activations.
struct ImageLayout : Word<ImageLayout> {
  using Word::Word;
  static const ImageLayout kNchw, kNhwc;
  static const std::vector<ImageLayout> kKnown;
};
inline const ImageLayout ImageLayout::kNchw{"nchw"}, ImageLayout::kNhwc{"nhwc"};
inline const std::vector<ImageLayout> ImageLayout::kKnown = {kNchw, kNhwc};

// How a framework runs the network; `kKnown` are those that may be asked for.
struct Mode : Word<Mode> {
  using Word::Word;
  static const Mode kEager, kEagerOnednn, kGraph, kXla, kExternal;
  static const std::vector<Mode> kKnown;
};
inline const Mode Mode::kEager{"eager"}, Mode::kEagerOnednn{"eager-onednn"}, Mode::kGraph{"graph"}, Mode::kXla{"xla"},
    Mode::kExternal{"external"};
inline const std::vector<Mode> Mode::kKnown = {kEager, kEagerOnednn, kGraph, kXla};

// Where batches come from: they stay in memory, or are read and decoded while measuring.
struct InputMode : Word<InputMode> {
  using Word::Word;
  static const InputMode kResident, kPipeline;
  static const std::vector<InputMode> kKnown;
};
inline const InputMode InputMode::kResident{"resident"}, InputMode::kPipeline{"pipeline"};
inline const std::vector<InputMode> InputMode::kKnown = {kResident, kPipeline};

}  // namespace tbd
