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
#include "worker/store.h"

namespace tbd::pytorch {

class Weights final : public NamedTensors<at::Tensor> {
 public:
  Weights(const Program& program, const at::Device& device, Layout layout);  // all zero

  // A slot of another rank: it has a name and a shape here, takes no memory, and what is written to it is not kept.
  void keep_elsewhere(const std::string& name, std::string_view slot);

  void write(const std::string& name, const HostTensor& value) override;
  std::vector<HostTensor> read(std::span<const std::string> names) override;
  void copy(const std::string& from, const std::string& to) override;
  // Tells the ledger what lies where: weights, slots, and of running statistics and averages that they are auxiliary.
  void classify(MemoryLedger& ledger) const;

 private:
  at::Tensor zeros_like(const std::string& name, const at::Tensor& weight) override;

  std::map<std::string, int32_t> readers_;  // first_readers of the program
  std::set<std::string> elsewhere_;         // full names
};

}  // namespace tbd::pytorch
