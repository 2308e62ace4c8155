// The update rules of docs/conventions.md, Optimizers, by torch's fused and foreach kernels. Scalars come from
// graph/schedule.h.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "backends/pytorch/weights.h"
#include "graph/schedule.h"

namespace tbd::pytorch {

using TensorList = std::vector<at::Tensor>;

// g *= min(1, c / (|g| + 1e-6)) over all tensors together, without waiting for the device.
void clip_by_global_norm(const TensorList& gradients, double norm);
// Divides by the loss scale; false when any element is inf or nan (waits for the device).
bool unscale(const TensorList& gradients, double scale);

// The update of one phase. Parameters stand in the order of its groups, as in Phase::wrt.
class UpdateRule {
 public:
  UpdateRule(const Update& update, Weights& weights);
  virtual ~UpdateRule() = default;

  const TensorList& parameters() const { return all_; }
  // Clips, decays and updates all groups. `gradients` in the order of parameters(); they may be overwritten.
  // `count` is the number of this update, from 1, for bias corrections.
  void apply(const TensorList& gradients, const UpdateScalars& scalars, int64_t count);

 protected:
  struct Group {
    TensorList parameters;
    double weight_decay, lr_scale;
    std::vector<TensorList> slots;  // [slot][parameter]
  };
  virtual void prepare(const TensorList& gradients) { (void)gradients; }  // sees all groups' gradients
  virtual void update(Group& group, const TensorList& gradients, double lr, const UpdateScalars& scalars,
                      int64_t count) = 0;
  void add_slots(Weights& weights, const std::vector<std::string>& names);

  tbd::Update update_;
  std::vector<Group> groups_;

 private:
  TensorList all_;
};

std::unique_ptr<UpdateRule> make_update_rule(const Update& update, Weights& weights);
// "_fused_sgd_": which torch path an optimizer takes, for the record.
std::string optimizer_path(Optimizer::Kind kind);

// The average e = d e + (1 - d) w of weights and float buffers.
class Average {
 public:
  Average(double decay, const std::vector<std::string>& names, Weights& weights);
  void apply();

 private:
  double decay_;
  TensorList weights_, averages_;
};

}  // namespace tbd::pytorch
