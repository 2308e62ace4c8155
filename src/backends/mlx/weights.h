// The state of a program: parameters, buffers, optimizer slots. Phases share it by name. MLX's arrays do not change: an
// update puts new ones in their place.
#pragma once
#include <optional>

#include "backends/mlx/tensors.h"
#include "graph/program.h"
#include "worker/store.h"

namespace tbd::mlx {

struct Held {
  std::optional<array> data;
  Layout layout = Layout::row;
  DType dtype = DType::f32;
};

class Weights final : public NamedTensors<Held> {
 public:
  explicit Weights(const Program& program);  // all zero; weights of convolutions lie channels last

  void write(const std::string& name, const HostTensor& value) override;
  std::vector<HostTensor> read(std::span<const std::string> names) override;
  void copy(const std::string& from, const std::string& to) override { tensors_.at(to).data = tensors_.at(from).data; }

 private:
  Held zeros_like(const std::string& name, const Held& weight) override;
};

}  // namespace tbd::mlx
