#include "backends/mxnet/adam.h"

#include <cmath>

#include "backends/mxnet/arithmetic.h"

namespace tbd::mxnet {
namespace {

double single(double beta) { return static_cast<double>(static_cast<float>(beta)); }
double ratio(double beta) { return beta == 0 ? 1 : single(beta) / beta; }

// MXNet's rule with b for beta on a gradient s g follows ours when its moments are the multiples c m and k v with
//   k = k_before b2 / beta2,  s^2 = k (1 - beta2) / (1 - b2),  c = s (1 - b1) / (1 - beta1),  c_before = c beta1 / b1.
// The first three are taken exactly, step after step; the last to the change of s in a step, some 1e-8.
struct Folded {
  double gradient, first, second;  // s, c, k
};
Folded fold_moments(const Trained& t, const Optimizer& o) {
  const double second = t.second->factor() * ratio(o.beta2);
  const double gradient = std::sqrt(second * (1 - o.beta2) / (1 - single(o.beta2)));
  const double first = gradient * (1 - single(o.beta1)) / (1 - o.beta1), before = first / ratio(o.beta1);
  constexpr double kOfRounding = 1e-7;
  if (std::abs(t.first->factor() / before - 1) > kOfRounding) t.first->hold(before);
  return {gradient, first, second};
}

void moments_became(const Trained& t, const Folded& folded) {
  t.first->became(folded.first);
  t.second->became(folded.second);
}

std::vector<Array> operands(const Trained& t) { return {t.weight, t.gradient, t.first->array(), t.second->array()}; }

Attributes betas(const Optimizer& o) { return {{"beta1", text(o.beta1)}, {"beta2", text(o.beta2)}}; }

// With m' = c m and v' = k v: m^ / (sqrt(v^) + epsilon) = scale m' / (sqrt(v') + shifted epsilon).
struct Direction {
  Direction(const Folded& folded, const Optimizer& o, const Rates& r)
      : scale(std::sqrt(r.correction2 * folded.second) / (r.correction1 * folded.first)),
        epsilon(o.epsilon * std::sqrt(r.correction2 * folded.second)) {}
  double scale, epsilon;
};

// The moments of g, then the direction m^ / (sqrt(v^) + epsilon).
Array adam_direction(const Trained& t, const Array& g, const Optimizer& o, const Rates& r) {
  t.first->hold(1);
  t.second->hold(1);
  const Array &m = t.first->array(), &v = t.second->array();
  scale(m, o.beta1);
  add(m, 1 - o.beta1, g);
  scale(v, o.beta2);
  add(v, 1 - o.beta2, squared(g));
  const Array denominator = shifted(square_root(scaled(v, 1 / r.correction2)), o.epsilon);
  return quotient(scaled(m, 1 / r.correction1), denominator);
}

Array filled_like(const Array& like, double value) { return shifted(call("zeros_like", std::vector{like}), value); }

// Norms whose quotient is the trust ratio: those of w and u, or `otherwise` and 1 where one of them is 0.
struct Trust {
  Trust(const Array& w, const Array& u, double otherwise) {
    const Array w_norm = norm(w), u_norm = norm(u);
    const auto positive = [](const Array& x) { return call("_greater_scalar", std::vector{x}, scalar(0)); };
    const Array both = call("elemwise_mul", std::vector{positive(w_norm), positive(u_norm)});
    above = call("where", std::vector{both, w_norm, filled_like(w_norm, otherwise)});
    below = call("where", std::vector{both, u_norm, filled_like(u_norm, 1)});
  }
  Array above, below;
};

}  // namespace

bool folds_moments(const Optimizer& o) {
  const double change = std::abs(ratio(o.beta1) / std::sqrt(ratio(o.beta2)) - 1);
  constexpr double kAllowed = 1e-6;
  return change < kAllowed * (1 - o.beta1) && single(o.beta2) < 1;
}

// MXNet's epsilon stands outside the bias correction, and its decoupled decay is not multiplied by lr.
void adam_by_mxnet(const Trained& t, const Optimizer& o, const Rates& r) {
  const Folded folded = fold_moments(t, o);
  const Direction direction(folded, o, r);
  Attributes attributes = betas(o);
  attributes.emplace_back("lr", text(r.lr * direction.scale));
  attributes.emplace_back("epsilon", text(direction.epsilon));
  std::vector<Array> in = operands(t);
  if (o.kind == Optimizer::Kind::adam) {
    attributes.emplace_back("wd", text(folded.gradient * r.weight_decay));
    attributes.emplace_back("rescale_grad", text(folded.gradient));
    call_into(t.weight, "adam_update", in, attributes);
  } else {
    attributes.emplace_back("wd", text(r.lr * r.weight_decay));
    attributes.emplace_back("eta", "1");
    in.push_back(call("_full", {}, {{"shape", "(1,)"}, {"value", text(folded.gradient)}}));
    call_into(t.weight, "_adamw_update", in, attributes);
  }
  moments_became(t, folded);
}

// The trust ratio is 1 where nothing decays and where a norm is 0. u is our direction divided by its scale.
void lamb_by_mxnet(const Trained& t, const Optimizer& o, const Rates& r) {
  const Folded folded = fold_moments(t, o);
  const Direction direction(folded, o, r);
  Attributes attributes = betas(o);
  attributes.emplace_back("epsilon", text(direction.epsilon));
  attributes.emplace_back("t", "1");
  attributes.emplace_back("bias_correction", text(false));
  attributes.emplace_back("wd", text(r.weight_decay / direction.scale));
  attributes.emplace_back("rescale_grad", text(folded.gradient));
  const Array u = call("lamb_update_phase1", operands(t), attributes);
  moments_became(t, folded);
  if (r.weight_decay == 0) return add(t.weight, -r.lr * direction.scale, u);
  const Trust trust(t.weight, u, direction.scale);
  call_into(t.weight, "lamb_update_phase2", std::vector{t.weight, u, trust.above, trust.below}, {{"lr", text(r.lr)}});
}

void adam_composed(const Trained& t, const Optimizer& o, const Rates& r) {
  const bool decoupled = o.kind == Optimizer::Kind::adamw;
  const Array u = adam_direction(t, with_decay(t, decoupled ? 0 : r.weight_decay), o, r);
  if (decoupled && r.weight_decay != 0) scale(t.weight, 1 - r.lr * r.weight_decay);
  add(t.weight, -r.lr, u);
}

void lamb_composed(const Trained& t, const Optimizer& o, const Rates& r) {
  Array u = adam_direction(t, t.gradient, o, r);
  if (r.weight_decay != 0) {
    add(u, r.weight_decay, t.weight);
    const Trust trust(t.weight, u, 1);
    scale_by(u, quotient(trust.above, trust.below));
  }
  add(t.weight, -r.lr, u);
}

}  // namespace tbd::mxnet
