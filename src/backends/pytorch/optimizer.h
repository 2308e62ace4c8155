// The update rules of docs/conventions.md, Optimizers, by torch's fused and foreach kernels. Scalars come from
// graph/schedule.h.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "backends/pytorch/shards.h"
#include "backends/pytorch/weights.h"
#include "graph/schedule.h"

namespace tbd::pytorch {

using TensorList = std::vector<at::Tensor>;

// g *= min(1, c / (|g| + 1e-6)) where `total` is |g| of all tensors together, without waiting for the device.
void clip_by_global_norm(const TensorList& gradients, double norm, const at::Tensor& total);
// Divides by the loss scale; false when any element is inf or nan (waits for the device).
bool unscale(const TensorList& gradients, double scale);

// The update of one phase. Parameters stand in the order of its groups, as in Phase::wrt.
class UpdateRule {
 public:
  // `replayed`: what a step changes lies in tensors of the device, for a graph of it (step_graph.h). `shards`, which
  // outlive the rule: it updates what this rank owns; nullptr: all.
  UpdateRule(const Update& update, Weights& weights, bool replayed, const Shards* shards);
  virtual ~UpdateRule() = default;

  const TensorList& parameters() const { return all_; }  // that it updates
  // Of the next update. `count` is its number, from 1, for bias corrections.
  void set_scalars(const UpdateScalars& scalars, int64_t count);
  // Clips, decays and updates all groups. `gradients` in the order of parameters(); they may be overwritten.
  void apply(const TensorList& gradients);

 protected:
  struct Group {
    TensorList parameters;
    double weight_decay, lr_scale;
    double lr = 0;
    at::Tensor device_lr = {};      // the same, where it is replayed
    std::vector<TensorList> slots;  // [slot][parameter]
  };
  virtual void prepare(const TensorList& gradients) { (void)gradients; }  // sees all groups' gradients
  virtual void count_to(int64_t count) { (void)count; }
  virtual void update(Group& group, const TensorList& gradients) = 0;
  void add_slots(Weights& weights, const std::vector<std::string>& names);
  at::Tensor norm_of_all(const TensorList& gradients) const;  // those of other ranks' shards included

  tbd::Update update_;
  std::vector<Group> groups_;
  UpdateScalars scalars_;

 private:
  const Shards* shards_;
  TensorList all_;
};

std::unique_ptr<UpdateRule> make_update_rule(const Update& update, Weights& weights, bool replayed,
                                             const Shards* shards = nullptr);
// "_fused_sgd_": which torch path an optimizer takes, for the record.
std::string optimizer_path(Optimizer::Kind kind);

// The average e = d e + (1 - d) w of weights, of shards those that this rank owns, and float buffers.
class Average {
 public:
  Average(double decay, const std::vector<std::string>& names, Weights& weights, const Shards* shards);
  void apply();

 private:
  double decay_;
  TensorList weights_, averages_;
};

}  // namespace tbd::pytorch
