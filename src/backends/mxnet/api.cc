#include "backends/mxnet/api.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>

#include "backends/mxnet/api_check.h"

namespace tbd::mxnet {
namespace {

// As mxnet/base.h has it, which is no C.
struct DeviceContext {
  int type = 1, index = 0;  // the CPU
};

// Process-wide, as MXNet's queue itself is.
DeviceContext& context() {
  static DeviceContext current;
  return current;
}

int type_code(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 0;
    case DType::f64:
      return 1;
    case DType::u8:
      return 3;
    case DType::i32:
      return 4;
    case DType::i64:
      return 6;
    default:
      fail(ErrorKind::unsupported, "mxnet's CPU kernels do not run in ", dtype);
  }
}

DType type_of(int code) {
  for (const DType dtype : {DType::f32, DType::f64, DType::u8, DType::i32, DType::i64})
    if (type_code(dtype) == code) return dtype;
  fail(ErrorKind::unsupported, "an mxnet array of the type numbered ", code);
}

// MXNet knows ops by name only after it has listed them.
OpHandle op_handle(const std::string& name) {
  static std::map<std::string, OpHandle> known;
  if (known.empty()) {
    uint32_t count = 0;
    const char** names = nullptr;
    check(MXListAllOpNames(&count, &names));
  }
  OpHandle& handle = known[name];
  if (handle == nullptr) check(NNGetOpHandle(name.c_str(), &handle));
  return handle;
}

// Attributes as two arrays of C strings; valid while `attributes` is.
struct RawAttributes {
  explicit RawAttributes(const Attributes& attributes) {
    for (const auto& [key, value] : attributes) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }
  int count() const { return static_cast<int>(keys.size()); }
  std::vector<const char*> keys, values;
};

template <class Handled>
std::vector<void*> handles(std::span<const Handled> objects) {
  std::vector<void*> out;
  for (const Handled& each : objects) out.push_back(each.handle());
  return out;
}

std::vector<std::string> strings(int (*list)(SymbolHandle, uint32_t*, const char***), SymbolHandle symbol) {
  uint32_t count = 0;
  const char** names = nullptr;
  check(list(symbol, &count, &names));
  std::vector<std::string> out;
  for (uint32_t i = 0; i < count; ++i) out.emplace_back(names[i]);
  return out;
}

Shape shape_of(void* array) {
  int rank = 0;
  const int* extents = nullptr;
  check(MXNDArrayGetShapeEx(array, &rank, &extents));
  std::vector<int64_t> out;
  for (int axis = 0; axis < rank; ++axis) out.push_back(extents[axis]);
  return Shape(out);
}

}  // namespace

std::string text(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.17g", value);
  return digits;
}
std::string text(std::span<const int64_t> extents) {
  std::vector<std::string> parts;
  for (const int64_t extent : extents) parts.push_back(std::to_string(extent));
  return cat("(", join(parts, ","), parts.size() == 1 ? ",)" : ")");
}

std::shared_ptr<void> Array::share(void* owned) {
  return {owned, [](void* handle) { MXNDArrayFree(handle); }};
}

Array::Array(DType dtype, const Shape& shape) : shape_(shape) {
  std::vector<uint32_t> extents;
  for (const int64_t extent : shape.extents()) {
    if (extent > std::numeric_limits<int32_t>::max()) fail(ErrorKind::unsupported, "an extent of ", extent);
    extents.push_back(static_cast<uint32_t>(extent));
  }
  if (extents.empty()) extents.push_back(1);
  constexpr int kNow = 0;
  void* handle = nullptr;
  check(MXNDArrayCreateEx(extents.data(), static_cast<uint32_t>(extents.size()), context().type, context().index, kNow,
                          type_code(dtype), &handle));
  handle_ = share(handle);
  set(HostTensor(dtype, shape));
}

Array Array::with_shape(const Shape& shape) const {
  Array out = *this;
  out.shape_ = shape;
  return out;
}

Array Array::viewed(const Shape& shape) const {
  std::vector<dim_t> extents(shape.extents().begin(), shape.extents().end());
  void* view = nullptr;
  check(MXNDArrayReshape64(handle(), static_cast<int>(extents.size()), extents.data(), false, &view));
  return Array(view).with_shape(shape);
}

Array Array::part(int64_t begin, int64_t end) const {
  void* view = nullptr;
  check(MXNDArraySlice64(handle(), begin, end, &view));
  Shape shape = shape_;
  shape[0] = end - begin;
  return Array(view).with_shape(shape);
}

DType Array::dtype() const {
  int code = 0;
  check(MXNDArrayGetDType(handle(), &code));
  return type_of(code);
}

void Array::set(const HostTensor& value) const {
  const DType own = dtype();
  const HostTensor other = value.dtype() == own ? HostTensor() : converted(value, own);
  const HostTensor& right = value.dtype() == own ? value : other;
  check(MXNDArraySyncCopyFromCPU(handle(), right.bytes().data(), static_cast<size_t>(right.shape().elements())));
}

HostTensor Array::host() const {
  HostTensor out(dtype(), shape_);
  check(MXNDArraySyncCopyToCPU(handle(), out.bytes().data(), static_cast<size_t>(shape_.elements())));
  return out;
}

Symbol::Symbol(void* owned) : handle_(owned, [](void* handle) { MXSymbolFree(handle); }) {}

Symbol Symbol::variable(const std::string& name) {
  void* handle = nullptr;
  check(MXSymbolCreateVariable(name.c_str(), &handle));
  return Symbol(handle);
}

Symbol Symbol::group(std::span<const Symbol> symbols) {
  std::vector<void*> members = handles(symbols);
  void* handle = nullptr;
  check(MXSymbolCreateGroup(static_cast<uint32_t>(members.size()), members.data(), &handle));
  return Symbol(handle);
}

Symbol Symbol::apply(const std::string& op, const std::string& name, std::span<const Symbol> in,
                     const Attributes& attributes) {
  RawAttributes raw(attributes);
  std::vector<void*> operands = handles(in);
  void* handle = nullptr;
  check(MXSymbolCreateAtomicSymbol(op_handle(op), static_cast<uint32_t>(raw.count()), raw.keys.data(),
                                   raw.values.data(), &handle));
  Symbol symbol(handle);
  check(MXSymbolCompose(handle, name.c_str(), static_cast<uint32_t>(operands.size()), nullptr, operands.data()));
  return symbol;
}

Symbol Symbol::output(uint32_t index) const {
  void* handle = nullptr;
  check(MXSymbolGetOutput(handle_.get(), index, &handle));
  return Symbol(handle);
}

std::vector<std::string> Symbol::arguments() const { return strings(MXSymbolListArguments, handle()); }
std::vector<std::string> Symbol::auxiliaries() const { return strings(MXSymbolListAuxiliaryStates, handle()); }

namespace {

// Where nothing asks for a gradient MXNet fuses ops of oneDNN when it binds, and 1.9.1 then makes a group of depthwise
// convolutions that it cannot run ("could not create a primitive descriptor for a reorder primitive").
class WithoutFusing {
 public:
  explicit WithoutFusing(bool applies) : applies_(applies) {
    if (applies_) ::setenv(kVariable, "NONE", /*overwrite=*/1);
  }
  ~WithoutFusing() {
    if (applies_) ::unsetenv(kVariable);
  }
  WithoutFusing(const WithoutFusing&) = delete;
  WithoutFusing& operator=(const WithoutFusing&) = delete;

 private:
  static constexpr const char* kVariable = "MXNET_SUBGRAPH_BACKEND";
  bool applies_;
};

bool asks_for_none(std::span<const Bound> arguments) {
  return std::ranges::all_of(arguments, [](const Bound& each) { return each.request == Gradient::none; });
}

}  // namespace

Executor::Executor(const Symbol& symbol, std::span<const Bound> arguments, std::span<const Array> auxiliaries) {
  std::vector<void*> values, gradients, states = handles(auxiliaries);
  std::vector<uint32_t> requests;
  for (const Bound& each : arguments) {
    values.push_back(each.value.handle());
    gradients.push_back(each.request == Gradient::none ? nullptr : each.gradient.handle());
    requests.push_back(static_cast<uint32_t>(each.request));
  }
  void* handle = nullptr;
  const WithoutFusing without(asks_for_none(arguments));
  check(MXExecutorBind(symbol.handle(), context().type, context().index, static_cast<uint32_t>(values.size()),
                       values.data(), gradients.data(), requests.data(), static_cast<uint32_t>(states.size()),
                       states.data(), &handle));
  handle_ = {handle, [](void* each) { MXExecutorFree(each); }};
  uint32_t count = 0;
  void** outputs = nullptr;
  check(MXExecutorOutputs(handle, &count, &outputs));
  for (uint32_t i = 0; i < count; ++i) {
    Array output(outputs[i]);
    outputs_.push_back(output.with_shape(shape_of(output.handle())));
  }
}

std::string Executor::plan() const {
  const char* text = nullptr;
  check(MXExecutorPrint(handle_.get(), &text));
  return text;
}

void Executor::observe(ExecutorObserver& observer) {
  const auto tell = [](const char* output, void* array, void* to) {
    static_cast<ExecutorObserver*>(to)->queued(output, Array(array));
  };
  check(MXExecutorSetMonitorCallback(handle_.get(), tell, &observer));
}

void Executor::forward() {
  constexpr int kTraining = 1;
  check(MXExecutorForward(handle_.get(), kTraining));
}

void Executor::backward(std::span<const Array> of_outputs) {
  std::vector<void*> heads = handles(of_outputs);
  check(MXExecutorBackward(handle_.get(), static_cast<uint32_t>(heads.size()), heads.data()));
}

namespace {

void invoke(const std::string& op, std::span<const Array> in, const Attributes& attributes, int& count, void**& out) {
  RawAttributes raw(attributes);
  std::vector<void*> operands = handles(in);
  check(MXImperativeInvoke(op_handle(op), static_cast<int>(operands.size()), operands.data(), &count, &out, raw.count(),
                           raw.keys.data(), raw.values.data()));
}

// Process-wide, as MXNet's queue itself is.
std::function<void(const std::string&, const Array&)>& call_observer() {
  static std::function<void(const std::string&, const Array&)> observer;
  return observer;
}

}  // namespace

void tell(const std::string& op, const Array& result) {
  if (call_observer()) call_observer()(op, result);
}

void observe_calls(std::function<void(const std::string& op, const Array& result)> observer) {
  call_observer() = std::move(observer);
}

Array call(const std::string& op, std::span<const Array> in, const Attributes& attributes) {
  int count = 0;
  void** results = nullptr;
  invoke(op, in, attributes, count, results);
  std::vector<Array> owned;
  for (int i = 0; i < count; ++i) owned.emplace_back(results[i]);
  tell(op, owned.at(0));
  return owned.at(0).with_shape(shape_of(owned[0].handle()));
}

void call_into(const Array& out, const std::string& op, std::span<const Array> in, const Attributes& attributes) {
  int count = 1;
  void* target = out.handle();
  void** results = &target;
  invoke(op, in, attributes, count, results);
  tell(op, out);
}

void wait_for_all() { check(MXNDArrayWaitAll()); }
void seed_generators(uint64_t seed) { check(MXRandomSeed(static_cast<int>(seed))); }
void use_threads(int64_t threads) { check(MXSetNumOMPThreads(static_cast<int>(threads))); }

void use_gpu(std::optional<int64_t> index) {
  constexpr int kGpu = 2;
  context() = index ? DeviceContext{kGpu, static_cast<int>(*index)} : DeviceContext();
}

std::string library_version() {
  int version = 0;  // 10901
  check(MXGetVersion(&version));
  return cat(version / 10000, ".", version / 100 % 100, ".", version % 100);
}

std::vector<std::string> library_features() {
  const LibFeature* features = nullptr;
  size_t count = 0;
  check(MXLibInfoFeatures(&features, &count));
  std::vector<std::string> on;
  for (const LibFeature& feature : std::span(features, count))
    if (feature.enabled) on.emplace_back(feature.name);
  return on;
}

}  // namespace tbd::mxnet
