#include "backends/tensorflow/gemm.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "backends/tensorflow/graph.h"
#include "base/philox.h"

namespace tbd::tensorflow {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::optional<DType> element_type(const Precision& precision) {
  if (precision == Precision::kFp64) return DType::f64;
  if (precision == Precision::kFp32 || precision == Precision::kTf32) return DType::f32;
  if (precision == Precision::kBf16) return DType::bf16;
  return std::nullopt;
}

TensorHandle random_matrix(int64_t size, DType dtype) {
  const Philox random(0, "gemm");
  std::vector<float> values(static_cast<size_t>(size * size));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random.word(i)) * 0x1p-32f;
  return to_tensor(HostTensor(DType::f32, Shape{size, size}, std::span<const float>(values)), dtype, Layout::row);
}

double best_rate(int64_t size, DType dtype, double seconds, const SessionSettings& settings) {
  TfGraph graph;
  const TF_Output given = graph.placeholder(dtype, {size, size});
  const TF_Output handle =
      graph.op("VarHandleOp").type("dtype", dtype).shape("shape", {size, size}).text("shared_name", "matrix").out();
  TF_Operation* const assign = graph.op("AssignVariableOp").in(handle).in(given).type("dtype", dtype).finish();
  const TF_Output a = graph.op("ReadVariableOp").in(handle).type("dtype", dtype).out();
  TF_Operation* const product = graph.op("MatMul").in(a).in(a).finish();
  TfSession session(graph, settings);
  const TensorHandle matrix = random_matrix(size, dtype);
  const Feed feed = {given, matrix.get()};
  session.run(std::span(&feed, 1), {}, std::span(&assign, 1));
  const auto multiply = [&] { session.run({}, {}, std::span(&product, 1)); };
  multiply();  // makes the executor, chooses kernels
  const double flops = 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  double best = 0;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point start = Clock::now();
    multiply();
    best = std::max(best, flops / seconds_since(start));
  } while (seconds_since(begin) < seconds);
  return best;
}

}  // namespace

std::optional<double> best_gemm_rate(const Precision& precision, double seconds, const SessionSettings& settings) {
  const std::optional<DType> type = element_type(precision);
  if (!type) return std::nullopt;
  double best = 0;
  for (const int64_t size : settings.gpu ? std::array{4096, 8192, 16384} : std::array{512, 1024, 2048})
    best = std::max(best, best_rate(size, *type, seconds / 3, settings));
  return best;
}

}  // namespace tbd::tensorflow
