// CTC against the sum over all paths, one by one.
#include "backends/tensorflow/gradient_registry.h"
#include "backends/tensorflow/trial.h"

namespace tbd::tensorflow {
namespace {

constexpr size_t kSteps = 4, kClasses = 3, kWidth = 3;

struct CtcCase {
  int64_t blank;
  std::vector<Vector> labels;  // of each sample
  Vector lengths;
};

// A path without repeats and blanks.
Vector labels_of(size_t path, size_t length, double blank) {
  Vector out;
  double before = -1;
  for (size_t t = 0; t < length; ++t, path /= kClasses) {
    const auto now = static_cast<double>(path % kClasses);
    if (now != before && now != blank) out.push_back(now);
    before = now;
  }
  return out;
}

// -log p(labels) of one sample; 0 where no path gives them.
double loss_of(const double* logits, size_t length, const Vector& labels, double blank) {
  double p = 0;
  for (size_t path = 0; path < static_cast<size_t>(std::pow(kClasses, length)); ++path) {
    if (labels_of(path, length, blank) != labels) continue;
    double product = 1;
    size_t rest = path;
    for (size_t t = 0; t < length; ++t, rest /= kClasses) {
      const double* row = logits + t * kClasses;
      double total = 0;
      for (size_t c = 0; c < kClasses; ++c) total += std::exp(row[c]);
      product *= std::exp(row[rest % kClasses]) / total;
    }
    p += product;
  }
  return p == 0 ? 0 : -std::log(p);
}

// Labels one below the other, numbers that are no class behind each sample's own.
Vector padded(const std::vector<Vector>& labels) {
  Vector out;
  for (const Vector& each : labels)
    for (size_t u = 0; u < kWidth; ++u) out.push_back(u < each.size() ? each[u] : u == 1 ? -7 : 99);
  return out;
}

class CtcOp : public testing::TestWithParam<CtcCase> {
 protected:
  void build(Trial& trial) {
    const auto& [blank, labels, lengths] = GetParam();
    const auto n = std::ssize(labels);
    Vector counts;
    for (const Vector& each : labels) counts.push_back(static_cast<double>(each.size()));
    const Tensor logits = trial.parameter("logits", {n, kSteps, kClasses});
    const Tensor valid = trial.integers("lengths", {n}, lengths);
    const Tensor given = trial.integers("labels", {n, kWidth}, padded(labels));
    trial.result("loss", trial.g.ctc_loss(logits, valid, given, trial.integers("counts", {n}, counts), {blank}));
  }
  double loss(const Vector& logits, size_t sample) const {
    const auto length = static_cast<size_t>(GetParam().lengths[sample]);
    return loss_of(&logits[sample * kSteps * kClasses], length, GetParam().labels[sample],
                   static_cast<double>(GetParam().blank));
  }
};

TEST_P(CtcOp, EqualsTheSumOverAllPaths) {
  Trial trial;
  build(trial);
  double total = 0;
  for (size_t sample = 0; sample < GetParam().labels.size(); ++sample) total += loss(trial["logits"], sample);
  trial.expect({{"loss", {total}}});
  EXPECT_GT(tbd_gradient_calls("CTCLoss"), 0);
}

TEST_P(CtcOp, HasNoGradientBehindTheLengthNorWhereNoPathFits) {
  Trial trial;
  build(trial);
  trial.program();
  for (const Precision& precision : {Precision::kFp64, Precision::kFp32}) {
    const Vector g = as_doubles(trial.run(precision).at("grad/logits"));
    for (size_t i = 0; i < g.size(); ++i) {
      const size_t sample = i / (kSteps * kClasses), t = i / kClasses % kSteps;
      const bool counts = t < static_cast<size_t>(GetParam().lengths[sample]) && loss(trial["logits"], sample) != 0;
      EXPECT_EQ(g[i] != 0, counts) << precision.text() << " " << sample << " " << t;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, CtcOp,
    testing::Values(CtcCase{0, {{1, 2}, {1, 1}, {2}, {}, {2, 1, 2}}, {4, 3, 1, 2, 4}},
                    CtcCase{1, {{0, 2}, {0, 0}, {2}, {2, 0, 2}}, {4, 4, 3, 3}},
                    CtcCase{2, {{0, 1, 0}, {1}, {}}, {4, 2, 3}},
                    CtcCase{0, {{1, 1}, {1, 2, 1}, {2, 1}, {1, 2, 2}}, {2, 2, 2, 3}},  // only the third has a path
                    CtcCase{0, {{}, {}}, {4, 2}}),
    [](const auto& info) { return cat("Blank", info.param.blank, "Case", info.index); });

}  // namespace
}  // namespace tbd::tensorflow
