// The state of a program: parameters, buffers, optimizer slots as resource variables. Phases share it by name.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/tensorflow/lowering.h"
#include "graph/program.h"
#include "record/memory_log.h"

namespace tbd::tensorflow {

struct Variable {
  Operand value;                    // one read, shared by all consumers
  TF_Output handle = {nullptr, 0};  // of the resource
  TF_Output fed = {nullptr, 0};     // what `assign` stores
  TF_Operation* assign = nullptr;
  double scale = 1;  // what it holds over what `read` gives
};

class Weights {
 public:
  Weights(const Program& program, TfGraph& graph);  // all zero; weights of convolutions lie as hwio

  const Variable& parameter(const std::string& name) const { return parameters_.at(name); }
  const Variable& buffer(const std::string& name) const { return buffers_.at(name); }
  const Variable& weight(const std::string& name) const;  // a parameter or a buffer

  // Slot `slot` of a weight ("momentum"), zero and laid out as the weight when it is new; `scale` is that of a new one.
  const Variable& slot(const std::string& weight, const std::string& slot, double scale = 1);
  // The average of a weight; a copy of it until `start_averages`, unless written.
  const Variable& average(const std::string& weight);
  void start_averages(TfSession& session);
  // Where gradients of micro-batches add up; no part of the state.
  const Variable& accumulator(const std::string& weight);

  // Names as in the files of a step: param/<p>, buffer/<b>, state/<p>/<slot>. write throws Error(invalid) on an
  // unknown name or another shape. What is written waits for `flush`, which stores all of it in one run.
  void write(const std::string& name, const HostTensor& value);
  void flush(TfSession& session);
  void read(TfSession& session, const std::vector<std::string>& prefixes, TensorMap& into);
  // All variables, by the names of their resources' ops, with the role that the program gives them.
  struct Owned {
    std::string handle;
    int64_t bytes;
    MemoryClass kind;
  };
  std::vector<Owned> owned() const;
  // The first of parameters and buffers that holds an inf or nan; empty when none.
  std::string first_non_finite(TfSession& session);

 private:
  Variable declare(const std::string& name, const Operand& like);
  const Variable* find(const std::string& name) const;  // nullptr when unknown

  TfGraph& graph_;
  std::map<std::string, Variable> parameters_, buffers_;
  std::map<std::string, Variable> accumulators_;
  std::map<std::string, Variable> slots_;     // by "<weight>/<slot>"
  std::set<std::string> unstarted_averages_;  // weights whose average follows them until the first step
  std::map<TF_Operation*, std::pair<TF_Output, TensorHandle>> unwritten_;  // assignment -> where to feed what
};

bool is_finite(const HostTensor& tensor);
bool starts_with_any(const std::string& name, const std::vector<std::string>& prefixes);

}  // namespace tbd::tensorflow
