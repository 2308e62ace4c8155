// The parts of TensorFlow's C API that the back-end uses, owned: a status that throws, tensors, the library's version.
#pragma once
#include <tensorflow/c/c_api.h>

#include <memory>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace tbd::tensorflow {

// The status argument of a call. After the call `check` throws what it says as one sentence: std::bad_alloc where
// memory ran out, Error(unsupported) where a kernel is missing, Error(io) where another rank does not do its part,
// Error(internal) else.
class Status {
 public:
  Status() : status_(TF_NewStatus()) {}
  ~Status() { TF_DeleteStatus(status_); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  operator TF_Status*() const { return status_; }
  bool ok() const { return TF_GetCode(status_) == TF_OK; }
  void check() const;

 private:
  TF_Status* status_;
};

struct DeleteTensor {
  void operator()(TF_Tensor* tensor) const { TF_DeleteTensor(tensor); }
};
using TensorHandle = std::unique_ptr<TF_Tensor, DeleteTensor>;

struct DeleteBuffer {
  void operator()(TF_Buffer* buffer) const { TF_DeleteBuffer(buffer); }
};
using BufferHandle = std::unique_ptr<TF_Buffer, DeleteBuffer>;

TF_DataType data_type(DType dtype);
DType dtype_of(TF_DataType type);  // throws Error(unsupported) on a type the project does not know

// How a tensor of logical layout lies in memory. row: as it is; nhwc: (N, C, H, W) with channels last;
// hwio: a convolution's weight (O, I, H, W) as TensorFlow wants it.
enum class Layout { row, nhwc, hwio };
// perm[i] is the logical axis at physical position i; empty for row.
std::vector<int64_t> physical_axes(Layout layout);
Shape physical_shape(const Shape& logical, Layout layout);

// Copies between row-major logical host tensors and TensorFlow's. `dtype` is the type of the copy.
TensorHandle to_tensor(const HostTensor& host, DType dtype, Layout layout);
TensorHandle zeros(DType dtype, const Shape& physical);
TensorHandle scalar(double value, DType dtype);
// `logical` is the shape of the result.
HostTensor to_host(const TF_Tensor* tensor, const Shape& logical, Layout layout);
double scalar_of(const TF_Tensor* tensor);

}  // namespace tbd::tensorflow
