#include "cli/known_networks.h"

#include <algorithm>

#include "models/model.h"

namespace tbd::cli {
namespace {

constexpr size_t kBatches = 5;

// As network_kind() finds it from the ops, without building the program: a test holds the two together.
NetworkKind kind_of(const Model& model) {
  NetworkKind kind{.lstm = model.dominant_layer == "lstm", .reinforcement = model.domain == "reinforcement learning"};
  kind.recurrent = kind.lstm || model.dominant_layer == "gru";
  kind.convolutional = model.dominant_layer == "convolution" && !kind.reinforcement;
  return kind;
}

std::vector<KnownNetwork> by_cost() {
  std::vector<const Model*> models;
  for (const Model& model : all_models()) models.push_back(&model);
  std::ranges::stable_sort(models, {}, [](const Model* model) { return model->config("").expected.train_flops; });
  std::vector<KnownNetwork> networks;
  for (const Model* model : models) {
    const auto first = model->sweep.begin();
    const size_t count = std::min(kBatches, model->sweep.size());
    networks.push_back({model->name, kind_of(*model), {first, first + static_cast<std::ptrdiff_t>(count)}});
  }
  return networks;
}

}  // namespace

std::span<const KnownNetwork> known_networks() {
  static const std::vector<KnownNetwork> networks = by_cost();
  return networks;
}

}  // namespace tbd::cli
