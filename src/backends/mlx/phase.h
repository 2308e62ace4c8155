// One phase as a function of arrays: forward, gradients by MLX's value_and_grad, update; and one run of it, which is
// evaluated at once. Mode `compile` hands the whole function to MLX's compile.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "backends/mlx/forward.h"
#include "backends/mlx/optimizer.h"
#include "worker/lowered_phase.h"

namespace tbd::mlx {

// What the phases of a session share.
struct SessionContext {
  Weights& weights;
  uint64_t seed = 0;
  bool compiles = false;
  uint64_t runs = 0;                         // each draws with a key of its own
  std::map<std::string, array> inputs = {};  // of the staged batch, by name, type and layout
};

class PhaseRunner final : public LoweredPhase {
 public:
  PhaseRunner(const BoundPhase& bound, SessionContext& context);

  void begin_staging(size_t micro_batches) override;
  void stage(size_t micro_batch, ValueId input, const std::string& name, const HostTensor& value) override;
  std::span<const double> run(const MicroBatch& micro) override;
  std::optional<int64_t> rows() const override { return forward_.rows(); }
  bool skipped() const override { return skipped_; }
  HostTensor output(size_t index) override;
  std::optional<HostTensor> gradient(size_t index) override;

 private:
  // What the function does beside forward and backward, of which there are four: adds to the gradients of micro-batches
  // before it, and updates.
  struct Form {
    bool adds = false, updates = false;
    auto operator<=>(const Form&) const = default;
  };
  using Function = std::function<Arrays(const Arrays&)>;

  bool trains() const { return rule_.has_value(); }
  bool scales_loss() const { return bound_.phase.update.loss_scale; }
  Function function_of(const Form& form);
  Arrays operands(const Form& form, const MicroBatch& micro);
  Arrays call(const Form& form, const Arrays& operands);
  Arrays forward(const Arrays& trained, const Arrays& read, const array& key);
  array total(const Values& values) const;
  std::pair<Arrays, Arrays> differentiate(const Arrays& trained, const Arrays& read, const array& key,
                                          const array& scale);
  Arrays averages(const Arrays& old, const Arrays& weights, const Arrays& read, const Arrays& results) const;
  void keep(const Form& form, Arrays results);
  void read_terms();

  const BoundPhase& bound_;
  const Graph& graph_;
  SessionContext& context_;
  Forward forward_;
  std::optional<UpdateRule> rule_;
  std::vector<ValueId> trained_;  // in the order of the update's groups
  std::vector<ValueId> read_;     // what else the function takes: inputs, other parameters, buffers
  std::vector<ValueId> written_;  // buffers that nodes write
  std::vector<Layout> layouts_;   // of inputs, by ValueId
  std::vector<Layout> output_layouts_;
  std::vector<Held*> averages_;  // in the order of `averaged`
  std::map<Form, Function> compiled_;
  std::vector<std::vector<std::optional<array>>> staged_;  // by micro-batch, then ValueId
  Arrays sums_;                                            // of the gradients of this update's micro-batches
  Arrays terms_, outputs_, gradients_;                     // of the last run; the last two with capture
  std::vector<double> term_values_;
  LossScale loss_scale_;
  bool skipped_ = false;
};

}  // namespace tbd::mlx
