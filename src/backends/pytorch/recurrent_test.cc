// What recurrence can get wrong in torch: order of gates, lengths, direction, which state is the last.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/pytorch/one_node.h"

namespace tbd::pytorch {
namespace {

using testing::Each;

constexpr int64_t kSteps = 6, kIn = 3, kHidden = 4;
const std::vector<double> kLengths = {3, 6, 1, 6, 2};  // unsorted, with ties, the shortest and the longest

Operand whole_x(int64_t samples) { return {normal("x", {samples, kSteps, kIn})}; }

// weight_ih, weight_hh, bias_ih, bias_hh.
std::vector<Operand> weights() {
  return {{normal("ih", {4 * kHidden, kIn})},
          {normal("hh", {4 * kHidden, kHidden})},
          {normal("bih", {4 * kHidden})},
          {normal("bhh", {4 * kHidden})}};
}

std::vector<Operand> lstm_operands(const Operand& x, const std::vector<double>& lengths) {
  std::vector<Operand> out = {x};
  if (!lengths.empty()) out.push_back(fixed(integers({static_cast<int64_t>(lengths.size())}, lengths)));
  for (Operand& weight : weights()) out.push_back(std::move(weight));
  return out;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One step of one sample, gates in the order i, f, g, o.
void step(const double* x, std::vector<double>& h, std::vector<double>& c) {
  const std::vector<Operand> w = weights();
  const auto gate = [&](size_t row) {
    double sum = w[2].value.as<double>()[row] + w[3].value.as<double>()[row];
    for (size_t j = 0; j < kIn; ++j) sum += w[0].value.as<double>()[row * kIn + j] * x[j];
    for (size_t j = 0; j < kHidden; ++j) sum += w[1].value.as<double>()[row * kHidden + j] * h[j];
    return sum;
  };
  std::vector<double> h_next(kHidden), c_next(kHidden);
  for (size_t j = 0; j < kHidden; ++j) {
    const double i = sigmoid(gate(j)), f = sigmoid(gate(kHidden + j)), g = std::tanh(gate(2 * kHidden + j));
    c_next[j] = f * c[j] + i * g;
    h_next[j] = sigmoid(gate(3 * kHidden + j)) * std::tanh(c_next[j]);
  }
  h = h_next;
  c = c_next;
}

// y, h and c by the definition in graph/ops/recurrent.h.
std::vector<std::vector<double>> lstm_by_definition(const HostTensor& x, const std::vector<double>& lengths,
                                                    bool reverse) {
  const int64_t samples = x.shape()[0];
  std::vector<double> y(static_cast<size_t>(samples * kSteps * kHidden)), last_h, last_c;
  for (int64_t n = 0; n < samples; ++n) {
    const int64_t length = lengths.empty() ? kSteps : static_cast<int64_t>(lengths[static_cast<size_t>(n)]);
    std::vector<double> h(kHidden), c(kHidden);
    for (int64_t s = 0; s < length; ++s) {
      const int64_t t = reverse ? length - 1 - s : s;
      step(x.as<double>().data() + (n * kSteps + t) * kIn, h, c);
      std::ranges::copy(h, y.begin() + (n * kSteps + t) * kHidden);
    }
    last_h.insert(last_h.end(), h.begin(), h.end());
    last_c.insert(last_c.end(), c.begin(), c.end());
  }
  return {y, last_h, last_c};
}

struct Form {
  bool reverse, lengths;
};

class LstmOp : public testing::TestWithParam<Form> {
 protected:
  Lstm op() const { return {.hidden = kHidden, .reverse = GetParam().reverse}; }
  static std::vector<double> lengths() { return GetParam().lengths ? kLengths : std::vector<double>{}; }
};

TEST_P(LstmOp, IsItsDefinition) {
  const std::vector<Operand> in = lstm_operands(whole_x(5), lengths());
  const auto expected = lstm_by_definition(in[0].value, lengths(), GetParam().reverse);
  const NodeRun exact = run_node(op(), in);
  for (size_t r = 0; r < 3; ++r) EXPECT_LT(relative_error(exact.results[r], expected[r]), 1e-12) << r;
  for (const auto& [type, tolerance] : {std::pair(DType::f32, 1e-5), {DType::bf16, 4e-2}, {DType::f16, 5e-3}}) {
    const NodeRun low = run_node(op(), in, {DType::f32, type});  // torch runs fp32 without lengths by oneDNN
    for (size_t r = 0; r < 3; ++r) EXPECT_LT(relative_error(low.results[r], exact.results[r]), tolerance) << type;
    for (size_t i = 0; i < in.size(); ++i)
      EXPECT_LT(relative_error(low.gradients[i], exact.gradients[i]), 2 * tolerance) << type << " " << i;
  }
}
INSTANTIATE_TEST_SUITE_P(Forms, LstmOp,
                         testing::Values(Form{false, false}, Form{true, false}, Form{false, true}, Form{true, true}),
                         [](const auto& info) {
                           return cat(info.param.reverse ? "Reverse" : "Forward", info.param.lengths ? "Lengths" : "");
                         });

// The part of a result (N, T, width) that sample n's padding makes.
std::vector<double> padding_of(const std::vector<double>& values, size_t n, size_t width) {
  const auto at = [&](double t) { return values.begin() + static_cast<std::ptrdiff_t>((n * kSteps + t) * width); };
  return {at(kLengths[n]), at(kSteps)};
}

// Mode eager-onednn runs no packed sequence where nothing reads c, the last of the results.
const NodeTypes kPadded = {.mode = Mode::kEagerOnednn, .read = 2};

void expect_no_effect_of_padding(const NodeTypes& types) {
  for (const bool reverse : {false, true}) {
    const Lstm op = {.hidden = kHidden, .reverse = reverse};
    Operand x = whole_x(5);
    const NodeRun run = run_node(op, lstm_operands(x, kLengths), types);
    for (size_t n = 0; n < kLengths.size(); ++n) {
      EXPECT_THAT(padding_of(run.results[0], n, kHidden), Each(0.0)) << n;
      EXPECT_THAT(padding_of(run.gradients[0], n, kIn), Each(0.0)) << n;
      for (auto t = static_cast<size_t>(kLengths[n]); t < kSteps; ++t)
        x.value.as<double>()[(n * kSteps + t) * kIn] = std::nan("");
    }
    const NodeRun other = run_node(op, lstm_operands(x, kLengths), types);
    EXPECT_EQ(other.results, run.results);
    EXPECT_EQ(other.gradients[2], run.gradients[2]);
  }
}

TEST(LstmLengths, PaddingHasNoEffectAndNoGradient) { expect_no_effect_of_padding({}); }
TEST(LstmLengths, PaddingHasNoEffectAndNoGradientInOneDnn) { expect_no_effect_of_padding(kPadded); }

// From 1 to all steps, both among them.
std::vector<double> random_lengths(int64_t samples) {
  const Philox random(11, "lengths");
  std::vector<double> out = {1, kSteps};
  for (uint64_t n = 2; n < static_cast<uint64_t>(samples); ++n)
    out.push_back(1 + std::floor(random.uniform(n) * static_cast<double>(kSteps)));
  return out;
}

void expect_same(const NodeRun& run, const NodeRun& expected, double tolerance) {
  ASSERT_EQ(run.results.size(), expected.results.size());
  for (size_t r = 0; r < run.results.size(); ++r)
    EXPECT_LT(relative_error(run.results[r], expected.results[r]), tolerance) << r;
  for (size_t i = 0; i < run.gradients.size(); ++i)
    EXPECT_LT(relative_error(run.gradients[i], expected.gradients[i]), 2 * tolerance) << i;
}

TEST(LstmLengths, PaddedIsPacked) {
  const std::vector<Operand> in = lstm_operands(whole_x(9), random_lengths(9));
  for (const bool reverse : {false, true})
    for (const size_t read : {1U, 2U, 3U}) {
      const Lstm op = {.hidden = kHidden, .reverse = reverse};
      const NodeRun packed = run_node(op, in, {.read = read});
      expect_same(run_node(op, in, {.mode = Mode::kEagerOnednn, .read = read}), packed, 1e-12);
      NodeTypes low = {DType::f32, DType::f32, Mode::kEagerOnednn, read};
      expect_same(run_node(op, in, low), packed, 1e-5);
      low.computed = DType::bf16;
      expect_same(run_node(op, in, low), packed, 4e-2);
    }
}

// Full lengths go another way through torch than none.
TEST(LstmLengths, FullLengthsEqualNoLengths) {
  for (const bool reverse : {false, true}) {
    const Lstm op = {.hidden = kHidden, .reverse = reverse};
    const NodeRun with = run_node(op, lstm_operands(whole_x(2), {kSteps, kSteps})),
                  none = run_node(op, lstm_operands(whole_x(2), {}));
    for (size_t r = 0; r < 3; ++r) EXPECT_LT(relative_error(with.results[r], none.results[r]), 1e-13);
    for (size_t i = 0; i < 4; ++i) EXPECT_LT(relative_error(with.gradients[i + 2], none.gradients[i + 1]), 1e-13);
    EXPECT_LT(relative_error(with.gradients[0], none.gradients[0]), 1e-13);
  }
}

TEST(LstmLengths, MustLieWithinTheSequence) {
  for (const double length : {0.0, -1.0, static_cast<double>(kSteps + 1)})
    for (const NodeTypes& types : {NodeTypes{}, kPadded})
      EXPECT_THAT(sentence_from([&] {
                    run_node(Lstm{.hidden = kHidden}, lstm_operands(whole_x(2), {2, length}), types);
                  }),
                  testing::HasSubstr("ength"))
          << length;
}

TEST(LstmCellOp, IsOneStepOfTheLayer) {
  std::vector<Operand> in = {{normal("x", {5, kIn})}, {normal("h", {5, kHidden})}, {normal("c", {5, kHidden})}};
  for (Operand& weight : weights()) in.push_back(std::move(weight));
  const NodeRun run = run_node(LstmCell{.hidden = kHidden}, in);
  for (int64_t n = 0; n < 5; ++n) {
    const auto state = [&](const std::vector<double>& all) {
      return std::vector<double>(all.begin() + n * kHidden, all.begin() + (n + 1) * kHidden);
    };
    std::vector<double> h = state(as_doubles(in[1].value)), c = state(as_doubles(in[2].value));
    step(in[0].value.as<double>().data() + n * kIn, h, c);
    EXPECT_LT(relative_error(state(run.results[0]), h), 1e-12);
    EXPECT_LT(relative_error(state(run.results[1]), c), 1e-12);
  }
  const NodeRun low = run_node(LstmCell{.hidden = kHidden}, in, {DType::f32, DType::bf16});
  for (size_t i = 0; i < in.size(); ++i) EXPECT_LT(relative_error(low.gradients[i], run.gradients[i]), 5e-2) << i;
}

}  // namespace
}  // namespace tbd::pytorch
