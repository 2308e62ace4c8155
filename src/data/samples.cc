#include "data/samples.h"

namespace tbd {

Shape batch_shape(const BatchLayout& layout, const SampleTensor& tensor) {
  std::vector<int64_t> extents = {layout.samples};
  extents.insert(extents.end(), tensor.shape.extents().begin(), tensor.shape.extents().end());
  return Shape(std::move(extents));
}

TensorMap new_batch(const BatchLayout& layout) {
  TensorMap batch;
  for (const SampleTensor& tensor : layout.tensors)
    batch.emplace(tensor.name, HostTensor(tensor.dtype, batch_shape(layout, tensor)));
  return batch;
}

bool has_layout(const TensorMap& batch, const BatchLayout& layout) {
  for (const SampleTensor& tensor : layout.tensors) {
    const auto found = batch.find(tensor.name);
    if (found == batch.end() || found->second.dtype() != tensor.dtype ||
        found->second.shape() != batch_shape(layout, tensor))
      return false;
  }
  return true;
}

BatchLayout image_layout(const SourceSpec& spec, int64_t samples) {
  return {.samples = samples,
          .tensors = {{"image", DType::f32, {3, spec.image_size, spec.image_size}}, {"label", DType::i32, {}}}};
}

void set_count(TensorMap& batch, std::string_view name, double value) {
  batch[cat(kCount, name)] = HostTensor(DType::f64, Shape{}, std::span<const double>(&value, 1));
}

}  // namespace tbd
