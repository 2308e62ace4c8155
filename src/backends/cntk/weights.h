// The state of a program: parameters, buffers, optimizer slots. Phases share it by name.
#pragma once
#include "backends/cntk/array.h"
#include "graph/program.h"
#include "worker/store.h"

namespace tbd::cntk {

class Weights final : public NamedTensors<Array> {
 public:
  Weights(const Program& program, CNTK::DataType type);  // all zero

  void write(const std::string& name, const HostTensor& value) override { tensors_.at(name).set(value); }
  std::vector<HostTensor> read(std::span<const std::string> names) override;
  void copy(const std::string& from, const std::string& to) override { tensors_.at(to).set(tensors_.at(from).host()); }

 private:
  Array zeros_like(const std::string& name, const Array& weight) override;

  CNTK::DataType type_;
};

}  // namespace tbd::cntk
