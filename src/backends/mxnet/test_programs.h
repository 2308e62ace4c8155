// Programs of one phase for the back-end's tests, and one step of them.
#pragma once
#include "backends/mxnet/test_support.h"
#include "graph/builder.h"

namespace tbd::mxnet {

inline HostTensor integers(const Shape& shape, const std::vector<int32_t>& values) {
  return HostTensor(DType::i32, shape, std::span<const int32_t>(values));
}

// One phase, written by `build`, whose step is one run of it; every parameter is trained.
inline Program program_by(const std::function<void(Builder&)>& build, Precision precision = Precision::kFp64) {
  Program program = {.model = "toy", .config = "one phase"};
  Builder g(program, "train");
  build(g);
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  return with_precision(program, precision);
}

// Elementwise products with fixed weights, summed: a loss whose gradient by the value is those weights.
inline Tensor weighted(Builder& g, const std::string& name, const Tensor& value) {
  const Tensor weights = g.parameter(name, value.shape());
  return g.sum(g.mul(value, weights));
}

// For ops that no builder writes: the loss is the sum of the op's result times the parameter "weights".
inline Program program_of(const Op& op, const std::vector<std::pair<std::string, Shape>>& operands,
                          Precision precision = Precision::kFp64) {
  Program program = {.model = "toy", .config = "one op"};
  Phase phase = {.name = "train"};
  std::vector<std::string> names;
  std::vector<Shape> shapes;
  for (const auto& [name, shape] : operands) {
    program.parameters.push_back({name, shape, DType::f32, {}});
    names.push_back(name);
    shapes.push_back(shape);
  }
  program.parameters.push_back({"weights", output_shapes(op, shapes)[0], DType::f32, {}});
  phase.nodes = {
      {"y", op, names}, {"product", Binary{Binary::Function::mul}, {"y", "weights"}}, {"sum", Reduce{}, {"product"}}};
  phase.loss = {{"loss", "sum", 1}};
  phase.outputs = {{"y", "y"}};
  ParameterGroup all;
  for (const Parameter& parameter : program.parameters) all.parameters.push_back(parameter.name);
  phase.update.groups = {all};
  program.phases = {phase};
  program.step = {{.phase = "train"}};
  return with_precision(program, precision);
}

// Standard normal numbers for all parameters.
inline TensorMap random_weights(const Program& program) {
  TensorMap out;
  for (const Parameter& p : program.parameters) out["param/" + p.name] = random_tensor(p.name, p.shape, DType::f64);
  return out;
}

// After one step from these weights and inputs, at batch 1.
inline TensorMap stepped(const Program& program, const TensorMap& weights, const TensorMap& inputs) {
  auto session = loaded(program, {.batch = 1});
  session->write(weights);
  session->stage(with_norms(program, inputs, 1));
  session->step(at_step(1, 0.0));
  return session->read({"grad/", "output/", "loss"});
}

inline void expect_gradients_of(const Program& program, const TensorMap& inputs, const std::string& what) {
  auto session = loaded(program, {.batch = 1});
  session->write(random_weights(program));
  session->stage(with_norms(program, inputs, 1));
  expect_gradients(*session, program, what);
}

}  // namespace tbd::mxnet
