// The state of a program: parameters, buffers, optimizer slots. Phases share it by name.
#pragma once
#include "backends/cntk/array.h"
#include "graph/program.h"
#include "worker/store.h"

namespace tbd::cntk {

class Weights final : public NamedTensors<Array> {
 public:
  Weights(const Program& program, CNTK::DataType type);  // all zero

  // Leaves of networks, whose memory is that of the arrays.
  const CNTK::Parameter& leaf_of_parameter(const std::string& name) const { return parameters_.at(name); }
  const CNTK::Constant& leaf_of_buffer(const std::string& name) const { return buffers_.at(name); }

  void write(const std::string& name, const HostTensor& value) override { tensors_.at(name).set(value); }
  std::vector<HostTensor> read(std::span<const std::string> names) override;
  void copy(const std::string& from, const std::string& to) override { tensors_.at(to).set(tensors_.at(from).host()); }

 private:
  Array zeros_like(const std::string& name, const Array& weight) override;

  CNTK::DataType type_;
  std::map<std::string, CNTK::Parameter> parameters_;
  std::map<std::string, CNTK::Constant> buffers_;
};

}  // namespace tbd::cntk
