// For tests: a small program made by the builder, its results held against numbers computed by hand in double, its
// gradients against central differences, and single and low precision against double.
#pragma once
#include "backends/tensorflow/gradient_registry.h"
#include "backends/tensorflow/phase.h"
#include "backends/tensorflow/test_support.h"
#include "graph/builder.h"

namespace tbd::tensorflow {

inline bool is_kind(TF_Operation* op, std::string_view kind) { return TF_OperationOpType(op) == kind; }

class Trial {
 public:
  Trial() : g(program_, "train") {}

  // A trained tensor of normal numbers.
  Tensor parameter(const std::string& name, const Shape& shape) {
    values_["param/" + name] = random_tensor(name, shape, DType::f64);
    return g.parameter(name, shape);
  }
  Tensor integers(const std::string& name, const Shape& shape, const Vector& values) {
    return input(name, converted(doubles(shape, values), DType::i32));
  }
  Tensor floats(const std::string& name, const Shape& shape, const Vector& values) {
    return input(name, doubles(shape, values));
  }
  // An output which is also a term of the loss: its sum, weighted by random numbers where it is not a scalar.
  void result(const std::string& name, const Tensor& y) {
    g.output(name, y);
    if (y.shape().rank() == 0) return g.loss(name, y);
    const std::string weights = name + ".weights";
    const HostTensor random = random_tensor(weights, y.shape(), DType::f64);
    g.loss(name, g.sum(g.mul(y, input(weights, random))));
  }
  // What a parameter or an input holds.
  Vector operator[](const std::string& name) const {
    const auto found = values_.find("param/" + name);
    return as_doubles(found != values_.end() ? found->second : values_.at(name));
  }

  // Gradients and outputs of one step, by the names of a step's files.
  TensorMap run(Precision precision) {
    std::unique_ptr<Session> session = loaded_in(precision);
    session->step(at_step(1, 0.0));
    return session->read({"output/", "grad/"});
  }
  void expect_in_double(const std::map<std::string, Vector>& outputs) {
    finish();
    const TensorMap actual = run(Precision::kFp64);
    for (const auto& [name, expected] : outputs) {
      const HostTensor& y = actual.at("output/" + name);
      EXPECT_LT(relative_error(y, doubles(y.shape(), expected)), 1e-12) << name;
    }
    expect_gradients(*loaded_in(Precision::kFp64), program_.phases[0]);
  }
  void expect_in_other_precisions() {
    const TensorMap exact = run(Precision::kFp64);
    for (const auto& [precision, tolerance] : {std::pair(Precision::kFp32, 2e-6), std::pair(Precision::kBf16, 3e-2)})
      for (const auto& [tensor_name, tensor] : run(precision))
        EXPECT_LT(relative_error(tensor, exact.at(tensor_name)), tolerance) << precision.text() << " " << tensor_name;
  }
  void expect(const std::map<std::string, Vector>& outputs) {
    expect_in_double(outputs);
    expect_in_other_precisions();
  }
  const Program& program() {
    finish();
    return program_;
  }
  // How many ops of the graph of a step `matches` is true for.
  template <class Matches>
  int64_t count_ops(Matches matches) {
    finish();
    tbd_register_gradients();
    TfGraph graph;
    Weights weights(program_, graph);
    const BoundPhase bound(program_, program_.phases[0], {.bindings = {{"N", 1}}});
    SessionContext session = {graph, weights};
    const PhaseRunner runner(bound, session);
    int64_t count = 0;
    size_t position = 0;
    while (TF_Operation* op = TF_GraphNextOperation(graph, &position)) count += matches(op) ? 1 : 0;
    return count;
  }

 private:
  Tensor input(const std::string& name, const HostTensor& value) {
    const auto extents = value.shape().extents();
    values_[name] = value;
    return g.input(name, {extents.begin(), extents.end()}, value.dtype() == DType::f64 ? DType::f32 : value.dtype());
  }
  void finish() {
    if (!program_.step.empty()) return;
    g.update({});
    program_.step = {{.phase = "train"}};
  }
  std::unique_ptr<Session> loaded_in(Precision precision) {
    const Program lowered = with_precision(program_, precision);
    auto session = loaded(lowered, {.batch = 1});
    TensorMap inputs;
    for (const auto& [name, value] : values_) {
      const DType stored = precision == Precision::kFp64 || !is_float(value.dtype()) ? value.dtype() : DType::f32;
      if (name.starts_with("param/"))
        session->write({{name, converted(value, stored)}});
      else
        inputs[name] = converted(value, stored);
    }
    session->stage(with_norms(lowered, inputs, 1));
    return session;
  }

  Program program_ = {.model = "trial", .config = "small"};
  TensorMap values_;

 public:
  Builder g;
};

}  // namespace tbd::tensorflow
