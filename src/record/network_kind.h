// What a network is, as the paper's observations sort networks (Zhu et al. 2018, 4).
#pragma once
#include <span>
#include <string_view>

namespace tbd {

struct OpRow;

struct NetworkKind {
  bool lstm = false;           // has an lstm or an lstm_cell
  bool recurrent = false;      // has one of these or a gru
  bool reinforcement = false;  // its domain is reinforcement learning
  bool convolutional =
      false;  // most FLOPs are convolutions', and it is neither recurrent nor of reinforcement learning
  bool operator==(const NetworkKind&) const = default;
};

// From the ops with their FLOPs and the domain of its card (ModelCard::domain).
NetworkKind network_kind(std::span<const OpRow> ops, std::string_view domain);

}  // namespace tbd
