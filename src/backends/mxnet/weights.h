// The state of a program: parameters, buffers, optimizer slots. Phases share it by name.
#pragma once
#include "backends/mxnet/api.h"
#include "graph/program.h"
#include "worker/store.h"

namespace tbd::mxnet {

class MemoryWatch;

// An array that MXNet's kernels want as a multiple of ours: the momentum times -lr, the running variance without its
// n / (n - 1), moments of betas that were rounded. Those rules are linear, so a factor that stays costs nothing; one
// that changes costs a pass.
class Held {
 public:
  Held() = default;
  explicit Held(Array array) : array_(std::move(array)) {}
  const Array& array() const { return array_; }  // = ours x factor() unless it is lent
  double factor() const { return lent_ ? lent_->factor : factor_; }
  void hold(double factor);  // not 0
  // The same for kernels that read it alone, until the next hold(): what was held comes back then, bit for bit.
  void lend(double factor);
  // What was written to the array is that multiple of ours.
  void became(double factor) { factor_ = factor; }
  HostTensor held() const { return lent_ ? lent_->held : array_.host(); }  // = ours x factor()
  HostTensor ours() const;
  void set(const HostTensor& value, double factor = 1);  // = ours x factor

 private:
  struct Lent {
    HostTensor held;
    double factor;
  };
  void take_back();

  Array array_;
  double factor_ = 1;
  std::optional<Lent> lent_;
};

class Weights final : public NamedTensors<Held> {
 public:
  explicit Weights(const Program& program);  // all zero

  const Array& parameter(const std::string& name) { return NamedTensors::parameter(name).array(); }

  void write(const std::string& name, const HostTensor& value) override { tensors_.at(name).set(value); }
  std::vector<HostTensor> read(std::span<const std::string> names) override;
  std::optional<Multiple> multiple(const std::string& name) const override;
  void write_multiple(const std::string& name, const Multiple& value) override {
    tensors_.at(name).set(value.kept, value.scale);
  }
  void copy(const std::string& from, const std::string& to) override { tensors_.at(to).set(tensors_.at(from).ours()); }
  void tell(MemoryWatch& memory) const;

 private:
  Held zeros_like(const std::string& name, const Held& weight) override;
};

}  // namespace tbd::mxnet
