#include "backends/tensorflow/host_op.h"

#include <tensorflow/c/kernels.h>
#include <tensorflow/c/ops.h>

#include "base/json.h"
#include "host/registry.h"

namespace tbd::tensorflow {
namespace {

struct HostKernel {
  HostFunction function;
  HostNumbers numbers;
  std::vector<Shape> results;
};

// "4,1;3": a list of shapes as an attribute.
std::string text_of(std::span<const Shape> shapes) {
  std::string out;
  for (const Shape& shape : shapes) {
    if (&shape != shapes.data()) out += ';';
    for (int64_t axis = 0; axis < shape.rank(); ++axis) out += cat(axis > 0 ? "," : "", shape[axis]);
  }
  return out;
}

std::vector<Shape> shapes_of(const std::string& text) {
  std::vector<Shape> out;
  for (const std::string& part : split(text, ';')) {
    std::vector<int64_t> extents;
    for (const std::string& extent : split(part, ','))
      if (!extent.empty()) extents.push_back(parse_int(extent).value());
    out.emplace_back(extents);
  }
  return out;
}

HostNumbers numbers_of(const std::string& text) {
  return parse_json(text, "numbers of a host call").get<HostNumbers>();
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
        made->function = find_host_function(text_attribute(context, "function"));
        made->numbers = numbers_of(text_attribute(context, "numbers"));
        made->results = shapes_of(text_attribute(context, "shapes"));
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

void compute(const HostKernel& kernel, TF_OpKernelContext* context) {
  std::vector<HostTensor> operands, results;
  for (int i = 0; i < TF_NumInputs(context); ++i) operands.push_back(input(context, i));
  for (size_t i = 0; i < kernel.results.size(); ++i)
    results.emplace_back(dtype_of(TF_ExpectedOutputDataType(context, static_cast<int>(i))), kernel.results[i]);
  kernel.function(operands, kernel.numbers, results);
  for (size_t i = 0; i < results.size(); ++i) {
    const Status status;
    const TensorHandle tensor = to_tensor(results[i], results[i].dtype(), Layout::row);
    TF_SetOutput(context, static_cast<int>(i), tensor.get(), status);
    status.check();
  }
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
  for (const char* attribute :
       {"Tin: list(type)", "Tout: list(type)", "function: string", "numbers: string", "shapes: string"})
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
                         .text("function", call.function)
                         .text("numbers", Json(call.numbers).dump())
                         .text("shapes", text_of(results))
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
