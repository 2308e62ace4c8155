// Recurrent layers: lengths, directions and states, which RNN knows only in part.
#include <gtest/gtest.h>

#include <cmath>

#include "backends/mxnet/test_support.h"
#include "graph/builder.h"

namespace tbd::mxnet {
namespace {

constexpr int64_t kSamples = 3, kSteps = 6, kIn = 4, kHidden = 5;
constexpr int32_t kLengths[] = {2, 6, 3};

struct Form {
  bool reverse = false;
  bool state = true;  // the loss reads h and c, not y alone
  bool gru = false;   // which has no c
  Precision precision = Precision::kFp64;
};

// Ends a phase written by `build`.
Program finished(Program& program, Builder& g, Precision precision) {
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  return with_precision(program, precision);
}

Tensor weighted_sum(Builder& g, const Tensor& value, const Tensor& weights) { return g.sum(g.mul(value, weights)); }

// Parameters by which y, h and c are weighed: their gradients are y, h and c.
struct ResultWeights {
  ResultWeights(Builder& g, const Form& form) : y(g.parameter("y", {kSamples, kSteps, kHidden})) {
    if (form.state) h = g.parameter("h", {kSamples, kHidden});
    if (form.state && !form.gru) c = g.parameter("c", {kSamples, kHidden});
  }
  Tensor y;
  std::optional<Tensor> h, c;  // where the form reads them
};

// Loss terms of a layer's results that the form reads, each weighed.
void read_all(Builder& g, const std::string& suffix, const Tensor& x, const Form& form,
              const std::optional<Tensor>& lengths, const std::function<Tensor(const Tensor&)>& steps,
              const std::function<Tensor(const Tensor&)>& own, const ResultWeights& weights) {
  const auto term = [&](const char* name, const Tensor& value, const Tensor& weight) {
    g.loss(name + suffix, weighted_sum(g, value, weight));
  };
  if (form.gru) {
    const Gated r = g.gru("rnn", x, {.hidden = kHidden, .reverse = form.reverse}, "", lengths);
    term("y", r.y, steps(weights.y));
    if (form.state) term("h", r.last, own(*weights.h));
    return;
  }
  const Recurrent r = g.lstm("rnn", x, {.hidden = kHidden, .reverse = form.reverse}, "", lengths);
  term("y", r.y, steps(weights.y));
  if (form.state) {
    term("h", r.last.h, own(*weights.h));
    term("c", r.last.c, own(*weights.c));
  }
}

Program with_lengths(const Form& form) {
  Program program = {.model = "toy", .config = "lengths"};
  Builder g(program, "train");
  const Tensor x = g.parameter("x", {kSamples, kSteps, kIn}), lengths = g.input("lengths", {kSamples}, DType::i32);
  const ResultWeights weights(g, form);
  const auto all = [](const Tensor& each) { return each; };
  read_all(g, "", x, form, lengths, all, all, weights);
  return finished(program, g, form.precision);
}

// The same, each sample alone and only as long as it is.
Program sample_by_sample(const Form& form) {
  Program program = {.model = "toy", .config = "samples"};
  Builder g(program, "train");
  const Tensor x = g.parameter("x", {kSamples, kSteps, kIn});
  const ResultWeights weights(g, form);
  for (int64_t n = 0; n < kSamples; ++n) {
    const auto own = [&](const Tensor& all) { return g.slice(all, {.axis = 0, .begin = n, .end = n + 1}); };
    const auto steps = [&](const Tensor& all) {
      return g.slice(own(all), {.axis = 1, .begin = 0, .end = kLengths[n]});
    };
    read_all(g, cat(n), steps(x), form, std::nullopt, steps, own, weights);
  }
  return finished(program, g, form.precision);
}

TensorMap after_one_step(const Program& program) {
  auto session = loaded(program, {.batch = 1});
  TensorMap weights, batch;
  for (const Parameter& p : program.parameters) weights["param/" + p.name] = random_tensor(p.name, p.shape, DType::f64);
  if (!program.phases[0].inputs.empty())
    batch["lengths"] = HostTensor(DType::i32, {kSamples}, std::span<const int32_t>(kLengths));
  session->write(weights);
  session->stage(with_norms(program, batch, 1));
  session->step(at_step(1, 0.0));
  return session->read({"grad/", "loss"});
}

// Of the loss: sums over results, each the gradient of its weight, times the weights.
double magnitude_of_terms(const TensorMap& after) {
  double sum = 0;
  for (const char* name : {"y", "h", "c"}) {
    const auto found = after.find(cat("grad/", name));
    if (found == after.end()) continue;
    const std::vector<double> results = as_doubles(found->second),
                              weights = as_doubles(random_tensor(name, found->second.shape(), DType::f64));
    for (size_t i = 0; i < results.size(); ++i) sum += std::abs(results[i] * weights[i]);
  }
  return sum;
}

class LengthsOnMxnet : public testing::TestWithParam<Form> {};

TEST_P(LengthsOnMxnet, MatchEachSampleRunAlone) {
  const TensorMap together = after_one_step(with_lengths(GetParam())),
                  alone = after_one_step(sample_by_sample(GetParam()));
  ASSERT_EQ(together.size(), alone.size());
  ASSERT_TRUE(alone.contains("grad/y") && alone.contains("grad/x"));
  const double bound = GetParam().precision == Precision::kFp64 ? 1e-13 : 2e-6;
  for (const auto& [name, tensor] : alone) {
    if (name == "loss") continue;
    EXPECT_LT(relative_error(together.at(name), tensor), bound) << name;
  }
  // The loss is a sum whose terms cancel: what it may be off by is a share of their magnitudes.
  const double difference = as_doubles(together.at("loss"))[0] - as_doubles(alone.at("loss"))[0];
  EXPECT_LT(std::abs(difference), bound * magnitude_of_terms(alone));
}

std::vector<Form> forms() {
  std::vector<Form> out;
  for (const Precision& precision : {Precision::kFp64, Precision::kFp32})
    for (const bool reverse : {false, true})
      for (const bool state : {false, true})
        for (const bool gru : {false, true}) out.push_back({reverse, state, gru, precision});
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, LengthsOnMxnet, testing::ValuesIn(forms()), [](const auto& info) {
  const Form& form = info.param;
  return cat(form.gru ? "Gru" : "Lstm", form.precision == Precision::kFp64 ? "fp64" : "fp32",
             form.reverse ? "Reverse" : "Forward", form.state ? "WithState" : "");
});

// (rows of w) x + b, of gate `gate`.
double gate_sum(const TensorMap& weights, const char* kind, int64_t row, const std::vector<double>& x) {
  const auto w = weights.at(cat("param/rnn.weight_", kind)).as<double>();
  double sum = weights.at(cat("param/rnn.bias_", kind)).as<double>()[static_cast<size_t>(row)];
  for (size_t i = 0; i < x.size(); ++i) sum += w[static_cast<size_t>(row) * x.size() + i] * x[i];
  return sum;
}

TEST(GruOnMxnet, ResetsAfterTheProduct) {
  Program program = {.model = "toy", .config = "gru"};
  Builder g(program, "train");
  const Tensor x = g.parameter("x", {1, kSteps, kIn});
  const Gated r = g.gru("rnn", x, {.hidden = kHidden}, "");
  g.output("y", r.y);
  g.output("last", r.last);
  g.loss("sum", g.sum(g.square(r.y)));
  program = finished(program, g, Precision::kFp64);
  TensorMap weights;
  for (const Parameter& p : program.parameters) weights["param/" + p.name] = random_tensor(p.name, p.shape, DType::f64);
  auto session = loaded(program, {.batch = 1});
  session->write(weights);
  session->stage(with_norms(program, {}, 1));
  session->step(at_step(1, 0.0));
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  std::vector<double> h(kHidden), all;
  for (int64_t t = 0; t < kSteps; ++t) {
    const auto own = weights.at("param/x").as<double>().subspan(static_cast<size_t>(t * kIn), kIn);
    const std::vector<double> step(own.begin(), own.end()), before = h;
    const auto ih = [&](int64_t row) { return gate_sum(weights, "ih", row, step); };
    const auto hh = [&](int64_t row) { return gate_sum(weights, "hh", row, before); };
    for (int64_t i = 0; i < kHidden; ++i) {
      const double reset = sigmoid(ih(i) + hh(i)), keep = sigmoid(ih(kHidden + i) + hh(kHidden + i));
      const double fresh = std::tanh(ih(2 * kHidden + i) + reset * hh(2 * kHidden + i));
      h[static_cast<size_t>(i)] = fresh + keep * (before[static_cast<size_t>(i)] - fresh);
    }
    all.insert(all.end(), h.begin(), h.end());
  }
  const TensorMap after = session->read({"output/"});
  EXPECT_LT(relative_error(after.at("output/y"), doubles({1, kSteps, kHidden}, all)), 1e-13);
  EXPECT_LT(relative_error(after.at("output/last"), doubles({1, kHidden}, h)), 1e-13);
  expect_gradients(*session, program, "gru");
}

TEST(LstmCellOnMxnet, StepByStepIsTheLayer) {
  const auto program = [](bool unrolled) {
    Program out = {.model = "toy", .config = "cells"};
    Builder g(out, "train");
    const Tensor x = g.parameter("x", {kSamples, kSteps, kIn});
    const ResultWeights weights(g, Form{});
    const Tensor zero = g.affine(*weights.h, 0);
    State state = {zero, zero};
    std::vector<Tensor> steps;
    for (int64_t t = 0; unrolled && t < kSteps; ++t) {
      const Tensor step = g.reshape(g.slice(x, {.axis = 1, .begin = t, .end = t + 1}), {0, kIn});
      state = g.lstm_cell("rnn", step, state, {.hidden = kHidden});
      steps.push_back(g.reshape(state.h, {0, 1, kHidden}));
    }
    const Recurrent r = unrolled ? Recurrent{g.concat(steps, 1), state} : g.lstm("rnn", x, {.hidden = kHidden}, "");
    g.loss("y", weighted_sum(g, r.y, weights.y));
    g.loss("h", weighted_sum(g, r.last.h, *weights.h));
    g.loss("c", weighted_sum(g, r.last.c, *weights.c));
    return finished(out, g, Precision::kFp64);
  };
  const TensorMap cells = after_one_step(program(true)), layer = after_one_step(program(false));
  ASSERT_EQ(cells.size(), layer.size());
  for (const auto& [name, tensor] : layer) EXPECT_LT(relative_error(cells.at(name), tensor), 1e-13) << name;
}

// h leaves the segment and comes back into the next; so does its gradient.
TEST(HostCallOnMxnet, LastStatesCrossTheCut) {
  Program program = {.model = "toy", .config = "cut"};
  Builder g(program, "train");
  const Tensor x = g.parameter("x", {kSamples, kSteps, kIn});
  const Recurrent r = g.lstm("rnn", x, {.hidden = kHidden});
  const HostCall call = {.function = "top_rows", .results = {{{0, 1}, DType::i32}}};
  const Tensor label = g.reshape(g.host_call("top", {r.last.h}, call).front(), {0});
  g.loss("ce", g.softmax_cross_entropy(g.linear("fc", r.last.c, {.out = kHidden}), label));
  g.loss("size", g.sum(g.square(r.last.h)));
  program = finished(program, g, Precision::kFp64);
  auto session = loaded(program, {.batch = 1});
  session->write({{"param/x", random_tensor("x", {kSamples, kSteps, kIn}, DType::f64)}});
  session->stage(with_norms(program, {}, 1));
  expect_gradients(*session, program, "cut");
}

}  // namespace
}  // namespace tbd::mxnet
