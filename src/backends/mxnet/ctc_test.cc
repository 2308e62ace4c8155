// ctc_loss against the sum over all paths, in both precisions: blanks, lengths, empty labels, labels that fit no path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "backends/mxnet/test_programs.h"

namespace tbd::mxnet {
namespace {

struct Batch {
  std::vector<int32_t> lengths, labels, counts;  // labels (N, U)
  int64_t samples() const { return static_cast<int64_t>(lengths.size()); }
  int64_t places() const { return static_cast<int64_t>(labels.size()) / samples(); }
};

constexpr int64_t kFrames = 4, kClasses = 4;

// Repeats merged, blanks dropped.
std::vector<int32_t> read_from(const std::vector<int32_t>& path, int32_t blank) {
  std::vector<int32_t> out;
  for (size_t t = 0; t < path.size(); ++t)
    if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) out.push_back(path[t]);
  return out;
}

// -log of the probability of all paths that read as the labels; absent where none does. x (steps, classes).
std::optional<double> by_paths(std::span<const double> x, int32_t steps, const std::vector<int32_t>& labels,
                               int32_t blank) {
  double sum = 0;
  std::vector<int32_t> path(static_cast<size_t>(steps));
  const auto log_probability = [&](int32_t t, int32_t c) {
    double all = 0;
    for (int64_t i = 0; i < kClasses; ++i) all += std::exp(x[static_cast<size_t>(t * kClasses + i)]);
    return x[static_cast<size_t>(t * kClasses + c)] - std::log(all);
  };
  const auto walk = [&](const auto& self, int32_t t, double log_path) -> void {
    if (t == steps) {
      if (read_from(path, blank) == labels) sum += std::exp(log_path);
      return;
    }
    for (int32_t c = 0; c < kClasses; ++c) {
      path[static_cast<size_t>(t)] = c;
      self(self, t + 1, log_path + log_probability(t, c));
    }
  };
  walk(walk, 0, 0);
  return sum > 0 ? std::optional(-std::log(sum)) : std::nullopt;
}

constexpr double kNorm = 2;

// Over all samples, those without a path counting 0.
double expected_loss(const Batch& batch, const HostTensor& logits, int32_t blank) {
  double sum = 0;
  for (int64_t n = 0; n < batch.samples(); ++n) {
    const auto begin = batch.labels.begin() + n * batch.places();
    const std::vector<int32_t> labels(begin, begin + batch.counts[static_cast<size_t>(n)]);
    const auto own = logits.as<double>().subspan(static_cast<size_t>(n * kFrames * kClasses), kFrames * kClasses);
    sum += by_paths(own, batch.lengths[static_cast<size_t>(n)], labels, blank).value_or(0);
  }
  return kNorm * sum;
}

HostTensor expected_gradient(const Batch& batch, HostTensor logits, int32_t blank) {
  HostTensor out(DType::f64, logits.shape());
  constexpr double kStep = 1e-5;
  for (size_t i = 0; i < out.as<double>().size(); ++i) {
    double& x = logits.as<double>()[i];
    const double before = x;
    const auto loss_at = [&](double value) {
      x = value;
      return expected_loss(batch, logits, blank);
    };
    out.as<double>()[i] = (loss_at(before + kStep) - loss_at(before - kStep)) / (2 * kStep);
    x = before;
  }
  return out;
}

Program program(const Batch& batch, int64_t blank, Precision precision) {
  return program_by(
      [&](Builder& g) {
        const int64_t n = batch.samples();
        const Tensor logits = g.parameter("logits", {n, kFrames, kClasses});
        const Tensor lengths = g.input("lengths", {n}, DType::i32);
        const Tensor labels = g.input("labels", {n, batch.places()}, DType::i32);
        const Tensor counts = g.input("counts", {n}, DType::i32);
        g.loss("ctc", g.ctc_loss(logits, lengths, labels, counts, {.blank = blank}), kNorm);
      },
      precision);
}

TensorMap inputs(const Batch& batch) {
  const int64_t n = batch.samples();
  return {{"lengths", integers({n}, batch.lengths)},
          {"labels", integers({n, batch.places()}, batch.labels)},
          {"counts", integers({n}, batch.counts)}};
}

void check_ctc(const Batch& batch, int32_t blank, const std::string& what) {
  const HostTensor logits =
      converted(random_tensor("logits", {batch.samples(), kFrames, kClasses}, DType::f32), DType::f64);
  for (const Precision& precision : {Precision::kFp64, Precision::kFp32}) {
    const TensorMap after = stepped(program(batch, blank, precision), {{"param/logits", logits}}, inputs(batch));
    const double bound = precision == Precision::kFp64 ? 1e-12 : 1e-5;
    EXPECT_NEAR(as_doubles(after.at("loss"))[0], expected_loss(batch, logits, blank), bound) << what;
    const std::vector<double> expected = as_doubles(expected_gradient(batch, logits, blank));
    EXPECT_THAT(as_doubles(after.at("grad/logits")),
                testing::Pointwise(testing::DoubleNear(precision == Precision::kFp64 ? 1e-8 : 1e-5), expected))
        << what;
  }
}

// Labels behind a sample's count are none of the classes.
TEST(CtcOnMxnet, SumsOverAllPathsWhateverTheBlank) {
  check_ctc({{4, 3, 4, 1, 2}, {1, 2, 3, 2, 2, -7, 1, 99, 99, 3, 99, 99, 2, 1, -7}, {3, 2, 1, 1, 2}}, 0, "first");
  check_ctc({{4, 3, 4, 1, 2}, {0, 2, 3, 2, 2, -7, 0, 99, 99, 3, 99, 99, 2, 0, -7}, {3, 2, 1, 1, 2}}, 1, "second");
  check_ctc({{4, 3, 4, 1, 2}, {1, 2, 0, 2, 2, -7, 1, 99, 99, 0, 99, 99, 2, 1, -7}, {3, 2, 1, 1, 2}}, 3, "last");
}

TEST(CtcOnMxnet, TakesSamplesWithoutLabels) {
  check_ctc({{4, 3}, {1, 2, 0, 0}, {2, 0}}, 0, "one of two");
  check_ctc({{4, 3}, {5, 5, 5, 5}, {0, 0}}, 0, "all");
  check_ctc({{1, 4}, {5, 5, 5, 5}, {0, 0}}, 2, "all, turned");
}

TEST(CtcOnMxnet, IgnoresSamplesWithoutAValidPath) {
  check_ctc({{2, 4, 3}, {1, 1, 2, 1, 2, 2}, {2, 2, 2}}, 0, "too few steps for a blank");
  check_ctc({{1, 2}, {1, 1, 2, 2}, {2, 2}}, 0, "all");
  check_ctc({{4, 4}, {1, 2, 3, 1, 2, 3, 1, 1, 2, 3, 1, 2, 3, 1}, {7, 2}}, 0, "more labels than steps");
}

// CTCLoss writes no gradient for a sample that fits no path: what the memory held before, here no number, must not
// count.
TEST(CtcOnMxnet, KeepsNoStateBetweenSteps) {
  const Batch batch = {{4, 1}, {1, 2, 3, 1}, {2, 2}};
  const Program forgetful = program(batch, 0, Precision::kFp32);
  auto session = loaded(forgetful, {.batch = 1});
  const HostTensor logits = random_tensor("logits", {2, kFrames, kClasses}, DType::f64);
  HostTensor infinite = logits;
  for (double& x : infinite.as<double>()) x = std::numeric_limits<double>::infinity();
  for (const HostTensor& each : {infinite, logits}) {
    session->write({{"param/logits", each}});
    session->stage(with_norms(forgetful, inputs(batch), 1));
    session->step(at_step(1, 0.0));
  }
  EXPECT_LT(relative_error(session->read({"grad/"}).at("grad/logits"), expected_gradient(batch, logits, 0)), 1e-5);
}

// A loss that rounds to 0 has no gradient to speak of; CTCLoss gives 1 where as many labels as steps leave one path.
TEST(CtcOnMxnet, HasZeroGradientForACertainPath) {
  const Batch batch = {{2}, {1, 2}, {2}};
  HostTensor logits(DType::f64, {1, kFrames, kClasses});
  for (size_t t = 0; t < 2; ++t) logits.as<double>()[t * kClasses + t + 1] = 100;
  const TensorMap after = stepped(program(batch, 0, Precision::kFp32), {{"param/logits", logits}}, inputs(batch));
  EXPECT_NEAR(as_doubles(after.at("loss"))[0], 0, 1e-5);
  for (const double x : as_doubles(after.at("grad/logits"))) EXPECT_NEAR(x, 0, 1e-5);
}

}  // namespace
}  // namespace tbd::mxnet
