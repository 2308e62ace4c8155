#include "backends/tensorflow/optimizer.h"

#include <cmath>

namespace tbd::tensorflow {
namespace {

using Kind = Optimizer::Kind;

// What an average whose share 1 - beta is computed in single precision holds over the one that is meant.
double rounded_share(double beta, DType dtype) {
  if (dtype == DType::f64) return 1;
  return static_cast<double>(1 - static_cast<float>(beta)) / (1 - beta);
}

// TensorFlow's Adam kernel puts epsilon outside the correction and computes 1 - beta in the parameter's type, off by
// 1.3e-5 for beta = 0.999 in fp32: lr and epsilon carry both.
struct AdamScalars {
  double beta1, beta2, epsilon;
  double share1, share2;
  bool corrected;

  AdamScalars(const Optimizer& o, DType dtype)
      : beta1(o.beta1),
        beta2(o.beta2),
        epsilon(o.epsilon),
        share1(rounded_share(o.beta1, dtype)),
        share2(rounded_share(o.beta2, dtype)),
        corrected(o.kind != Kind::adamw || o.bias_correction) {}
  double correction(double beta, int64_t count) const {
    return corrected ? 1 - std::pow(beta, static_cast<double>(count)) : 1;
  }
  double root2(int64_t count) const { return std::sqrt(share2 * correction(beta2, count)); }
  double lr_factor(int64_t count) const { return root2(count) / (share1 * correction(beta1, count)); }
};

class UpdateBuilder {
 public:
  UpdateBuilder(const Update& update, TfGraph& graph, Weights& weights, DType dtype)
      : update_(update), optimizer_(update.optimizer), graph_(graph), weights_(weights), dtype_(dtype) {}

  UpdateOps build(std::vector<TF_Output> gradients, const std::map<std::string, TF_Output>& buffers);

 private:
  struct Target {
    std::string name;
    const Variable& weight;
    TF_Output gradient;
    double weight_decay;
    TF_Output lr, decay;  // decay: adamw, lr times weight decay
  };

  TF_Output number(double value) { return graph_.constant(value, dtype_); }
  TF_Output unary(const char* kind, TF_Output x) { return graph_.op(kind).in(x).out(); }
  TF_Output binary(const char* kind, TF_Output a, TF_Output b) { return graph_.op(kind).in(a).in(b).out(); }
  TF_Output times(TF_Output x, double factor) { return binary("Mul", x, number(factor)); }
  // A variable's value times `factor` as late as `gradient`: what needs the value alone would run when the step begins
  // and last until the gradient comes.
  TF_Output decay_beside(TF_Output gradient, TF_Output value, TF_Output factor) {
    return graph_.op("Mul").in(value).in(factor).after(gradient.oper).out();
  }
  TF_Output scalar(std::function<double(const UpdateScalars&, int64_t)> value);
  // An assignment waits for the read that the phase's nodes share.
  TF_Operation* assign(const char* kind, const Variable& variable, TF_Output value) {
    return graph_.op(kind).in(variable.handle).in(value).after(variable.value.output.oper).finish();
  }
  void keep(TF_Operation* operation) { out_.targets.push_back(operation); }

  bool is_adam() const { return optimizer_.kind == Kind::adam || optimizer_.kind == Kind::adamw; }
  void add_scalars();
  TF_Output lr_of(double scale);
  TF_Output norm(std::span<const TF_Output> tensors, std::span<const int64_t> ranks);
  void prepare(std::vector<TF_Output>& gradients, const std::vector<int64_t>& ranks);
  TF_Operation* apply(const Target& target);
  TF_Operation* sgd(const Target& target);
  TF_Operation* adam(const Target& target);
  TF_Operation* lamb(const Target& target);
  TF_Output decayed(const Target& target) {
    if (target.weight_decay == 0) return target.gradient;
    const TF_Output gradient = target.gradient;
    return binary("AddV2", gradient, decay_beside(gradient, target.weight.value.output, number(target.weight_decay)));
  }
  TF_Output moved(const Variable& variable, TF_Output towards, double by);
  void average(const std::string& name, TF_Output value);

  const Update& update_;
  const Optimizer& optimizer_;
  TfGraph& graph_;
  Weights& weights_;
  DType dtype_;
  TF_Output epsilon_ = {}, correction1_ = {}, correction2_ = {};
  UpdateOps out_;
};

TF_Output UpdateBuilder::scalar(std::function<double(const UpdateScalars&, int64_t)> value) {
  const TF_Output to = graph_.placeholder(dtype_, {});
  out_.scalars.push_back({to, dtype_, std::move(value)});
  return to;
}

void UpdateBuilder::add_scalars() {
  const AdamScalars adam(optimizer_, dtype_);
  if (is_adam()) epsilon_ = scalar([adam](const auto&, int64_t count) { return adam.epsilon * adam.root2(count); });
  if (optimizer_.kind != Kind::lamb) return;
  correction1_ = scalar([](const UpdateScalars& s, int64_t) { return s.correction1; });
  correction2_ = scalar([](const UpdateScalars& s, int64_t) { return s.correction2; });
}

TF_Output UpdateBuilder::lr_of(double scale) {
  if (!is_adam()) return scalar([scale](const UpdateScalars& s, int64_t) { return s.lr * scale; });
  return scalar([scale, adam = AdamScalars(optimizer_, dtype_)](const UpdateScalars& s, int64_t count) {
    return s.lr * scale * adam.lr_factor(count);
  });
}

// The root of the sum of all squares.
TF_Output UpdateBuilder::norm(std::span<const TF_Output> tensors, std::span<const int64_t> ranks) {
  std::vector<TF_Output> sums;
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < ranks[i]; ++axis) axes.push_back(axis);
    sums.push_back(binary("Sum", unary("Square", tensors[i]), graph_.constant(axes)));
  }
  return unary("Sqrt", graph_.op("AddN").list(sums).out());
}

// Clip by global norm; LAMB divides by the global norm where it is above 1.
void UpdateBuilder::prepare(std::vector<TF_Output>& gradients, const std::vector<int64_t>& ranks) {
  const auto scale = [&](TF_Output factor) {
    for (TF_Output& gradient : gradients) gradient = binary("Mul", gradient, factor);
  };
  if (update_.clip_norm) {
    const TF_Output total = binary("AddV2", norm(gradients, ranks), number(1e-6));
    scale(binary("Minimum", number(1), binary("RealDiv", number(*update_.clip_norm), total)));
  }
  if (optimizer_.kind == Kind::lamb)
    scale(binary("RealDiv", number(1), binary("Maximum", norm(gradients, ranks), number(1))));
}

TF_Operation* UpdateBuilder::sgd(const Target& target) {
  const Variable& w = target.weight;
  const TF_Output gradient = decayed(target);
  if (optimizer_.momentum == 0)
    return graph_.op("ResourceApplyGradientDescent")
        .in(w.handle)
        .in(target.lr)
        .in(gradient)
        .after(w.value.output.oper)
        .finish();
  return graph_.op("ResourceApplyMomentum")
      .in(w.handle)
      .in(weights_.slot(target.name, "momentum").handle)
      .in(target.lr)
      .in(gradient)
      .in(number(optimizer_.momentum))
      .boolean("use_nesterov", optimizer_.nesterov)
      .after(w.value.output.oper)
      .finish();
}

// The kernel's own correction is off: powers of beta are 0.
TF_Operation* UpdateBuilder::adam(const Target& target) {
  const Variable& w = target.weight;
  const bool decoupled = optimizer_.kind == Kind::adamw && target.weight_decay != 0;
  const TF_Operation* before = w.value.output.oper;
  if (decoupled) before = assign("AssignSubVariableOp", w, decay_beside(target.gradient, w.value.output, target.decay));
  return graph_.op("ResourceApplyAdam")
      .in(w.handle)
      .in(weights_.slot(target.name, "exp_avg", rounded_share(optimizer_.beta1, dtype_)).handle)
      .in(weights_.slot(target.name, "exp_avg_sq", rounded_share(optimizer_.beta2, dtype_)).handle)
      .in(number(0))
      .in(number(0))
      .in(target.lr)
      .in(number(optimizer_.beta1))
      .in(number(optimizer_.beta2))
      .in(epsilon_)
      .in(optimizer_.kind == Kind::adam ? decayed(target) : target.gradient)
      .after(before)
      .finish();
}

// The variable's value after it moved towards a tensor; also stored.
TF_Output UpdateBuilder::moved(const Variable& variable, TF_Output towards, double by) {
  const TF_Output now = variable.value.output;
  const TF_Output next = binary("AddV2", now, times(binary("Sub", towards, now), by));
  keep(assign("AssignVariableOp", variable, next));
  return next;
}

TF_Operation* UpdateBuilder::lamb(const Target& target) {
  const Variable& w = target.weight;
  const TF_Output m = moved(weights_.slot(target.name, "exp_avg"), target.gradient, 1 - optimizer_.beta1);
  const TF_Output squares = unary("Square", target.gradient);
  const TF_Output v = moved(weights_.slot(target.name, "exp_avg_sq"), squares, 1 - optimizer_.beta2);
  const TF_Output root = unary("Sqrt", binary("RealDiv", v, correction2_));
  TF_Output u =
      binary("RealDiv", binary("RealDiv", m, correction1_), binary("AddV2", root, number(optimizer_.epsilon)));
  TF_Output rate = target.lr;
  if (target.weight_decay != 0) {
    u = binary("AddV2", u, decay_beside(target.gradient, w.value.output, number(target.weight_decay)));
    const int64_t ranks[] = {w.value.shape.rank()};
    const TF_Output w_norm = norm(std::span(&w.value.output, 1), ranks), u_norm = norm(std::span(&u, 1), ranks);
    const TF_Output both =
        binary("LogicalAnd", binary("Greater", w_norm, number(0)), binary("Greater", u_norm, number(0)));
    const TF_Output ratio = graph_.op("SelectV2").in(both).in(binary("RealDiv", w_norm, u_norm)).in(number(1)).out();
    rate = binary("Mul", rate, ratio);
  }
  return assign("AssignSubVariableOp", w, binary("Mul", u, rate));
}

TF_Operation* UpdateBuilder::apply(const Target& target) {
  switch (optimizer_.kind) {
    case Kind::sgd:
      return sgd(target);
    case Kind::adam:
    case Kind::adamw:
      return adam(target);
    case Kind::lamb:
      return lamb(target);
  }
  fail(ErrorKind::internal, "optimizer without a lowering");
}

// e <- e + (1 - d) (w - e).
void UpdateBuilder::average(const std::string& name, TF_Output value) {
  moved(weights_.average(name), value, 1 - *update_.ema);
}

UpdateOps UpdateBuilder::build(std::vector<TF_Output> gradients, const std::map<std::string, TF_Output>& buffers) {
  const std::string scope = graph_.scope();
  add_scalars();
  std::vector<int64_t> ranks;
  for (const ParameterGroup& group : update_.groups)
    for (const std::string& name : group.parameters) ranks.push_back(weights_.parameter(name).value.shape.rank());
  prepare(gradients, ranks);
  size_t next = 0;
  for (const ParameterGroup& group : update_.groups) {
    graph_.set_scope(scope);
    const TF_Output lr = lr_of(group.lr_scale);
    TF_Output decay = {};
    if (optimizer_.kind == Kind::adamw && group.weight_decay != 0)
      decay = scalar([rate = group.lr_scale * group.weight_decay](const auto& s, int64_t) { return s.lr * rate; });
    for (const std::string& name : group.parameters) {
      const Variable& weight = weights_.parameter(name);
      graph_.set_scope(cat(scope, '/', name));
      TF_Operation* applied = apply({name, weight, gradients[next++], group.weight_decay, lr, decay});
      keep(applied);
      if (!update_.ema) continue;
      average(name, graph_.op("ReadVariableOp").in(weight.handle).type("dtype", dtype_).after(applied).out());
    }
  }
  if (update_.ema)
    for (const auto& [name, value] : buffers) {
      graph_.set_scope(cat(scope, '/', name));
      average(name, value);
    }
  return std::move(out_);
}

}  // namespace

UpdateOps add_update(const Update& update, TfGraph& graph, Weights& weights, std::vector<TF_Output> gradients,
                     const std::map<std::string, TF_Output>& buffers) {
  DType dtype = DType::f32;
  for (const ParameterGroup& group : update.groups)
    for (const std::string& name : group.parameters) dtype = weights.parameter(name).value.dtype;
  return UpdateBuilder(update, graph, weights, dtype).build(std::move(gradients), buffers);
}

std::string optimizer_path(Kind kind) {
  switch (kind) {
    case Kind::sgd:
      return "ResourceApplyMomentum";
    case Kind::adam:
      return "ResourceApplyAdam";
    case Kind::adamw:
      return "AssignSubVariableOp, ResourceApplyAdam";
    case Kind::lamb:
      return "composed of elementwise ops and Assign*VariableOp";
  }
  return "";
}

}  // namespace tbd::tensorflow
