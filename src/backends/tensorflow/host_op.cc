#include "backends/tensorflow/host_op.h"

#include <tensorflow/c/kernels.h>
#include <tensorflow/c/ops.h>

#include <cstring>

#include "base/json.h"
#include "host/registry.h"

namespace tbd::tensorflow {
namespace {

struct HostKernel {
  HostFunction function;
  HostCall call;
  bool cuts = false;  // ragged results to their valid rows
};

HostCall call_of(const std::string& text) {
  return std::get<HostCall>(op_from_json(HostCall::kKind, parse_json(text, "attributes of a host call")));
}

std::string text_attribute(TF_OpKernelConstruction* context, const char* name) {
  const Status status;
  int32_t items = 0, bytes = 0;
  TF_OpKernelConstruction_GetAttrSize(context, name, &items, &bytes, status);
  status.check();
  std::string out(static_cast<size_t>(bytes), '\0');
  TF_OpKernelConstruction_GetAttrString(context, name, out.data(), out.size(), status);
  status.check();
  return out;
}

bool boolean_attribute(TF_OpKernelConstruction* context, const char* name) {
  const Status status;
  unsigned char value = 0;
  TF_OpKernelConstruction_GetAttrBool(context, name, &value, status);
  status.check();
  return value != 0;
}

// No exception may pass through TensorFlow: `report` takes its sentence.
template <class Work, class Report>
void guarded(Work work, Report report) {
  std::string sentence = "a host function threw something that is no std::exception";
  try {
    return work();
  } catch (const std::exception& e) {
    sentence = e.what();
  } catch (...) {
  }
  const Status status;
  TF_SetStatus(status, TF_INVALID_ARGUMENT, sentence.c_str());
  report(status);
}

void* create(TF_OpKernelConstruction* context) {
  HostKernel* kernel = nullptr;
  guarded(
      [&] {
        auto made = std::make_unique<HostKernel>();
        made->call = call_of(text_attribute(context, "call"));
        made->function = find_host_function(made->call.function);
        made->cuts = boolean_attribute(context, "cuts");
        kernel = made.release();
      },
      [&](TF_Status* status) { TF_OpKernelConstruction_Failure(context, status); });
  return kernel;
}

HostTensor input(TF_OpKernelContext* context, int index) {
  const Status status;
  TF_Tensor* tensor = nullptr;
  TF_GetInput(context, index, &tensor, status);
  status.check();
  const TensorHandle owned(tensor);
  std::vector<int64_t> extents;
  for (int axis = 0; axis < TF_NumDims(tensor); ++axis) extents.push_back(TF_Dim(tensor, axis));
  return to_host(tensor, Shape(extents), Layout::row);
}

std::vector<HostTensor> results_for(const HostCall& call, const std::vector<HostTensor>& operands) {
  std::vector<Shape> shapes;
  for (const HostTensor& operand : operands) shapes.push_back(operand.shape());
  shapes = output_shapes(call, shapes);
  std::vector<HostTensor> results;
  for (size_t i = 0; i < shapes.size(); ++i) results.emplace_back(call.results[i].dtype, shapes[i]);
  return results;
}

HostTensor leading_rows(const HostTensor& tensor, int64_t rows) {
  Shape shape = tensor.shape();
  shape[0] = rows;
  const auto bytes = static_cast<size_t>(shape.elements() * size_of(tensor.dtype()));
  return HostTensor(tensor.dtype(), shape, tensor.bytes().first(bytes));
}

void cut_rows(const HostCall& call, std::vector<HostTensor>& results) {
  const int64_t rows = results[static_cast<size_t>(call.rows)].as<int32_t>()[0];
  for (size_t i = 0; i < results.size(); ++i) {
    if (!call.results[i].ragged) continue;
    const int64_t most = results[i].shape()[0];
    require(rows >= 0 && rows <= most, call.function, ": ", rows, " rows of ", most);
    results[i] = leading_rows(results[i], rows);
  }
}

// From the kernel's allocator, whose blocks TensorFlow records.
void put(TF_OpKernelContext* context, int index, const HostTensor& result) {
  const Status status;
  const std::span<const int64_t> extents = result.shape().extents();
  const size_t bytes = result.bytes().size();
  const TensorHandle tensor(TF_AllocateOutput(context, index, data_type(result.dtype()), extents.data(),
                                              static_cast<int>(extents.size()), bytes, status));
  status.check();
  if (bytes > 0) std::memcpy(TF_TensorData(tensor.get()), result.bytes().data(), bytes);
}

void compute(const HostKernel& kernel, TF_OpKernelContext* context) {
  std::vector<HostTensor> operands;
  for (int i = 0; i < TF_NumInputs(context); ++i) operands.push_back(input(context, i));
  std::vector<HostTensor> results = results_for(kernel.call, operands);
  kernel.function(operands, kernel.call.numbers, results);
  if (kernel.cuts) cut_rows(kernel.call, results);
  for (size_t i = 0; i < results.size(); ++i) put(context, static_cast<int>(i), results[i]);
}

void compute_guarded(void* kernel, TF_OpKernelContext* context) {
  guarded([&] { compute(*static_cast<HostKernel*>(kernel), context); },
          [&](TF_Status* status) { TF_OpKernelContext_Failure(context, status); });
}

void destroy(void* kernel) { std::unique_ptr<HostKernel>(static_cast<HostKernel*>(kernel)).reset(); }

void unknown_shapes(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(context, status);
}

void make_known() {
  const Status status;
  TF_OpDefinitionBuilder* definition = TF_NewOpDefinitionBuilder(kHostOp);
  for (const char* attribute : {"Tin: list(type)", "Tout: list(type)", "call: string", "cuts: bool"})
    TF_OpDefinitionBuilderAddAttr(definition, attribute);
  TF_OpDefinitionBuilderAddInput(definition, "operands: Tin");
  TF_OpDefinitionBuilderAddOutput(definition, "results: Tout");
  TF_OpDefinitionBuilderSetIsStateful(definition, true);  // never folded, never merged
  TF_OpDefinitionBuilderSetShapeInferenceFunction(definition, unknown_shapes);
  TF_RegisterOpDefinition(definition, status);
  status.check();
  TF_KernelBuilder* kernel = TF_NewKernelBuilder(kHostOp, "CPU", create, compute_guarded, destroy);
  TF_RegisterKernelBuilder(kHostOp, kernel, status);
  status.check();
}

// Is a ragged result's extent unknown before the op runs?
bool cuts(const HostCall& call, std::span<const Shape> results) {
  for (size_t i = 0; i < results.size(); ++i)
    if (call.results[i].ragged && results[i][0] < 0) return true;
  return false;
}

}  // namespace

TF_Operation* add_host_op(TfGraph& graph, const HostCall& call, std::span<const TF_Output> operands,
                          std::span<const Shape> results) {
  static const bool once = [] {
    make_known();
    return true;
  }();
  (void)once;
  std::vector<DType> given, made;
  for (const TF_Output& operand : operands) given.push_back(dtype_of(TF_OperationOutputType(operand)));
  for (const HostCall::Result& result : call.results) made.push_back(result.dtype);
  TF_Operation* op = graph.op(kHostOp)
                         .list(operands)
                         .types("Tin", given)
                         .types("Tout", made)
                         .text("call", attributes_to_json(call).dump())
                         .boolean("cuts", cuts(call, results))
                         .finish();
  for (size_t i = 0; i < results.size(); ++i) {
    const Status status;
    TF_GraphSetTensorShape(graph, {op, static_cast<int>(i)}, results[i].extents().data(),
                           static_cast<int>(results[i].rank()), status);
    status.check();
  }
  return op;
}

}  // namespace tbd::tensorflow
