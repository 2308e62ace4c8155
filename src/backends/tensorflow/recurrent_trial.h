// A recurrent layer of a trial, and its weights for the loops that it is held against.
#pragma once
#include "backends/tensorflow/trial.h"

namespace tbd::tensorflow {

// Normal numbers for the weights of a layer "rnn" with so many gates, small enough that none saturates.
inline void draw_layer(Trial& trial, int64_t gates, const std::string& suffix, int64_t features, int64_t hidden) {
  trial.parameter("rnn.weight_ih" + suffix, {gates * hidden, features});
  trial.parameter("rnn.weight_hh" + suffix, {gates * hidden, hidden});
  trial.parameter("rnn.bias_ih" + suffix, {gates * hidden});
  trial.parameter("rnn.bias_hh" + suffix, {gates * hidden});
}

// As the trial holds them: ih (gates H, in), hh (gates H, H), biases (gates H).
struct LayerWeights {
  Vector ih, hh, b_ih, b_hh;
  size_t in, hidden;
  LayerWeights(const Trial& trial, const std::string& suffix)
      : ih(trial["rnn.weight_ih" + suffix]),
        hh(trial["rnn.weight_hh" + suffix]),
        b_ih(trial["rnn.bias_ih" + suffix]),
        b_hh(trial["rnn.bias_hh" + suffix]),
        in(ih.size() / b_ih.size()),
        hidden(hh.size() / b_hh.size()) {}
};

}  // namespace tbd::tensorflow
