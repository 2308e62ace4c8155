#include "base/philox.h"
#include "worker/inputs.h"

namespace tbd {
namespace {

constexpr double kValid = 0.75;  // share of places that are no padding

template <class T, class Draw>
void draw(HostTensor& tensor, const InputNeed& need, uint64_t seed, int64_t step, const Draw& value) {
  const int64_t samples = need.shape.rank() == 0 ? 1 : need.shape[0];
  const int64_t each = samples == 0 ? 0 : need.shape.elements() / samples;
  const Philox stream(seed, need.name);
  const std::span<T> out = tensor.as<T>();
  for (int64_t n = 0; n < samples; ++n) {
    const Philox random = stream.at(static_cast<uint32_t>(step), static_cast<uint32_t>(n));
    for (int64_t i = 0; i < each; ++i)
      out[static_cast<size_t>(n * each + i)] = static_cast<T>(value(random, static_cast<uint64_t>(i)));
  }
}

HostTensor integers(const InputNeed& need, uint64_t seed, int64_t step) {
  HostTensor tensor(DType::i32, need.shape);
  draw<int32_t>(tensor, need, seed, step, [&](const Philox& random, uint64_t i) {
    return need.least + static_cast<int64_t>(random.uniform(i) * static_cast<double>(need.classes - need.least));
  });
  return need.dtype == DType::i32 ? std::move(tensor) : converted(tensor, need.dtype);
}

double value_at(const InputNeed& need, const Philox& random, uint64_t i) {
  if (need.keep) return random.uniform(i) < *need.keep ? 1 : 0;
  if (!need.padding) return random.normal(i);
  const bool valid = i == 0 || random.uniform(i) < kValid;
  return valid ? (*need.padding == 0 ? 1 : 0) : *need.padding;
}

}  // namespace

HostTensor generated_input(const InputNeed& need, uint64_t seed, int64_t step) {
  if (!is_float(need.dtype)) return integers(need, seed, step);
  HostTensor tensor(DType::f64, need.shape);
  draw<double>(tensor, need, seed, step, [&](const Philox& random, uint64_t i) { return value_at(need, random, i); });
  return need.dtype == DType::f64 ? std::move(tensor) : converted(tensor, need.dtype);
}

HostTensor scalar_tensor(double value, DType dtype) {
  return converted(HostTensor(DType::f64, Shape{}, std::span<const double>(&value, 1)), dtype);
}

TensorMap generated_inputs(const InputNeeds& needs, uint64_t seed, int64_t step) {
  TensorMap batch;
  for (const InputNeed& need : needs.inputs) batch[need.name] = generated_input(need, seed, step);
  return batch;
}

}  // namespace tbd
