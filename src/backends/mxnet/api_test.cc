// The wrapper alone: one node forward and backward, calls outside a graph, errors as one sentence.
#include "backends/mxnet/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backends/mxnet/arithmetic.h"
#include "backends/mxnet/message.h"

namespace tbd::mxnet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Array array_of(const std::vector<float>& values) {
  const Shape shape = {static_cast<int64_t>(values.size())};
  const Array out(DType::f32, shape);
  out.set(HostTensor(DType::f32, shape, std::span<const float>(values)));
  return out;
}
std::vector<double> values_of(const Array& array) { return as_doubles(array.host()); }

Executor square_of(const Array& x, const Array& gradient, Gradient request) {
  const Symbol y = Symbol::apply("square", "y", std::vector{Symbol::variable("x")}, {});
  return Executor(y, std::vector<Bound>{{x, gradient, request}}, {});
}

TEST(OneNode, RunsForwardAndBackward) {
  const Array gradient(DType::f32, {3});
  Executor run = square_of(array_of({1, 2, 3}), gradient, Gradient::write);
  run.forward();
  run.backward(std::vector{array_of({1, 10, 100})});
  EXPECT_THAT(values_of(run.outputs()[0]), ElementsAre(1, 4, 9));
  EXPECT_THAT(values_of(gradient), ElementsAre(2, 40, 600));
}

TEST(OneNode, AccumulatesGradientsOnRequest) {
  const Array gradient = array_of({1, 1});
  Executor run = square_of(array_of({1, 2}), gradient, Gradient::add);
  for (int i = 0; i < 2; ++i) {
    run.forward();
    run.backward(std::vector{array_of({1, 1})});
  }
  EXPECT_THAT(values_of(gradient), ElementsAre(5, 9));
}

TEST(Array, ConvertsWhatItIsGivenAndKeepsAScalarsShape) {
  const Array scalar(DType::f32, {});
  const double half = 0.5;
  scalar.set(HostTensor(DType::f64, {}, std::span<const double>(&half, 1)));
  EXPECT_EQ(scalar.host().shape(), Shape{});
  EXPECT_THAT(values_of(scalar), ElementsAre(0.5));
  EXPECT_THROW(Array(DType::bf16, {2}), Error);
}

TEST(Arithmetic, WorksInPlaceAndOnFreshArrays) {
  const Array x = array_of({1, 2}), y = array_of({10, 20});
  add(y, 3, x);
  EXPECT_THAT(values_of(y), ElementsAre(13, 26));
  scale(y, 0.5);
  EXPECT_THAT(values_of(sum(x, y)), ElementsAre(7.5, 15));
  scale_by(y, array_of({2}));
  EXPECT_THAT(values_of(y), ElementsAre(13, 26));
  EXPECT_THAT(values_of(norm(array_of({3, 4}))), ElementsAre(5));
  clear(y);
  EXPECT_THAT(values_of(y), ElementsAre(0, 0));
}

// MXNet's own norm is 3e-4 short here.
TEST(Arithmetic, TakesTheNormOfAMillionElementsToTheRoundingOfOne) {
  for (const int64_t size : {1'000'000, 3}) {
    std::vector<double> values;
    double squares = 0;
    for (int64_t i = 0; i < size; ++i) {
      values.push_back(static_cast<double>(i * 7919 % 2048 - 1000) / 1024);
      squares += values.back() * values.back();
    }
    const Array x(DType::f32, {size});
    x.set(HostTensor(DType::f64, {size}, std::span<const double>(values)));
    EXPECT_NEAR(values_of(norm(x))[0], std::sqrt(squares), 1e-6 * std::sqrt(squares)) << size;
  }
}

std::string sentence_thrown_by(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Errors, AreOneSentenceWithoutTraces) {
  const auto clean = testing::AllOf(testing::Not(HasSubstr("\n")), testing::Not(HasSubstr("../src")),
                                    testing::Not(HasSubstr("Stack trace")));
  const std::string shapes = sentence_thrown_by([] { sum(array_of({1, 2}), array_of({1, 2, 3})); });
  EXPECT_THAT(shapes, testing::AllOf(HasSubstr("expected [2], got [3]"), clean));
  EXPECT_THAT(sentence_thrown_by([] { call("no_such_op", {}); }), testing::AllOf(HasSubstr("no_such_op"), clean));
  EXPECT_THAT(sentence_thrown_by([] {
                Array(DType::f32, {1'000'000'000, 1000});
              }),
              testing::AllOf(HasSubstr("2^31"), clean));
}

TEST(Errors, RewordAllocationFailuresAsOutOfMemory) {
  const Error error = error_of("[12:00:00] ../src/storage/./cpu_device_storage.h:70: Failed to allocate CPU Memory\n");
  EXPECT_STREQ(error.what(), "out of memory: Failed to allocate CPU Memory");
}

TEST(Errors, AreExtractedFromPythonTracebacks) {
  EXPECT_EQ(sentence_of("Traceback (most recent call last):\n  File \"../src/a.cc\", line 4\nMXNetError: Check failed: "
                        "a == b (1 vs. 2) : sizes"),
            "Check failed: a == b (1 vs. 2) : sizes");
}

TEST(Text, SpellsWhatMxnetParses) {
  EXPECT_EQ(text(0.1), "0.10000000000000001");
  EXPECT_EQ(text(true), "True");
  EXPECT_EQ(text(std::vector<int64_t>{3}), "(3,)");
  EXPECT_EQ(text(std::vector<int64_t>{1, 2}), "(1,2)");
}

// MXNet's threads can end the process with a fault while it is taken down. Workers leave at once when all is said
// (worker/worker_main.cc); so do these tests.
class LeavesAtOnce : public testing::EmptyTestEventListener {
  void OnTestProgramEnd(const testing::UnitTest& tests) override {
    std::fflush(nullptr);
    std::_Exit(tests.Passed() ? 0 : 1);
  }
};
const bool leaves_at_once = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new LeavesAtOnce);
  return true;
}();

}  // namespace
}  // namespace tbd::mxnet
