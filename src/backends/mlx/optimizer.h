// The update rules of docs/conventions.md, Optimizers, as functions from weights, slots and gradients to new weights
// and slots, of MLX's elementwise ops, as its Python optimizers are. Scalars come from graph/schedule.h.
#pragma once
#include <string>
#include <vector>

#include "backends/mlx/weights.h"
#include "graph/schedule.h"

namespace tbd::mlx {

using Arrays = std::vector<array>;

// What an update changes: weights in the order of the groups, and of each weight its slots, side by side.
struct UpdateState {
  Arrays weights, slots;
};

class UpdateRule {
 public:
  UpdateRule(const Update& update, Weights& weights);  // adds its slots

  // References to where the state is kept, in the order of UpdateState.
  const std::vector<Held*>& weights() const { return weights_; }
  const std::vector<Held*>& slots() const { return slots_; }
  // What changes from step to step, as the function takes it: rates of the groups, corrections.
  Arrays scalars(const UpdateScalars& scalars) const;
  // Clips, decays and updates.
  UpdateState apply(const UpdateState& state, Arrays gradients, std::span<const array> scalars) const;

 private:
  struct Target {
    array weight, gradient;
    std::span<const array> slots;
    double weight_decay;
    array lr, correction1, correction2;
  };
  void prepare(Arrays& gradients) const;
  Arrays updated(const Target& target) const;  // the weight, then its slots
  Arrays sgd(const Target& target) const;
  Arrays adam(const Target& target) const;

  Update update_;
  DType dtype_ = DType::f32;
  std::vector<Held*> weights_, slots_;
  size_t slots_each_ = 0;
};

// Whether all elements of all arrays are finite: a scalar.
array all_finite(const Arrays& arrays);
// "composed of elementwise ops", for the record.
std::string optimizer_path();

}  // namespace tbd::mlx
