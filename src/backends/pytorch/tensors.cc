#include "backends/pytorch/tensors.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <limits>

#include "backends/pytorch/cuda_library.h"
#include "backends/pytorch/device_stream.h"
#include "measure/gpu/cuda_driver.h"

namespace tbd::pytorch {

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return at::kDouble;
    case DType::f32:
      return at::kFloat;
    case DType::bf16:
      return at::kBFloat16;
    case DType::f16:
      return at::kHalf;
    case DType::i64:
      return at::kLong;
    case DType::i32:
      return at::kInt;
    case DType::u8:
      return at::kByte;
    case DType::boolean:
      return at::kBool;
  }
  fail(ErrorKind::internal, "no torch type for ", dtype);
}

DType dtype_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kDouble:
      return DType::f64;
    case at::kFloat:
      return DType::f32;
    case at::kBFloat16:
      return DType::bf16;
    case at::kHalf:
      return DType::f16;
    case at::kLong:
      return DType::i64;
    case at::kInt:
      return DType::i32;
    case at::kByte:
      return DType::u8;
    case at::kBool:
      return DType::boolean;
    default:
      fail(ErrorKind::unsupported, "a torch tensor of type ", c10::toString(tensor.scalar_type()));
  }
}

std::vector<int64_t> sizes(const Shape& shape) { return {shape.extents().begin(), shape.extents().end()}; }
Shape shape_of(const at::Tensor& tensor) { return Shape(tensor.sizes().vec()); }

at::Device device_from(const Device& device) {
  if (device == Device::kCpu) return at::kCPU;
  const std::optional<int64_t> index = device.gpu_number();
  if (!index || *index > std::numeric_limits<c10::DeviceIndex>::max())
    fail(ErrorKind::usage, "unknown device '", device, "', expected cpu or cuda:N");
  load_cuda_library();
  if (!at::hasCUDA()) fail(ErrorKind::unsupported, "no CUDA device answers: ", cuda_devices().reason);
  const int64_t count = c10::impl::VirtualGuardImpl(at::kCUDA).deviceCount();
  if (*index >= count) fail(ErrorKind::unsupported, "no device ", device, ": ", count, " CUDA devices answer");
  return {at::kCUDA, static_cast<c10::DeviceIndex>(*index)};
}

void synchronize(const at::Device& device) {
  if (device.is_cpu()) return;
  const c10::impl::VirtualGuardImpl guard(device.type());
  guard.getStream(device).synchronize();
}

Layout layout_from(const ImageLayout& name) {
  if (name == ImageLayout::kNchw) return Layout::nchw;
  if (name == ImageLayout::kNhwc) return Layout::nhwc;
  fail(ErrorKind::usage, "unknown layout '", name, "', expected nchw or nhwc");
}

at::MemoryFormat memory_format(int64_t rank, Layout layout) {
  return rank == 4 && layout == Layout::nhwc ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
}

namespace {

// A view of the host tensor's memory; valid while it lives.
at::Tensor view_of(const HostTensor& tensor) {
  auto* bytes = const_cast<std::byte*>(tensor.bytes().data());
  return at::from_blob(bytes, sizes(tensor.shape()), at::TensorOptions(scalar_type(tensor.dtype())));
}

}  // namespace

at::Tensor to_device(const HostTensor& tensor, DType dtype, const at::Device& device, Layout layout,
                     const CopyStream* copies) {
  const at::NoGradGuard no_grad;
  const auto options = at::TensorOptions(scalar_type(dtype)).pinned_memory(device.is_cuda());
  at::Tensor copy = at::empty(sizes(tensor.shape()), options, memory_format(tensor.shape().rank(), layout));
  copy.copy_(view_of(tensor));
  if (device.is_cpu()) return copy;
  return copies ? copies->copy(copy) : copy.to(device, /*non_blocking=*/true);
}

HostTensor to_host(const at::Tensor& tensor) {
  const at::NoGradGuard no_grad;
  const at::Tensor dense = tensor.detach().to(at::kCPU).contiguous();
  HostTensor copy(dtype_of(dense), shape_of(dense));
  view_of(copy).copy_(dense);
  return copy;
}

at::Tensor rounded_table(const at::Tensor& table, const at::Tensor& like) {
  return table.to(like.device(), like.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
}

void assign(const at::Tensor& target, const HostTensor& value, const std::string& name) {
  const Shape expected = shape_of(target);
  require(value.shape() == expected, "'", name, "' is ", value.shape(), ", expected ", expected);
  const at::NoGradGuard no_grad;
  target.copy_(view_of(value));
}

}  // namespace tbd::pytorch
