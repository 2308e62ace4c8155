#include "cli/known_networks.h"

#include <algorithm>

#include "models/model.h"

namespace tbd::cli {
namespace {

constexpr size_t kBatches = 5;

// By its dominant layer alone, as if that were its only op, so that no program is built.
NetworkKind kind_of(const Model& model) {
  const OpRow dominant{.node = {}, .op = model.dominant_layer, .forward = {.flop_model = 1}, .backward = {}};
  return network_kind(std::span(&dominant, 1), model.domain);
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
