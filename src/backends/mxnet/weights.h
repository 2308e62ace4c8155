// The state of a program: parameters, buffers, optimizer slots. Phases share it by name.
#pragma once
#include <map>
#include <set>

#include "backends/mxnet/api.h"
#include "graph/program.h"

namespace tbd::mxnet {

class MemoryWatch;

// An array that MXNet's kernels want as a multiple of ours: the momentum times -lr, the running variance without its
// n / (n - 1), moments of betas that were rounded. Those rules are linear, so a factor that stays costs nothing; one
// that changes costs a pass.
class Held {
 public:
  Held() = default;
  explicit Held(Array array) : array_(std::move(array)) {}
  const Array& array() const { return array_; }  // = ours x factor()
  double factor() const { return factor_; }
  void hold(double factor);  // not 0
  // What was written to the array is that multiple of ours.
  void became(double factor) { factor_ = factor; }
  HostTensor ours() const;
  void set(const HostTensor& ours);

 private:
  Array array_;
  double factor_ = 1;
};

class Weights {
 public:
  explicit Weights(const Program& program);  // all zero

  const Array& parameter(const std::string& name) const { return parameters_.at(name).array(); }
  Held& buffer(const std::string& name) { return buffers_.at(name); }
  Held& weight(const std::string& name);  // a parameter or a buffer

  // Slot `slot` of a weight ("momentum"), made zero when it is new.
  Held& slot(const std::string& weight, const std::string& slot);
  // The average of a weight; a copy of it until `start_averages`, unless written.
  Held& average(const std::string& weight);
  void start_averages();

  // Names as in the files of a step: param/<p>, buffer/<b>, state/<p>/<slot>. write throws Error(invalid) on an
  // unknown name or another shape.
  void write(const std::string& name, const HostTensor& value);
  void read(const std::vector<std::string>& prefixes, TensorMap& into);
  void tell(MemoryWatch& memory) const;
  // The first of parameters and buffers that holds an inf or nan; empty when none.
  std::string first_non_finite() const;

 private:
  Held* find(const std::string& name);  // null when unknown
  void copy_to_average(const std::string& weight);

  std::map<std::string, Held> parameters_, buffers_;
  std::map<std::string, Held> slots_;         // by "<weight>/<slot>"
  std::set<std::string> unstarted_averages_;  // weights whose average follows them until the first step
};

bool is_finite(const Array& array);
bool starts_with_any(const std::string& name, const std::vector<std::string>& prefixes);

}  // namespace tbd::mxnet
