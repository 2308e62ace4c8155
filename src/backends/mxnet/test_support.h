// What the back-end's tests share: sessions, random batches and weights, comparisons in double.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "backends/mxnet/identity.h"
#include "backends/mxnet/session.h"
#include "base/philox.h"
#include "graph/passes.h"
#include "worker/initial_values.h"
#include "worker/inputs.h"

namespace tbd::mxnet {

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

// With weights.
inline std::unique_ptr<MxnetSession> loaded(const Program& program, int64_t batch = 4, bool capture = true) {
  auto session = std::make_unique<MxnetSession>();
  session->load(program, {.bindings = {{"N", batch}}, .capture = capture, .seed = 5});
  session->write(initial_weights(program));
  return session;
}
// And a random batch staged.
inline std::unique_ptr<MxnetSession> ready(const Program& program, int64_t batch = 4, bool capture = true) {
  auto session = loaded(program, batch, capture);
  session->stage(random_batch(program, {{"N", batch}}));
  return session;
}

inline StepRequest at_step(int64_t number, std::optional<double> lr = {}) {
  return {.number = number, .schedule_step = number, .lr = lr, .only_phase = {}};
}

// |a - b| / |b| over all elements; |a| where b is 0.
inline double relative_error(const HostTensor& a, const HostTensor& b) {
  const std::vector<double> x = as_doubles(a), y = as_doubles(b);
  require(x.size() == y.size(), "sizes differ");
  double difference = 0, size = 0;
  for (size_t i = 0; i < x.size(); ++i) difference += (x[i] - y[i]) * (x[i] - y[i]), size += y[i] * y[i];
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

// Every gradient of the program's first phase against central differences, element by element; in double.
inline void expect_gradients(MxnetSession& session, const Program& program, const std::string& what) {
  const auto loss = [&] { return session.step(at_step(1, 0.0)).loss; };
  loss();
  const TensorMap before = session.read({"grad/", "param/"});
  constexpr double kStep = 1e-5;
  for (const std::string& name : program.phases[0].wrt()) {
    HostTensor moved = before.at("param/" + name), numeric(DType::f64, moved.shape());
    for (size_t i = 0; i < moved.as<double>().size(); ++i) {
      const double x = moved.as<double>()[i];
      const auto loss_at = [&](double value) {
        moved.as<double>()[i] = value;
        session.write({{"param/" + name, moved}});
        return loss();
      };
      const double above = loss_at(x + kStep), below = loss_at(x - kStep);
      numeric.as<double>()[i] = (above - below) / (2 * kStep);
      loss_at(x);
    }
    EXPECT_LT(relative_error(before.at("grad/" + name), numeric), 1e-7) << what << " " << name;
  }
}

inline std::string sentence_from(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// Whether MXNet runs every node, written out where it must be.
inline bool runs_on_mxnet(const Program& program) {
  return std::ranges::none_of(check_nodes(program),
                              [](const NodeSupport& node) { return node.level == NodeSupport::Level::unsupported; });
}

}  // namespace tbd::mxnet
