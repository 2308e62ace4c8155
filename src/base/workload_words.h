// What workloads are named with: kinds of words, with the values that this version knows.
#pragma once
#include "base/word.h"

namespace tbd {

// The physical order of axes of rank-4 activations.
struct ImageLayout : Word<ImageLayout> {
  using Word::Word;
  static const ImageLayout nchw, nhwc;
  static const std::vector<ImageLayout> known;
};
inline const ImageLayout ImageLayout::nchw{"nchw"}, ImageLayout::nhwc{"nhwc"};
inline const std::vector<ImageLayout> ImageLayout::known = {nchw, nhwc};

// How a framework runs the network; `known` are those that may be asked for.
struct Mode : Word<Mode> {
  using Word::Word;
  static const Mode eager, eager_onednn, graph, xla, compiled, external;
  static const std::vector<Mode> known;
};
inline const Mode Mode::eager{"eager"}, Mode::eager_onednn{"eager-onednn"}, Mode::graph{"graph"}, Mode::xla{"xla"},
    Mode::compiled{"compiled"}, Mode::external{"external"};
inline const std::vector<Mode> Mode::known = {eager, eager_onednn, graph, xla};

// Where batches come from: they stay in memory, or are read and decoded while measuring.
struct InputMode : Word<InputMode> {
  using Word::Word;
  static const InputMode resident, pipeline;
  static const std::vector<InputMode> known;
};
inline const InputMode InputMode::resident{"resident"}, InputMode::pipeline{"pipeline"};
inline const std::vector<InputMode> InputMode::known = {resident, pipeline};

}  // namespace tbd
