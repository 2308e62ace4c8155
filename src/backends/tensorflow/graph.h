// A TensorFlow graph under construction, and the session that runs it.
#pragma once
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/tensorflow/api.h"
#include "backends/tensorflow/wire.h"

namespace tbd::tensorflow {

class TfGraph;

// One op being added. Data inputs come in the op's order; names are the op's attribute names.
class OpBuilder {
 public:
  OpBuilder(TfGraph& graph, const char* kind, const std::string& name);
  OpBuilder& in(TF_Output input) {
    TF_AddInput(description_, input);
    return *this;
  }
  OpBuilder& list(std::span<const TF_Output> inputs);
  OpBuilder& after(const TF_Operation* operation);  // a control input
  OpBuilder& type(const char* name, DType dtype);
  OpBuilder& integer(const char* name, int64_t value);
  OpBuilder& integers(const char* name, std::span<const int64_t> values);
  OpBuilder& real(const char* name, double value);
  OpBuilder& boolean(const char* name, bool value);
  OpBuilder& text(const char* name, const std::string& value);
  OpBuilder& shape(const char* name, const Shape& value);
  OpBuilder& tensor(const char* name, TF_Tensor* value);
  OpBuilder& types(const char* name, std::span<const DType> values);
  TF_Operation* finish();  // throws what TensorFlow says against it
  TF_Output out(int index = 0) { return {finish(), index}; }

 private:
  TF_OperationDescription* description_;
  std::string kind_, name_;
};

// Ops are named after the scope they are added in: "train/fc/MatMul", and "..._1" where that is taken.
class TfGraph {
 public:
  TfGraph() : graph_(TF_NewGraph()) {}
  ~TfGraph() { TF_DeleteGraph(graph_); }
  TfGraph(const TfGraph&) = delete;
  TfGraph& operator=(const TfGraph&) = delete;
  operator TF_Graph*() const { return graph_; }

  void set_scope(const std::string& scope);  // characters that TensorFlow refuses become '_'
  const std::string& scope() const { return scope_; }
  OpBuilder op(const char* kind);

  TF_Output placeholder(DType dtype, const Shape& physical);
  TF_Output constant(const HostTensor& value);  // row-major
  TF_Output constant(double value, DType dtype);
  TF_Output constant(std::span<const int64_t> values);  // i32, rank 1: shapes, axes, pads
  TF_Output filled(double value, DType dtype, const Shape& shape);

  // d (sum of ys . upstream) / d xs; an x that no y depends on gives an output whose oper is nullptr.
  std::vector<TF_Output> gradients(std::span<const TF_Output> ys, std::span<const TF_Output> xs,
                                   std::span<const TF_Output> upstream);

 private:
  std::string unique(const std::string& name);

  TF_Graph* graph_;
  std::string scope_;
  std::set<std::string> names_;
};

struct Feed {
  TF_Output to;
  TF_Tensor* value;
};

class TfSession {
 public:
  // Throws Error(unsupported) where a GPU is asked for and TensorFlow can open none: it would train on the CPU.
  TfSession(const TfGraph& graph, const SessionSettings& settings);
  ~TfSession();
  TfSession(const TfSession&) = delete;
  TfSession& operator=(const TfSession&) = delete;

  // One run; the fetched tensors in the order asked for. With `metadata` the run is traced in full and its RunMetadata
  // (tensorflow/core/protobuf/config.proto) is left there as bytes; without, it has no run options at all.
  std::vector<TensorHandle> run(std::span<const Feed> feeds, std::span<const TF_Output> fetches,
                                std::span<TF_Operation* const> targets, std::string* metadata = nullptr);

 private:
  bool has_gpu() const;
  void close();

  std::string traced_options_;
  TF_Session* session_ = nullptr;
};

}  // namespace tbd::tensorflow
