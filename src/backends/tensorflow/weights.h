// The state of a program: parameters, buffers, optimizer slots as resource variables. Phases share it by name.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "backends/tensorflow/lowering.h"
#include "graph/program.h"
#include "record/memory_log.h"
#include "worker/store.h"

namespace tbd::tensorflow {

struct Variable {
  Operand value;                    // one read, shared by all consumers
  TF_Output handle = {nullptr, 0};  // of the resource
  TF_Output fed = {nullptr, 0};     // what `assign` stores
  TF_Operation* assign = nullptr;
  double scale = 1;  // what it holds over what `read` gives
};

class Weights final : public NamedTensors<Variable> {
 public:
  Weights(const Program& program, TfGraph& graph);  // all zero; weights of convolutions lie as hwio
  // Once the graph is complete: where the variables are.
  void attach(TfSession& session) { session_ = &session; }

  // `scale` is that of a new one.
  const Variable& slot(const std::string& weight, std::string_view slot, double scale = 1);
  // Where gradients of micro-batches add up; no part of the state.
  const Variable& accumulator(const std::string& weight);

  // What is written waits for `flush`, which stores all of it in one run.
  void write(const std::string& name, const HostTensor& value) override;
  void flush();
  std::vector<HostTensor> read(std::span<const std::string> names) override;
  // What is copied waits, too: every set of fetches makes TensorFlow cut and optimise the graph anew.
  void copy(const std::string& from, const std::string& to) override;
  // All variables, by the names of their resources' ops, with the role that the program gives them.
  struct Owned {
    std::string handle;
    int64_t bytes;
    MemoryClass kind;
  };
  std::vector<Owned> owned() const;

 private:
  Variable declare(const std::string& name, const Operand& like);
  void settle_copies();  // all sources in one run
  Variable zeros_like(const std::string& name, const Variable& weight) override { return declare(name, weight.value); }

  TfGraph& graph_;
  TfSession* session_ = nullptr;
  std::map<std::string, Variable> accumulators_;
  std::map<TF_Operation*, std::pair<TF_Output, TensorHandle>> unwritten_;  // assignment -> where to feed what
  std::map<std::string, std::string> uncopied_;                            // to -> from
};

}  // namespace tbd::tensorflow
