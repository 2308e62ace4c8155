// Ops that enlarge images, against loops; elementwise ops with a kink.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/mxnet/test_programs.h"

namespace tbd::mxnet {
namespace {

using testing::ElementsAre;

size_t at(const Shape& shape, int64_t a, int64_t b, int64_t c, int64_t d) {
  return static_cast<size_t>(((a * shape[1] + b) * shape[2] + c) * shape[3] + d);
}

// Every element of x adds itself times the weight to a window of y.
std::vector<double> transposed(const ConvTranspose2d& op, const HostTensor& x, const HostTensor& w, const Shape& y) {
  std::vector<double> out(static_cast<size_t>(y.elements()));
  const Shape &xs = x.shape(), &ws = w.shape();
  for (int64_t n = 0; n < xs[0]; ++n)
    for (int64_t c = 0; c < xs[1]; ++c)
      for (int64_t h = 0; h < xs[2]; ++h)
        for (int64_t v = 0; v < xs[3]; ++v)
          for (int64_t o = 0; o < op.out; ++o)
            for (int64_t i = 0; i < op.kernel.h; ++i)
              for (int64_t j = 0; j < op.kernel.w; ++j) {
                const int64_t row = h * op.stride.h + i - op.pads.top, column = v * op.stride.w + j - op.pads.left;
                if (row < 0 || row >= y[2] || column < 0 || column >= y[3]) continue;
                out[at(y, n, o, row, column)] +=
                    x.as<double>()[at(xs, n, c, h, v)] * w.as<double>()[at(ws, c, o, i, j)];
              }
  return out;
}

std::vector<ConvTranspose2d> transposed_forms() {
  return {{.out = 2},
          {.out = 4, .kernel = 3, .pads = {1, 1, 1, 1}},
          {.out = 3, .kernel = {3, 2}, .stride = {2, 3}},
          {.out = 2, .kernel = {4, 3}, .stride = 2, .pads = {2, 0, 0, 1}},
          {.out = 2, .kernel = {2, 3}, .stride = {3, 2}, .pads = {0, 1, 2, 0}},
          {.out = 1, .kernel = 3, .pads = {3, 3, 2, 2}}};
}

TEST(ConvTransposeOnMxnet, IsTheGradientOfAConvolutionWithAnyPads) {
  const Shape x = {2, 3, 5, 4};
  for (const ConvTranspose2d& op : transposed_forms()) {
    const Shape w = {3, op.out, op.kernel.h, op.kernel.w}, y = output_shapes(op, std::vector{x, w})[0];
    const Program program = program_of(op, {{"x", x}, {"w", w}});
    const TensorMap weights = random_weights(program), after = stepped(program, weights, {});
    const auto expected = transposed(op, weights.at("param/x"), weights.at("param/w"), y);
    EXPECT_LT(relative_error(after.at("output/y"), doubles(y, expected)), 1e-14) << y;
    expect_gradients_of(program, {}, cat("conv_transpose2d to ", y));
    const TensorMap single = stepped(program_of(op, {{"x", x}, {"w", w}}, Precision::kFp32), weights, {});
    for (const auto& [name, tensor] : after) EXPECT_LT(relative_error(single.at(name), tensor), 1e-5) << name << y;
  }
}

TEST(UpsampleOnMxnet, RepeatsEveryElementAndSumsTheirGradients) {
  for (const int64_t factor : {1, 2, 3}) {
    const Program program = program_of(UpsampleNearest{factor}, {{"x", {2, 3, 4, 5}}});
    const TensorMap weights = random_weights(program), after = stepped(program, weights, {});
    const HostTensor &x = weights.at("param/x"), &y = after.at("output/y");
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t c = 0; c < 3; ++c)
        for (int64_t h = 0; h < 4 * factor; ++h)
          for (int64_t w = 0; w < 5 * factor; ++w)
            EXPECT_EQ(y.as<double>()[at(y.shape(), n, c, h, w)],
                      x.as<double>()[at(x.shape(), n, c, h / factor, w / factor)]);
    expect_gradients_of(program, {}, cat("upsample by ", factor));
  }
}

// In single precision by another kernel.
TEST(MulOnMxnet, ScalesChannels) {
  const std::vector<std::pair<std::string, Shape>> operands = {{"x", {2, 3, 4, 5}}, {"scales", {1, 3, 1, 1}}};
  const Binary mul = {Binary::Function::mul};
  const TensorMap weights = random_weights(program_of(mul, operands));
  const TensorMap twice = stepped(program_of(mul, operands), weights, {}),
                  single = stepped(program_of(mul, operands, Precision::kFp32), weights, {});
  for (const char* name : {"output/y", "grad/x", "grad/scales", "grad/weights"})
    EXPECT_LT(relative_error(single.at(name), twice.at(name)), 1e-6) << name;
}

TEST(ReduceOnMxnet, ReducesOverTrailingAxes) {
  for (const bool keep : {false, true})
    for (const auto function : {Reduce::Function::sum, Reduce::Function::mean}) {
      const Program program = program_of(Reduce{function, {2, 1}, keep}, {{"x", {2, 2, 3}}});
      const TensorMap after = stepped(program,
                                      {{"param/x", doubles({2, 2, 3}, {1, 2, 3, 4, 5, 6, 6, 12, 0, 0, -6, 0})},
                                       {"param/weights", doubles(keep ? Shape{2, 1, 1} : Shape{2}, {6, 12})}},
                                      {});
      const double part = function == Reduce::Function::sum ? 1 : 1.0 / 6;
      EXPECT_LT(relative_error(after.at("output/y"), doubles({2}, {21 * part, 12 * part})), 1e-15);
      std::vector<double> expected(12, 12 * part);
      std::fill_n(expected.begin(), 6, 6 * part);
      EXPECT_LT(relative_error(after.at("grad/x"), doubles({12}, expected)), 1e-15);
    }
}

// A third is no number of single precision.
TEST(ClampOnMxnet, ClampsToExactBoundsInDouble) {
  const double third = 1.0 / 3;
  const Program program = program_of(Clamp{-third, third}, {{"x", {4}}});
  const TensorMap after = stepped(
      program, {{"param/x", doubles({4}, {-1, -0.25, 0.3, 7})}, {"param/weights", doubles({4}, {1, 2, 3, 4})}}, {});
  EXPECT_THAT(as_doubles(after.at("output/y")), ElementsAre(-third, -0.25, 0.3, third));
  EXPECT_THAT(as_doubles(after.at("grad/x")), ElementsAre(0, 2, 3, 0));
}

TEST(ClampOnMxnet, CutsInSinglePrecision) {
  const Program program = program_of(Clamp{0, 20}, {{"x", {4}}}, Precision::kFp32);
  const TensorMap after = stepped(
      program, {{"param/x", doubles({4}, {-1, 0.5, 19, 70})}, {"param/weights", doubles({4}, {1, 2, 3, 4})}}, {});
  EXPECT_THAT(as_doubles(after.at("output/y")), ElementsAre(0, 0.5, 19, 20));
  EXPECT_THAT(as_doubles(after.at("grad/x")), ElementsAre(0, 2, 3, 0));
}

TEST(GreaterOnMxnet, IsOneAboveTheValueAloneAndHasNoGradient) {
  for (const Precision& precision : {Precision::kFp64, Precision::kFp32}) {
    const Program program = program_of(Greater{0.5}, {{"x", {4}}}, precision);
    const TensorMap after = stepped(
        program, {{"param/x", doubles({4}, {-1, 0.5, 0.625, 7})}, {"param/weights", doubles({4}, {1, 2, 3, 4})}}, {});
    EXPECT_THAT(as_doubles(after.at("output/y")), ElementsAre(0, 0, 1, 1));
    EXPECT_THAT(as_doubles(after.at("grad/x")), ElementsAre(0, 0, 0, 0));
    EXPECT_THAT(as_doubles(after.at("grad/weights")), ElementsAre(0, 0, 1, 1));
  }
}

// As minigo's heads and generators have it.
TEST(BatchNormOnMxnet, TakesMatricesAndNeedsNeitherParametersNorBuffers) {
  const BatchNorm own = {.affine = false, .stats = BatchNorm::Stats::batch};
  for (const Shape& x : {Shape{6, 3}, Shape{3, 2, 4, 2}}) {
    const Program program = program_of(own, {{"x", x}});
    const TensorMap weights = random_weights(program), after = stepped(program, weights, {});
    const int64_t tail = x.elements() / (x[0] * x[1]);
    std::vector<double> expected = as_doubles(weights.at("param/x"));
    for (int64_t c = 0; c < x[1]; ++c) {
      double sum = 0, squares = 0, count = 0;
      const auto each = [&](const auto& visit) {
        for (size_t i = 0; i < expected.size(); ++i)
          if (static_cast<int64_t>(i) / tail % x[1] == c) visit(expected[i]);
      };
      each([&](double value) {
        sum += value;
        ++count;
      });
      each([&](double value) { squares += (value - sum / count) * (value - sum / count); });
      each([&](double& value) { value = (value - sum / count) / std::sqrt(squares / count + own.eps); });
    }
    EXPECT_LT(relative_error(after.at("output/y"), doubles(x, expected)), 1e-9) << x;
    expect_gradients_of(program, {}, cat("batch_norm of ", x));
    const TensorMap single = stepped(program_of(own, {{"x", x}}, Precision::kFp32), weights, {});
    for (const auto& [name, tensor] : after) EXPECT_LT(relative_error(single.at(name), tensor), 1e-5) << name << x;
  }
}

}  // namespace
}  // namespace tbd::mxnet
