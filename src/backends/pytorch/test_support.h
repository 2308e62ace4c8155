// What the back-end's tests share: sessions, random batches and weights, comparisons in double.
#pragma once
#include <cmath>
#include <functional>
#include <string>

#include "backends/pytorch/session.h"
#include "base/philox.h"
#include "graph/passes.h"
#include "worker/initial_values.h"
#include "worker/inputs.h"

namespace tbd::pytorch {

inline HostTensor doubles(const Shape& shape, const std::vector<double>& values) {
  return HostTensor(DType::f64, shape, std::span<const double>(values));
}

// Standard normal.
inline HostTensor random_tensor(const std::string& name, const Shape& shape, DType dtype) {
  const Philox random(7, name);
  std::vector<double> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
  return converted(doubles(shape, values), dtype);
}

// A batch for all inputs of a step, and the program's norms.
inline TensorMap random_batch(const Program& program, const Bindings& bindings) {
  const InputNeeds needs = input_needs(program, bindings);
  TensorMap batch = generated_inputs(needs, /*seed=*/7, /*step=*/1);
  batch.insert(needs.norms.begin(), needs.norms.end());
  return batch;
}

inline TensorMap initial_weights(const Program& program) {
  TensorMap out;
  for (const Parameter& p : program.parameters) out["param/" + p.name] = initial_value(p, 3, 1);
  for (const Parameter& b : program.buffers) out["buffer/" + b.name] = initial_value(b, 3, 1);
  return out;
}

struct SessionSetup {
  int64_t batch = 4;
  std::string layout = "nchw";
  bool capture = true;
  bool obey_liveness = true;
  int64_t threads = 1;
};

inline std::unique_ptr<Session> loaded(const Program& program, const SessionSetup& setup = {}) {
  auto session = make_torch_session(setup.obey_liveness);
  LoadOptions options;
  options.bindings = {{"N", setup.batch}};
  options.layout = setup.layout;
  options.capture = setup.capture;
  options.threads = setup.threads;
  session->load(program, options);
  session->write(initial_weights(program));
  return session;
}
// Loaded, with weights, and a random batch staged.
inline std::unique_ptr<Session> ready(const Program& program, const SessionSetup& setup = {}) {
  auto session = loaded(program, setup);
  session->stage(random_batch(program, {{"N", setup.batch}}));
  return session;
}

inline StepRequest at_step(int64_t number, std::optional<double> lr = {}) {
  return {.number = number, .schedule_step = number, .lr = lr, .only_phase = {}};
}

// |a - b| / |b| over all elements; 0 when both are 0.
inline double relative_error(const std::vector<double>& x, const std::vector<double>& y) {
  require(x.size() == y.size(), "sizes differ");
  double difference = 0, size = 0;
  for (size_t i = 0; i < x.size(); ++i) difference += (x[i] - y[i]) * (x[i] - y[i]), size += y[i] * y[i];
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}
inline double relative_error(const HostTensor& a, const HostTensor& b) {
  return relative_error(as_doubles(a), as_doubles(b));
}

inline std::string sentence_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace tbd::pytorch
