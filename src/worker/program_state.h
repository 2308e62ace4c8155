// What the names of a program's state mean: which there are and of what shape, averages that follow their weights until
// the first step, and the first tensor that is not finite.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/program.h"
#include "worker/store.h"

namespace tbd {

class ProgramState {
 public:
  // The store holds the program's parameters and buffers and all slots, and outlives this. `averaged`: the weights with
  // an average.
  ProgramState(const Program& program, Store& store, const std::set<std::string>& averaged);

  // Throws Error(invalid) on an unknown name, with the nearest ones, another shape or a scale of nothing; nothing is
  // written then. With prefix scale/ tensors are read as they are kept (kScalePrefix).
  void write(const TensorMap& values);
  void read(const std::vector<std::string>& prefixes, TensorMap& into);
  // Before the first step: averages that nobody wrote become copies of their weights, as which they were read so far.
  void start_averages();
  // The first of parameters, then buffers, that holds an inf or nan; empty when none.
  std::string first_non_finite();

 private:
  Store& store_;
  std::map<std::string, Shape> shapes_;          // by full name
  std::map<std::string, std::string> followed_;  // average -> weight, by full names; of those that are not started
};

bool is_finite(const HostTensor& tensor);
bool starts_with_any(std::string_view name, const std::vector<std::string>& prefixes);

}  // namespace tbd
