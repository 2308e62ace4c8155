// Every op in every form that runs: gradients in double against central differences, single precision against double;
// and what CNTK itself says to the forms that do not run.
#include <gtest/gtest.h>

#include "backend_suite/op_gradients.h"
#include "backends/cntk/abi_ops.h"
#include "backends/cntk/array.h"

namespace tbd::cntk {
namespace {

class OpOnCntk : public testing::TestWithParam<std::string> {};

TEST_P(OpOnCntk, HasTheGradientOfCentralDifferences) {
  for (const OpCase& c : cases_that_run(GetParam())) {
    SCOPED_TRACE(c.name);
    const Program program = op_program({&c, 1}, Precision::kFp64);
    auto session = session_with(program, op_values({&c, 1}, Precision::kFp64, DType::f64));
    expect_gradients(*session, program.phases[0]);
  }
}

TEST_P(OpOnCntk, AgreesWithItselfInDouble) {
  for (const OpCase& c : cases_that_run(GetParam())) {
    const auto run = [&](Precision precision) {
      auto session = session_with(op_program({&c, 1}, precision), op_values({&c, 1}, precision, DType::f32));
      session->step(at_step(1, 0.0));
      return session->read({"grad/", "output/", "buffer/"});
    };
    const TensorMap single = run(Precision::kFp32), twice = run(Precision::kFp64);
    ASSERT_EQ(single.size(), twice.size());
    for (const auto& [name, tensor] : twice) EXPECT_LT(relative_error(single.at(name), tensor), 1e-5) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OpOnCntk, testing::ValuesIn([] {
                           std::vector<std::string> out;
                           for (const std::string& kind : all_kinds())
                             if (kind != "host_call" && kind != "stop_gradient") out.push_back(kind);
                           return out;
                         }()),
                         [](const auto& info) { return info.param; });

// The sentence with which CNTK itself refuses to run a function of constants.
std::string refusal(const std::function<CNTK::FunctionPtr()>& make) {
  return sentence_from([&] {
    guarded([&] {
      const CNTK::FunctionPtr function = make();
      CNTK::Values outputs = {{CNTK::Variable(function), nullptr}};
      reinterpret_cast<CNTK::CompositeFunction*>(function.get())->Forward({}, outputs, {}, {}, {});
    });
  });
}

void expect_words(const std::string& sentence, const std::string& words) {
  EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
}

CNTK::Variable images(const CNTK::NDShape& shape) {
  return CNTK::ToBatch(CNTK::Constant(make_view(CNTK::DataType::kFloat, shape), L""), L"");
}

TEST(RefusedByCntk, DilatedConvolution) {
  const CNTK::Constant kernel(make_view(CNTK::DataType::kFloat, {{3, 3, 2, 2}}), L"");
  expect_words(refusal([&] {
                 return CNTK::Convolution(kernel, images({{7, 7, 2, 2}}), {{1, 1, 2}}, {true}, {true, true, false},
                                          {{2, 2, 1}}, 1, 1, 0, false, L"");
               }),
               "Dilated convolution on CPU is not yet implemented");
}

TEST(RefusedByCntk, UnevenPadsOfPools) {
  expect_words(refusal([] {
                 return CNTK::Pooling(images({{5, 6, 4, 2}}), CNTK::PoolingType::kMax, {{3, 3}}, {{2, 2}},
                                      std::vector<size_t>{1, 0}, std::vector<size_t>{0, 1}, false, false, L"");
               }),
               "kernel fills the entire space");
}

}  // namespace
}  // namespace tbd::cntk
