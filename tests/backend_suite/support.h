// What the tests of all back-ends share: sessions, random batches and weights, comparisons in double.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend_suite/facts.h"
#include "base/philox.h"
#include "worker/initial_values.h"
#include "worker/inputs.h"
#include "worker/session.h"

namespace tbd {

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

// The inputs and the program's norms.
inline TensorMap with_norms(const Program& program, TensorMap inputs, int64_t batch = 4) {
  const TensorMap norms = input_needs(program, {{"N", batch}}).norms;
  inputs.insert(norms.begin(), norms.end());
  return inputs;
}

// A batch for all inputs of a step, and the program's norms.
inline TensorMap random_batch(const Program& program, const Bindings& bindings = {{"N", 4}}) {
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
  ImageLayout layout = {};  // the back-end's usual one
  bool capture = true;
  int64_t threads = 1;
  Mode mode = {};
  Device device = Device::kCpu;
};

inline const Device kFirstGpu{"cuda:0"};
// Why the tests cannot run there, one line; empty where they can.
inline std::string why_not_on(const Device& device) {
  const SessionIdentity identity = make_session()->identity();
  if (std::ranges::count(identity.devices, device) > 0) return "";
  return cat("no device ", device, " answers ", identity.framework);
}

inline LoadOptions load_options(const SessionSetup& setup = {}) {
  LoadOptions options = {.bindings = {{"N", setup.batch}}, .threads = setup.threads};
  options.layout = setup.layout.empty() ? backend_facts().layouts.front() : setup.layout;
  options.mode = setup.mode;
  options.capture = setup.capture;
  options.device = setup.device;
  options.seed = 5;
  return options;
}

// With initial weights.
inline std::unique_ptr<Session> loaded(const Program& program, const SessionSetup& setup = {},
                                       std::unique_ptr<Session> session = make_session()) {
  session->load(program, load_options(setup));
  session->write(initial_weights(program));
  return session;
}
// And a random batch staged.
inline std::unique_ptr<Session> ready(const Program& program, const SessionSetup& setup = {},
                                      std::unique_ptr<Session> made = make_session()) {
  std::unique_ptr<Session> session = loaded(program, setup, std::move(made));
  session->stage(random_batch(program, {{"N", setup.batch}}));
  return session;
}

// With these values of parameters, buffers and inputs, of a batch of 1.
inline std::unique_ptr<Session> session_with(const Program& program, const TensorMap& values) {
  auto session = loaded(program, {.batch = 1});
  TensorMap weights, inputs;
  for (const auto& [name, tensor] : values)
    (name.starts_with("param/") || name.starts_with("buffer/") ? weights : inputs)[name] = tensor;
  session->write(weights);
  session->stage(with_norms(program, inputs, 1));
  return session;
}

inline StepRequest at_step(int64_t number, std::optional<double> lr = {}, std::optional<std::string> phase = {}) {
  return {.number = number, .schedule_step = number, .lr = lr, .only_phase = std::move(phase)};
}

// |a - b| / |b| over all elements; |a| where b is 0.
inline double relative_error(const std::vector<double>& a, const std::vector<double>& b) {
  require(a.size() == b.size(), "sizes differ");
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}
inline double relative_error(const HostTensor& a, const HostTensor& b) {
  return relative_error(as_doubles(a), as_doubles(b));
}

// Softmax does not see a bias of all keys: of toy_programs(), the state whose gradient is 0 but for rounding.
inline bool vanishes(const std::string& name) { return name.starts_with("state/self_attn.k_proj.bias/"); }

inline std::string sentence_from(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// The first node that the back-end does not run, and why; empty where it runs all.
inline std::string why_not(const Program& program) {
  for (const NodeSupport& node : make_session()->check(program))
    if (node.level == NodeSupport::Level::unsupported) return cat(node.kind, " '", node.node, "': ", node.detail);
  return "";
}
inline bool runs(const Program& program) { return why_not(program).empty(); }

// Normal, but 0 on the padding rows of embeddings, whose lookups have no gradient.
inline std::vector<double> direction_for(const Phase& phase, const std::string& name, const Shape& shape) {
  std::vector<double> direction = as_doubles(random_tensor(name, shape, DType::f64));
  for (const Node& node : phase.nodes)
    if (const auto* op = std::get_if<Embedding>(&node.op); op && op->pad >= 0 && node.inputs[1] == name)
      std::fill_n(direction.begin() + op->pad * op->width, op->width, 0.0);
  return direction;
}

// Along one random direction per parameter the loss of the phase changes as its gradient says, by central differences.
// The session holds weights and a staged batch of an fp64 program.
inline void expect_gradients(Session& session, const Phase& phase, double h = 1e-5, double tolerance = 1e-6) {
  const auto loss = [&] { return session.step(at_step(1, 0.0, phase.name)).loss; };
  loss();
  const TensorMap before = session.read({"grad/", "param/"});
  for (const std::string& name : phase.wrt()) {
    const HostTensor& weight = before.at("param/" + name);
    const std::vector<double> w = as_doubles(weight), g = as_doubles(before.at("grad/" + name));
    const std::vector<double> direction = direction_for(phase, name, weight.shape());
    const auto loss_at = [&](double by) {
      std::vector<double> moved = w;
      for (size_t i = 0; i < w.size(); ++i) moved[i] += by * direction[i];
      session.write({{"param/" + name, doubles(weight.shape(), moved)}});
      return loss();
    };
    const double above = loss_at(h), below = loss_at(-h);
    loss_at(0);
    double expected = 0, scale = 0;
    for (size_t i = 0; i < w.size(); ++i) {
      expected += g[i] * direction[i];
      scale += std::abs(g[i] * direction[i]);
    }
    EXPECT_NEAR((above - below) / (2 * h), expected, tolerance * scale + 1e-9) << phase.name << " " << name;
  }
}

}  // namespace tbd
