// The state of a program on the device: parameters, buffers, optimizer slots. Phases share it by name.
#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/pytorch/tensors.h"
#include "graph/program.h"
#include "measure/memory_ledger.h"

namespace tbd::pytorch {

class Weights {
 public:
  Weights(const Program& program, const at::Device& device, Layout layout);  // all zero

  const at::Tensor& parameter(const std::string& name) const { return parameters_.at(name); }
  const at::Tensor& buffer(const std::string& name) const { return buffers_.at(name); }
  const at::Tensor& weight(const std::string& name) const;  // a parameter or a buffer

  // Slot `slot` of a weight ("momentum"), made zero and laid out as the weight when it is new.
  at::Tensor slot(const std::string& weight, const std::string& slot);
  // The average of a weight; a copy of it until `start_averages`, unless written.
  at::Tensor average(const std::string& weight);
  void start_averages();

  // Names as in the files of a step: param/<p>, buffer/<b>, state/<p>/<slot>. write throws Error(invalid) on an
  // unknown name or another shape.
  void write(const std::string& name, const HostTensor& value);
  void read(const std::vector<std::string>& prefixes, TensorMap& into);
  // Tells the ledger what lies where: weights, slots, and of running statistics and averages that they are auxiliary.
  void classify(MemoryLedger& ledger) const;
  // The first of parameters and buffers that holds an inf or nan; empty when none.
  std::string first_non_finite() const;

 private:
  at::Tensor find(const std::string& name) const;  // undefined when unknown

  std::map<std::string, at::Tensor> parameters_, buffers_;
  std::map<std::string, at::Tensor> slots_;   // by "<weight>/<slot>"
  std::map<std::string, int32_t> readers_;    // first_readers of the program
  std::set<std::string> unstarted_averages_;  // weights whose average follows them until the first step
};

bool is_finite(const at::Tensor& tensor);
bool starts_with_any(const std::string& name, const std::vector<std::string>& prefixes);

}  // namespace tbd::pytorch
