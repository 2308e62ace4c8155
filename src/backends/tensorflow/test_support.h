// What the back-end's tests share: sessions, random batches and weights, comparisons in double.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "backends/tensorflow/session.h"
#include "base/philox.h"
#include "graph/passes.h"
#include "toy_programs.h"
#include "worker/initial_values.h"
#include "worker/inputs.h"

namespace tbd::tensorflow {

using Vector = std::vector<double>;

inline HostTensor doubles(const Shape& shape, const Vector& values) {
  return HostTensor(DType::f64, shape, std::span<const double>(values));
}

inline HostTensor random_tensor(const std::string& name, const Shape& shape, DType dtype) {
  const Philox random(7, name);
  Vector values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
  return converted(doubles(shape, values), dtype);
}

// A batch for all inputs of a step; norms are those of the program.
inline TensorMap random_batch(const Program& program, int64_t batch = 4) {
  const InputNeeds needs = input_needs(program, {{"N", batch}});
  TensorMap out = generated_inputs(needs, /*seed=*/7, /*step=*/1);
  out.insert(needs.norms.begin(), needs.norms.end());
  return out;
}

struct SessionSetup {
  int64_t batch = 4;
  bool capture = true;
  int64_t threads = 1;
  std::string mode = {};
};

// With the initial weights written.
inline std::unique_ptr<TensorFlowSession> loaded(const Program& program, const SessionSetup& setup = {}) {
  auto session = std::make_unique<TensorFlowSession>();
  LoadOptions options;
  options.bindings = {{"N", setup.batch}};
  options.layout = "nhwc";
  options.capture = setup.capture;
  options.threads = setup.threads;
  options.mode = setup.mode;
  session->load(program, options);
  write_initial_values(*session, program, 3, 1);
  return session;
}
// Loaded, and a random batch staged.
inline std::unique_ptr<TensorFlowSession> ready(const Program& program, const SessionSetup& setup = {}) {
  auto session = loaded(program, setup);
  session->stage(random_batch(program, setup.batch));
  return session;
}

inline StepRequest at_step(int64_t number, std::optional<double> lr = {}, std::optional<std::string> phase = {}) {
  return {.number = number, .schedule_step = number, .lr = lr, .only_phase = phase};
}

// |a - b| / |b| over all elements; |a - b| when b is 0.
inline double relative_error(const HostTensor& a, const HostTensor& b) {
  const Vector x = as_doubles(a), y = as_doubles(b);
  require(x.size() == y.size(), "sizes differ");
  double difference = 0, size = 0;
  for (size_t i = 0; i < x.size(); ++i) difference += (x[i] - y[i]) * (x[i] - y[i]), size += y[i] * y[i];
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

// The sentence of what `work` throws.
template <class Work>
std::string sentence_of(Work work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// Along one random direction per parameter the loss of the phase changes as its gradient says, by central differences.
// The session holds weights and a staged batch of an fp64 program.
inline void expect_gradients(Session& session, const Phase& phase, double h = 1e-5, double tolerance = 1e-6) {
  const auto loss = [&] { return session.step(at_step(1, 0.0, phase.name)).loss; };
  loss();
  const TensorMap before = session.read({"grad/", "param/"});
  for (const std::string& name : phase.wrt()) {
    const HostTensor& weight = before.at("param/" + name);
    const Vector w = as_doubles(weight), g = as_doubles(before.at("grad/" + name));
    const Vector direction = as_doubles(random_tensor(name, weight.shape(), DType::f64));
    const auto loss_at = [&](double by) {
      Vector moved = w;
      for (size_t i = 0; i < w.size(); ++i) moved[i] += by * direction[i];
      session.write({{"param/" + name, doubles(weight.shape(), moved)}});
      return loss();
    };
    const double above = loss_at(h), below = loss_at(-h);
    loss_at(0);
    double expected = 0, scale = 0;
    for (size_t i = 0; i < w.size(); ++i) expected += g[i] * direction[i], scale += std::abs(g[i] * direction[i]);
    EXPECT_NEAR((above - below) / (2 * h), expected, tolerance * scale + 1e-9) << phase.name << " " << name;
  }
}

}  // namespace tbd::tensorflow
