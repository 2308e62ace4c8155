#include "graph/builder.h"

#include <algorithm>

#include "graph/graph.h"

namespace tbd {
namespace {

constexpr int64_t kNominalBatch = 2;

int64_t nominal(const Dim& dim, const Program& program) {
  if (dim.symbol.empty()) return dim.extent;
  if (dim.symbol == "N") return kNominalBatch;
  const auto found = program.symbols.find(dim.symbol);
  require(found != program.symbols.end(), "symbol '", dim.symbol, "' has no default in the program");
  return found->second;
}

// Adds the parameter, or checks that the one of that name has its shape.
void share(std::vector<Parameter>& all, Parameter parameter) {
  const auto found = std::ranges::find(all, parameter.name, &Parameter::name);
  if (found == all.end()) return all.push_back(std::move(parameter));
  require(found->shape == parameter.shape, "parameter '", parameter.name, "' is ", found->shape, ", here ",
          parameter.shape);
}

}  // namespace

Builder::Builder(Program& program, std::string phase_name) : program_(program), phase_index_(program.phases.size()) {
  program.phases.push_back({.name = std::move(phase_name)});
}
Builder::~Builder() = default;

Phase& Builder::phase() { return program_.phases[phase_index_]; }

Builder::Scope::~Scope() { builder_.prefix_.resize(length_); }
Builder::Scope Builder::scope(std::string_view name) {
  const size_t length = prefix_.size();
  prefix_ = cat(prefix_, name, ".");
  return Scope(*this, length);
}

std::string Builder::unique(std::string_view name) {
  const int count = ++counts_[std::string(name)];
  return count == 1 ? std::string(name) : cat(name, "_", count);
}

Tensor Builder::input(std::string name, std::vector<Dim> shape, DType dtype) {
  std::vector<int64_t> extents;
  for (const Dim& dim : shape) extents.push_back(nominal(dim, program_));
  phase().inputs.push_back({.name = name, .shape = std::move(shape), .dtype = dtype});
  return Tensor(std::move(name), Shape(std::move(extents)), dtype);
}

std::vector<Tensor> Builder::emit_all(std::string name, Op op, const std::vector<Tensor>& in) {
  Node node = {.name = unique(name), .op = std::move(op), .inputs = {}};
  std::vector<Shape> shapes;
  std::vector<DType> dtypes;
  for (const Tensor& x : in) {
    node.inputs.push_back(x.name());
    shapes.push_back(x.shape());
    dtypes.push_back(x.dtype_);
  }
  infer(node, shapes);
  std::vector<Tensor> out;
  const std::vector<Shape> results = output_shapes(node.op, shapes);
  for (size_t i = 0; i < results.size(); ++i)
    out.push_back(Tensor(i == 0 ? node.name : cat(node.name, ":", i), results[i], output_dtype(node.op, i, dtypes)));
  phase().nodes.push_back(std::move(node));
  return out;
}

Tensor Builder::node(Op op, const std::vector<Tensor>& in) {
  const std::string name = prefix_ + kind(op);
  return emit_all(name, std::move(op), in).front();
}
Tensor Builder::node(std::string_view name, Op op, const std::vector<Tensor>& in) {
  return with_parameters(name, in, std::move(op), "").front();
}

Tensor Builder::declare(const std::string& key, const ParameterSpec& spec) {
  share(spec.buffer ? program_.buffers : program_.parameters,
        {.name = key, .shape = spec.shape, .dtype = DType::f32, .init = spec.init});
  if (!spec.buffer && std::ranges::find(used_parameters_, key) == used_parameters_.end())
    used_parameters_.push_back(key);
  return Tensor(key, spec.shape, DType::f32);
}

std::vector<Tensor> Builder::with_parameters(std::string_view name, std::vector<Tensor> in, Op op,
                                             std::string_view suffix) {
  const std::string full = cat(prefix_, name), node = cat(full, suffix);
  std::vector<Shape> shapes;
  for (const Tensor& x : in) shapes.push_back(x.shape());
  infer({node, op, {}}, shapes);  // before its parameters exist: a bad node leaves none behind
  for (const ParameterSpec& spec : tbd::parameters(op, in[0].shape()))
    in.push_back(declare(cat(full, ".", spec.suffix, suffix), spec));
  return emit_all(node, std::move(op), in);
}

Tensor Builder::conv2d(std::string_view name, const Tensor& x, Conv2d op) { return node(name, op, {x}); }
Tensor Builder::conv_transpose2d(std::string_view name, const Tensor& x, ConvTranspose2d op) {
  return node(name, op, {x});
}
Tensor Builder::linear(std::string_view name, const Tensor& x, Linear op) { return node(name, op, {x}); }
Tensor Builder::batch_norm(std::string_view name, const Tensor& x, BatchNorm op) { return node(name, op, {x}); }
Tensor Builder::group_norm(std::string_view name, const Tensor& x, GroupNorm op) { return node(name, op, {x}); }
Tensor Builder::layer_norm(std::string_view name, const Tensor& x, LayerNorm op) { return node(name, op, {x}); }

Tensor Builder::rms_norm(std::string_view name, const Tensor& x, RmsNorm op) { return node(name, op, {x}); }
Tensor Builder::embedding(std::string_view name, const Tensor& ids, Embedding op) { return node(name, op, {ids}); }
namespace {

std::vector<Tensor> with_lengths(const Tensor& x, const std::optional<Tensor>& lengths) {
  return lengths ? std::vector{x, *lengths} : std::vector{x};
}

}  // namespace

Recurrent Builder::lstm(std::string_view name, const Tensor& x, Lstm op, std::string_view suffix,
                        const std::optional<Tensor>& lengths) {
  const auto out = with_parameters(name, with_lengths(x, lengths), op, cat(suffix, op.reverse ? "_reverse" : ""));
  return {out[0], {out[1], out[2]}};
}
Gated Builder::gru(std::string_view name, const Tensor& x, Gru op, std::string_view suffix,
                   const std::optional<Tensor>& lengths) {
  const auto out = with_parameters(name, with_lengths(x, lengths), op, cat(suffix, op.reverse ? "_reverse" : ""));
  return {out[0], out[1]};
}
State Builder::lstm_cell(std::string_view name, const Tensor& x, const State& state, LstmCell op) {
  const auto out = with_parameters(name, {x, state.h, state.c}, op, "");
  return {out[0], out[1]};
}

Tensor Builder::parameter(std::string_view name, Shape shape, Init init) {
  return declare(cat(prefix_, name), {.suffix = "", .shape = std::move(shape), .init = init});
}
void Builder::init(std::string_view name, Init init) {
  const std::string key = cat(prefix_, name);
  for (std::vector<Parameter>* all : {&program_.parameters, &program_.buffers}) {
    const auto found = std::ranges::find(*all, key, &Parameter::name);
    if (found == all->end()) continue;
    if (init.zero_row < 0) init.zero_row = found->init.zero_row;
    found->init = init;
    return;
  }
  fail(ErrorKind::invalid, "no parameter '", key, "' to initialise");
}
Tensor Builder::linear(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  require(weight.shape().rank() == 2, "weight '", weight.name(), "' is ", weight.shape(), ", expected (out, in)");
  std::vector<Tensor> in = {x, weight};
  if (bias) in.push_back(*bias);
  return node(Linear{.out = weight.shape()[0], .bias = bias.has_value()}, in);
}
Tensor Builder::embedding(const Tensor& ids, const Tensor& table, int64_t pad) {
  require(table.shape().rank() == 2, "table '", table.name(), "' is ", table.shape(), ", expected (rows, width)");
  const auto found = std::ranges::find(program_.parameters, table.name(), &Parameter::name);
  if (found != program_.parameters.end() && pad >= 0) found->init.zero_row = pad;
  return node(Embedding{table.shape()[0], table.shape()[1], pad}, {ids, table});
}

Tensor Builder::unary(const Tensor& x, Unary::Function function, double slope) {
  return node(Unary{function, slope}, {x});
}
Tensor Builder::binary(const Tensor& a, const Tensor& b, Binary::Function function) {
  return node(Binary{function}, {a, b});
}
Tensor Builder::affine(const Tensor& x, double factor, double offset) { return node(Affine{factor, offset}, {x}); }
Tensor Builder::greater(const Tensor& x, double value) { return node(Greater{value}, {x}); }
Tensor Builder::clamp(const Tensor& x, Clamp op) { return node(op, {x}); }
Tensor Builder::matmul(const Tensor& a, const Tensor& b, Matmul op) { return node(op, {a, b}); }
Tensor Builder::max_pool(const Tensor& x, MaxPool op) { return node(op, {x}); }
Tensor Builder::avg_pool(const Tensor& x, AvgPool op) { return node(op, {x}); }
Tensor Builder::global_mean(const Tensor& x) { return node(GlobalMean{}, {x}); }
Tensor Builder::upsample_nearest(const Tensor& x, int64_t factor) { return node(UpsampleNearest{factor}, {x}); }
Tensor Builder::dropout(const Tensor& x, double p) { return p == 0 ? x : node(Dropout{p}, {x}); }
Tensor Builder::dropout_of_samples(std::string_view name, const Tensor& x, double p) {
  return p == 0 ? x : node(name, Dropout{.p = p, .per_sample = true}, {x});
}
Tensor Builder::reshape(const Tensor& x, std::vector<int64_t> shape) { return node(Reshape{std::move(shape)}, {x}); }
Tensor Builder::concat(const std::vector<Tensor>& parts, int64_t axis) { return node(Concat{axis}, parts); }
Tensor Builder::slice(const Tensor& x, Slice op) { return node(op, {x}); }
Tensor Builder::transpose(const Tensor& x, std::vector<int64_t> axes) { return node(Transpose{std::move(axes)}, {x}); }
Tensor Builder::gather(const Tensor& x, const Tensor& positions) { return node(Gather{}, {x, positions}); }
Tensor Builder::softmax(const Tensor& x) { return node(Softmax{}, {x}); }
Tensor Builder::strided_length(const Tensor& lengths, int64_t stride) { return node(StridedLength{stride}, {lengths}); }
Tensor Builder::sequence_mask(const Tensor& x, const Tensor& lengths, int64_t axis) {
  return node(SequenceMask{axis}, {x, lengths});
}
Tensor Builder::equals(const Tensor& x, int64_t value) { return node(Equals{value}, {x}); }
Tensor Builder::sinusoid(const Tensor& valid, Sinusoid op) { return node(op, {valid}); }
Tensor Builder::rotary(const Tensor& x, Rotary op) { return node(op, {x}); }
Tensor Builder::attention(const Tensor& q, const Tensor& k, const Tensor& v, Attention op,
                          const std::optional<Tensor>& mask) {
  std::vector<Tensor> in = {q, k, v};
  if (mask) in.push_back(*mask);
  return node(op, in);
}
Tensor Builder::sum(const Tensor& x, std::vector<int64_t> axes, bool keep) {
  return node(Reduce{Reduce::Function::sum, std::move(axes), keep}, {x});
}
Tensor Builder::mean(const Tensor& x, std::vector<int64_t> axes, bool keep) {
  return node(Reduce{Reduce::Function::mean, std::move(axes), keep}, {x});
}
Tensor Builder::stop_gradient(const Tensor& x) { return node(StopGradient{}, {x}); }
Tensor Builder::input_gradient(const Tensor& y, const Tensor& x) { return node(InputGradient{}, {y, x}); }
std::vector<Tensor> Builder::host_call(std::string_view name, std::vector<Tensor> in, HostCall call) {
  return emit_all(cat(prefix_, name), std::move(call), in);
}
Tensor Builder::softmax_cross_entropy(const Tensor& logits, const Tensor& label, double smoothing) {
  return softmax_cross_entropy(logits, label, SoftmaxCrossEntropy{.smoothing = smoothing});
}
Tensor Builder::softmax_cross_entropy(const Tensor& logits, const Tensor& label, SoftmaxCrossEntropy op,
                                      const std::optional<Tensor>& weights) {
  std::vector<Tensor> in = {logits, label};
  if (weights) in.push_back(*weights);
  return node(op, in);
}
Tensor Builder::soft_cross_entropy(const Tensor& logits, const Tensor& target) {
  return node(SoftCrossEntropy{}, {logits, target});
}
Tensor Builder::ctc_loss(const Tensor& logits, const Tensor& lengths, const Tensor& labels, const Tensor& label_lengths,
                         CtcLoss op) {
  return node(op, {logits, lengths, labels, label_lengths});
}
Tensor Builder::squared_error(const Tensor& a, const Tensor& b) { return node(SquaredError{}, {a, b}); }

void Builder::output(std::string name, const Tensor& value) { phase().outputs[std::move(name)] = value.name(); }
void Builder::loss(std::string name, const Tensor& value, double norm) {
  phase().loss.push_back({.name = std::move(name), .value = value.name(), .norm = norm});
}

void Builder::update(Update update) {
  if (update.groups.empty()) update.groups.emplace_back();
  const auto rest = std::ranges::find_if(update.groups, [](const auto& group) { return group.parameters.empty(); });
  std::vector<std::string> named;
  for (const ParameterGroup& group : update.groups)
    named.insert(named.end(), group.parameters.begin(), group.parameters.end());
  if (rest != update.groups.end())
    for (const std::string& each : used_parameters_)
      if (std::ranges::find(named, each) == named.end()) rest->parameters.push_back(each);
  phase().update = std::move(update);
}
void Builder::accumulate(int64_t micro_batches) { phase().accumulate = micro_batches; }
std::vector<std::string> Builder::parameters() const { return used_parameters_; }

}  // namespace tbd
