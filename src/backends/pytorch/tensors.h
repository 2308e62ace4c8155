// Between host tensors of the project and torch's: types, devices, layouts.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>

#include "base/tensor.h"
#include "base/workload_words.h"

namespace tbd::pytorch {

at::ScalarType scalar_type(DType dtype);
DType dtype_of(const at::Tensor& tensor);  // throws Error(unsupported) on a type the project does not know
std::vector<int64_t> sizes(const Shape& shape);
Shape shape_of(const at::Tensor& tensor);

// "cpu", "cuda:0"; throws Error(usage) on another spelling, Error(unsupported) on a device this machine or build lacks.
at::Device device_from(const Device& device);
// Waits until everything queued on the device has run; nothing on the CPU.
void synchronize(const at::Device& device);

// How rank-4 tensors lie in memory. Logical layout stays NCHW.
enum class Layout { nchw, nhwc };
Layout layout_from(const ImageLayout& name);
// Channels last for rank 4 under nhwc, row-major otherwise.
at::MemoryFormat memory_format(int64_t rank, Layout layout);

class CopyStream;

// A copy on `device` with the element type `dtype`. Copies to a CUDA device go through pinned memory without blocking,
// on the stream of `copies` where it is given.
at::Tensor to_device(const HostTensor& tensor, DType dtype, const at::Device& device, Layout layout,
                     const CopyStream* copies = nullptr);
// A copy in row-major logical order.
HostTensor to_host(const at::Tensor& tensor);
// A table of doubles beside `like`: rounded to fp32, or kept double where `like` is.
at::Tensor rounded_table(const at::Tensor& table, const at::Tensor& like);
// Overwrites `target` in place, keeping its layout; throws Error(invalid) with both shapes when they differ.
void assign(const at::Tensor& target, const HostTensor& value, const std::string& name);

}  // namespace tbd::pytorch
