// For tests: one node alone through the session, with its results and the gradients of a weighted sum of them.
#pragma once
#include "backends/pytorch/test_support.h"

namespace tbd::pytorch {

struct Operand {
  HostTensor value;  // floats are given in double
  bool trained = true;
};
inline Operand fixed(HostTensor value) { return {std::move(value), false}; }
inline HostTensor integers(const Shape& shape, const std::vector<double>& values) {
  return converted(doubles(shape, values), DType::i32);
}
inline HostTensor normal(const std::string& name, const Shape& shape) { return random_tensor(name, shape, DType::f64); }

struct NodeRun {
  std::vector<std::vector<double>> results;
  std::vector<std::vector<double>> gradients;  // by operand; empty where it is not trained
  double loss = 0;
};

inline constexpr size_t kNodeReads = 8;  // more results than any op has

// Floats are stored as `stored`, and cast to `computed` for the node alone.
struct NodeTypes {
  DType stored = DType::f64, computed = DType::f64;
  Mode mode = {};            // in which the session runs it
  size_t read = kNodeReads;  // so many of its first results are read, and given
};

// Operands x0, x1, ...; results r0, r1, ...: a scalar is the loss, others are weighted by normal numbers and summed.
inline Program node_program(const Op& op, const std::vector<Operand>& operands, const NodeTypes& types) {
  Program program = {.model = "node", .config = kind(op)};
  Phase phase = {.name = "train"};
  phase.update.groups.emplace_back();
  Node node = {"y", op, {}};
  std::vector<Shape> shapes;
  const bool casts = types.stored != types.computed;
  for (const Operand& operand : operands) {
    const std::string name = cat("x", shapes.size());
    const Shape& shape = shapes.emplace_back(operand.value.shape());
    const bool real = is_float(operand.value.dtype());
    const auto extents = shape.extents();
    if (operand.trained && real) {
      program.parameters.push_back({name, shape, types.stored, {}});
      phase.update.groups[0].parameters.push_back(name);
    } else
      phase.inputs.push_back({name, {extents.begin(), extents.end()}, real ? types.stored : DType::i32, ""});
    if (real && casts) phase.nodes.push_back({name + ".low", Cast{types.computed}, {name}});
    node.inputs.push_back(real && casts ? name + ".low" : name);
  }
  phase.nodes.push_back(node);
  const std::vector<Shape> results = output_shapes(op, shapes);
  for (size_t r = 0; r < std::min(results.size(), types.read); ++r) {
    std::string value = r == 0 ? "y" : cat("y:", r);
    const auto add = [&](std::string_view what, Op next, std::vector<std::string> inputs) {
      phase.nodes.push_back({cat(what, r), std::move(next), std::move(inputs)});
      return cat(what, r);
    };
    if (casts) value = add("high", Cast{types.stored}, {value});
    phase.outputs[cat("r", r)] = value;
    if (results[r].rank() > 0) {
      const auto extents = results[r].extents();
      phase.inputs.push_back({cat("w", r), {extents.begin(), extents.end()}, types.stored, ""});
      value = add("sum", Reduce{}, {add("weighted", Binary{Binary::Function::mul}, {value, cat("w", r)})});
    }
    phase.loss.push_back({cat("l", r), value, 1});
  }
  program.phases = {phase};
  program.step = {{.phase = "train"}};
  return program;
}

inline HostTensor random_weights(const InputSpec& input) {
  std::vector<int64_t> extents;
  for (const Dim& dim : input.shape) extents.push_back(dim.extent);
  return random_tensor(input.name, Shape(extents), input.dtype);
}

inline NodeRun run_node(const Op& op, const std::vector<Operand>& operands, const NodeTypes& types = {}) {
  const Program program = node_program(op, operands, types);
  auto session = loaded(program, {.batch = 1, .mode = types.mode});
  TensorMap batch = input_needs(program, {{"N", 1}}).norms;
  for (const InputSpec& input : program.phases[0].inputs)
    if (input.name.starts_with("w")) batch[input.name] = random_weights(input);
  for (size_t i = 0; i < operands.size(); ++i) {
    const HostTensor& value = operands[i].value;
    const HostTensor stored = is_float(value.dtype()) ? converted(value, types.stored) : value;
    if (operands[i].trained && is_float(value.dtype()))
      session->write({{cat("param/x", i), stored}});
    else
      batch[cat("x", i)] = stored;
  }
  session->stage(batch);
  NodeRun run = {.loss = session->step(at_step(1, 0.0)).loss};
  const TensorMap files = session->read({"output/", "grad/"});
  for (size_t r = 0; r < program.phases[0].outputs.size(); ++r)
    run.results.push_back(as_doubles(files.at(cat("output/r", r))));
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto gradient = files.find(cat("grad/x", i));
    run.gradients.push_back(gradient == files.end() ? std::vector<double>{} : as_doubles(gradient->second));
  }
  return run;
}

}  // namespace tbd::pytorch
