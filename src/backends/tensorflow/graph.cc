#include "backends/tensorflow/graph.h"

#include <tensorflow/c/c_api_experimental.h>

#include <algorithm>

#include "backends/tensorflow/wire.h"

namespace tbd::tensorflow {

OpBuilder::OpBuilder(TfGraph& graph, const char* kind, const std::string& name)
    : description_(TF_NewOperation(graph, kind, name.c_str())), kind_(kind), name_(name) {}

OpBuilder& OpBuilder::list(std::span<const TF_Output> inputs) {
  TF_AddInputList(description_, inputs.data(), static_cast<int>(inputs.size()));
  return *this;
}
OpBuilder& OpBuilder::after(const TF_Operation* operation) {
  TF_AddControlInput(description_, const_cast<TF_Operation*>(operation));
  return *this;
}
OpBuilder& OpBuilder::type(const char* name, DType dtype) {
  TF_SetAttrType(description_, name, data_type(dtype));
  return *this;
}
OpBuilder& OpBuilder::integer(const char* name, int64_t value) {
  TF_SetAttrInt(description_, name, value);
  return *this;
}
OpBuilder& OpBuilder::integers(const char* name, std::span<const int64_t> values) {
  TF_SetAttrIntList(description_, name, values.data(), static_cast<int>(values.size()));
  return *this;
}
OpBuilder& OpBuilder::real(const char* name, double value) {
  TF_SetAttrFloat(description_, name, static_cast<float>(value));
  return *this;
}
OpBuilder& OpBuilder::boolean(const char* name, bool value) {
  TF_SetAttrBool(description_, name, value ? 1 : 0);
  return *this;
}
OpBuilder& OpBuilder::text(const char* name, const std::string& value) {
  TF_SetAttrString(description_, name, value.data(), value.size());
  return *this;
}
OpBuilder& OpBuilder::shape(const char* name, const Shape& value) {
  TF_SetAttrShape(description_, name, value.extents().data(), static_cast<int>(value.rank()));
  return *this;
}
OpBuilder& OpBuilder::tensor(const char* name, TF_Tensor* value) {
  const Status status;
  TF_SetAttrTensor(description_, name, value, status);
  status.check();
  return *this;
}
OpBuilder& OpBuilder::types(const char* name, std::span<const DType> values) {
  std::vector<TF_DataType> list;
  for (const DType dtype : values) list.push_back(data_type(dtype));
  TF_SetAttrTypeList(description_, name, list.data(), static_cast<int>(list.size()));
  return *this;
}

TF_Operation* OpBuilder::finish() {
  const Status status;
  TF_Operation* operation = TF_FinishOperation(description_, status);
  try {
    status.check();
  } catch (const Error& e) {
    throw e.within(cat(kind_, " '", name_, "'"));
  }
  return operation;
}

void TfGraph::set_scope(const std::string& scope) {
  scope_ = scope;
  for (char& c : scope_)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '/' && c != '-' && c != '_') c = '_';
}

std::string TfGraph::unique(const std::string& name) {
  std::string out = name;
  for (int next = 1; !names_.insert(out).second; ++next) out = cat(name, '_', next);
  return out;
}

OpBuilder TfGraph::op(const char* kind) {
  return {*this, kind, unique(scope_.empty() ? kind : cat(scope_, '/', kind))};
}

TF_Output TfGraph::placeholder(DType dtype, const Shape& physical) {
  return op("Placeholder").type("dtype", dtype).shape("shape", physical).out();
}

TF_Output TfGraph::constant(const HostTensor& value) {
  const TensorHandle tensor = to_tensor(value, value.dtype(), Layout::row);
  return op("Const").type("dtype", value.dtype()).tensor("value", tensor.get()).out();
}

TF_Output TfGraph::constant(double value, DType dtype) {
  return constant(converted(HostTensor(DType::f64, Shape{}, std::span<const double>(&value, 1)), dtype));
}

TF_Output TfGraph::constant(std::span<const int64_t> values) {
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return constant(HostTensor(DType::i32, Shape{static_cast<int64_t>(values.size())}, std::span<const int32_t>(narrow)));
}

TF_Output TfGraph::filled(double value, DType dtype, const Shape& shape) {
  if (shape.rank() == 0) return constant(value, dtype);
  return op("Fill").in(constant(shape.extents())).in(constant(value, dtype)).out();
}

namespace {

// Ops that the outputs depend on.
std::set<const TF_Operation*> ancestors(std::span<const TF_Output> outputs) {
  std::set<const TF_Operation*> seen;
  std::vector<TF_Operation*> open;
  const auto visit = [&](TF_Operation* op) {
    if (seen.insert(op).second) open.push_back(op);
  };
  for (const TF_Output& output : outputs) visit(output.oper);
  while (!open.empty()) {
    TF_Operation* op = open.back();
    open.pop_back();
    for (int i = 0; i < TF_OperationNumInputs(op); ++i) visit(TF_OperationInput({op, i}).oper);
  }
  return seen;
}

}  // namespace

std::vector<TF_Output> TfGraph::gradients(std::span<const TF_Output> ys, std::span<const TF_Output> xs,
                                          std::span<const TF_Output> upstream) {
  require(ys.size() == upstream.size(), "each y needs an upstream gradient");
  const std::set<const TF_Operation*> reached = ancestors(ys);
  std::vector<TF_Output> y(ys.begin(), ys.end()), dy(upstream.begin(), upstream.end()), x;
  for (const TF_Output& each : xs)
    if (reached.contains(each.oper)) x.push_back(each);  // TensorFlow refuses others
  std::vector<TF_Output> dx(x.size()), out;
  const Status status;
  if (!x.empty())
    TF_AddGradientsWithPrefix(graph_, unique(cat(scope_, "/gradients")).c_str(), y.data(), static_cast<int>(y.size()),
                              x.data(), static_cast<int>(x.size()), dy.data(), status, dx.data());
  status.check();
  auto next = dx.begin();
  for (const TF_Output& each : xs) out.push_back(reached.contains(each.oper) ? *next++ : TF_Output{nullptr, 0});
  return out;
}

TfSession::TfSession(const TfGraph& graph, const SessionSettings& settings)
    : traced_options_(traced_run_options(settings.trace_gpu || !settings.server.empty())) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  const std::string config = session_config(settings);
  const Status status;
  TF_SetConfig(options, config.data(), config.size(), status);
  if (!settings.server.empty()) TF_SetTarget(options, settings.server.c_str());
  if (settings.xla) TF_EnableXLACompilation(options, 1);  // after the config, which it amends
  if (status.ok()) session_ = TF_NewSession(graph, options, status);
  TF_DeleteSessionOptions(options);
  status.check();
  if (!settings.gpu || has_gpu()) return;
  close();
  fail(ErrorKind::unsupported, "tensorflow opens no GPU: the driver shows one, but its libraries of CUDA do not load");
}

TfSession::~TfSession() { close(); }

void TfSession::close() {
  const Status status;  // nothing is left to be said
  TF_CloseSession(session_, status);
  TF_DeleteSession(session_, status);
}

bool TfSession::has_gpu() const {
  const Status status;
  const std::unique_ptr<TF_DeviceList, decltype(&TF_DeleteDeviceList)> devices(TF_SessionListDevices(session_, status),
                                                                               TF_DeleteDeviceList);
  status.check();
  for (int i = 0; i < TF_DeviceListCount(devices.get()); ++i) {
    const std::string_view type = TF_DeviceListType(devices.get(), i, status);
    status.check();
    if (type == "GPU") return true;
  }
  return false;
}

std::vector<TensorHandle> TfSession::run(std::span<const Feed> feeds, std::span<const TF_Output> fetches,
                                         std::span<TF_Operation* const> targets, std::string* metadata) {
  std::vector<TF_Output> to;
  std::vector<TF_Tensor*> values, fetched(fetches.size());
  for (const Feed& feed : feeds) {
    to.push_back(feed.to);
    values.push_back(feed.value);
  }
  const TF_Buffer options = {traced_options_.data(), traced_options_.size(), nullptr};
  const BufferHandle left(metadata ? TF_NewBuffer() : nullptr);
  const Status status;
  TF_SessionRun(session_, metadata ? &options : nullptr, to.data(), values.data(), static_cast<int>(to.size()),
                fetches.data(), fetched.data(), static_cast<int>(fetches.size()), targets.data(),
                static_cast<int>(targets.size()), left.get(), status);
  std::vector<TensorHandle> out;
  for (TF_Tensor* tensor : fetched) out.emplace_back(tensor);
  status.check();
  if (metadata) metadata->assign(static_cast<const char*>(left->data), left->length);
  return out;
}

}  // namespace tbd::tensorflow
