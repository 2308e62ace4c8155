// The update rule judged on parameters of its own with given gradients: in a network one update of float32 weights is
// too small to show a decay of 1e-4.
#pragma once
#include "runner/equivalence/node_program.h"

namespace tbd {

inline constexpr double kRuleRate = 0.1;        // the learning rate of all updates of a node program
inline constexpr int64_t kRuleSteps = 3;        // updates
inline constexpr double kRuleTolerance = 1e-3;  // on a recovered number, relative

// Adds the phase `rule`: for each group of `update` a parameter rule.<group>.moved whose gradient is given, its
// elements from 1e-9 to 1, so that an epsilon shows, and one, rule.<group>.still, whose gradient is 0, which the decay
// alone moves. Nothing is added where no parameter is trained.
void add_rule(const Update& update, NodeProgram& to);

// A number of the rule: the learning rate, decay or momentum of a group, or a beta of Adam.
struct RuleNumber {
  std::string name;  // "weight_decay of group 0"
  double recovered = 0, declared = 0;
  bool ok() const;
};
// From the tensors after steps 1 and 2, by least squares. Empty for lamb, whose steps have no constant rate.
std::vector<RuleNumber> recovered_rule(const Update& update, const NodeProgram& nodes, const TensorMap& first,
                                       const TensorMap& second);

// What a slot of Adam may lie off, relative, where 1 - beta is computed from a beta of that type, which is off by half
// a unit in its last place: epsilon / 4 / (1 - beta). PyTorch's fused kernels on a GPU do so (1.3e-5 for 0.999). 0 of
// other tensors.
double rounded_decay(const Optimizer& optimizer, std::string_view tensor, DType dtype);
// In float32, of those of `tensors` where it is not 0, whichever phase of the program updates them.
std::map<std::string, double> rounded_decays(const Program& program, const TensorMap& tensors);

}  // namespace tbd
