#include "backends/cntk/optimizer.h"

#include <algorithm>
#include <cmath>

namespace tbd::cntk {
namespace {

using Kind = Optimizer::Kind;

// Calls `work` with a zero of the arrays' element type.
void by_type(const Array& array, const auto& work) {
  guarded([&] { array.is_double() ? work(0.0) : work(0.0F); });
}

double squares(const Array& x) {
  double sum = 0;
  by_type(x, [&]<class T>(T) {
    for (const T each : x.as<T>()) sum += static_cast<double>(each) * static_cast<double>(each);
  });
  return sum;
}

void scale(const Array& x, double by) {
  by_type(x, [&]<class T>(T) {
    const T factor = static_cast<T>(by);
    for (T& each : x.as<T>()) each *= factor;
  });
}

double global_norm(std::span<const Array> tensors) {
  double sum = 0;
  for (const Array& x : tensors) sum += squares(x);
  return std::sqrt(sum);
}

struct Rates {
  double lr, decay;
};

template <class T>
void sgd(std::span<T> w, std::span<const T> g, const Optimizer& o, const Rates& r) {
  const T lr = static_cast<T>(r.lr), decay = static_cast<T>(r.decay);
  for (size_t i = 0; i < w.size(); ++i) w[i] -= lr * (g[i] + decay * w[i]);
  static_cast<void>(o);
}

template <class T>
void momentum(std::span<T> w, std::span<const T> g, std::span<T> b, const Optimizer& o, const Rates& r) {
  const T lr = static_cast<T>(r.lr), decay = static_cast<T>(r.decay), mu = static_cast<T>(o.momentum);
  const T ahead = o.nesterov ? mu : 1, now = o.nesterov ? 1 : 0;
  for (size_t i = 0; i < w.size(); ++i) {
    const T d = g[i] + decay * w[i];
    b[i] = mu * b[i] + d;
    w[i] -= lr * (now * d + ahead * b[i]);
  }
}

// Moves the moments and leaves the direction m^ / (sqrt(v^) + epsilon) in g.
template <class T>
void adam_direction(std::span<T> g, std::span<T> m, std::span<T> v, const Optimizer& o, const UpdateScalars& s) {
  const T b1 = static_cast<T>(o.beta1), b2 = static_cast<T>(o.beta2);
  const T rest1 = static_cast<T>(1 - o.beta1), rest2 = static_cast<T>(1 - o.beta2);
  const T first = static_cast<T>(1 / s.correction1), second = static_cast<T>(1 / std::sqrt(s.correction2));
  const T epsilon = static_cast<T>(o.epsilon);
  for (size_t i = 0; i < g.size(); ++i) {
    m[i] = b1 * m[i] + rest1 * g[i];
    v[i] = b2 * v[i] + rest2 * g[i] * g[i];
    g[i] = first * m[i] / (second * std::sqrt(v[i]) + epsilon);
  }
}

// w <- (1 - shrink) w - lr u
template <class T>
void move(std::span<T> w, std::span<const T> u, double lr, double shrink) {
  const T rate = static_cast<T>(lr), kept = static_cast<T>(1 - shrink);
  for (size_t i = 0; i < w.size(); ++i) w[i] = kept * w[i] - rate * u[i];
}

template <class T>
void add_scaled(std::span<T> y, std::span<const T> x, double by) {
  const T factor = static_cast<T>(by);
  for (size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

// The trust ratio is 1 where nothing decays and where a norm is 0.
double trust(const Array& w, const Array& u, double decay) {
  const double weight = std::sqrt(squares(w)), step = std::sqrt(squares(u));
  return decay == 0 || weight == 0 || step == 0 ? 1 : weight / step;
}

}  // namespace

UpdateRule::UpdateRule(const Update& update, Weights& weights) : update_(update) {
  const Optimizer& o = update.optimizer;
  const bool plain = o.kind == Kind::sgd;
  for (const ParameterGroup& group : update.groups)
    for (const std::string& name : group.parameters) {
      Trained t = {weights.parameter(name), {}, {}, group.weight_decay, group.lr_scale};
      if (plain && o.momentum != 0) t.first = weights.slot(name, "momentum");
      if (!plain) {
        t.first = weights.slot(name, "exp_avg");
        t.second = weights.slot(name, "exp_avg_sq");
      }
      tensors_.push_back(std::move(t));
    }
}

void UpdateRule::apply(std::span<const Array> gradients, const UpdateScalars& scalars) {
  const Optimizer& o = update_.optimizer;
  std::vector<Array> there;
  for (const Array& gradient : gradients)
    if (gradient) there.push_back(gradient);
  const auto scale_all = [&](double by) {
    for (const Array& gradient : there) scale(gradient, by);
  };
  if (update_.clip_norm) scale_all(std::min(1.0, *update_.clip_norm / (global_norm(there) + 1e-6)));
  if (o.kind == Kind::lamb) scale_all(1 / std::max(1.0, global_norm(there)));
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Trained& t = tensors_[i];
    const Array& gradient = gradients[i];
    const Rates rates = {scalars.lr * t.lr_scale, t.weight_decay};
    by_type(t.weight, [&]<class T>(T) {
      const std::span<T> w = t.weight.as<T>(), g = gradient.as<T>();
      if (o.kind == Kind::sgd) return t.first ? momentum<T>(w, g, t.first.as<T>(), o, rates) : sgd<T>(w, g, o, rates);
      if (o.kind == Kind::adam && rates.decay != 0) add_scaled<T>(g, w, rates.decay);
      adam_direction<T>(g, t.first.as<T>(), t.second.as<T>(), o, scalars);
      if (o.kind != Kind::lamb) return move<T>(w, g, rates.lr, o.kind == Kind::adamw ? rates.lr * rates.decay : 0);
      if (rates.decay != 0) add_scaled<T>(g, w, rates.decay);
      move<T>(w, g, rates.lr * trust(t.weight, gradient, rates.decay), 0);
    });
  }
}

Average::Average(double decay, const std::vector<std::string>& names, Weights& weights) : decay_(decay) {
  for (const std::string& name : names) pairs_.emplace_back(weights.weight(name), weights.average(name));
}

void Average::apply() {
  for (const auto& [weight, average] : pairs_) {
    scale(average, decay_);
    by_type(weight, [&]<class T>(T) { add_scaled<T>(average.as<T>(), weight.as<T>(), 1 - decay_); });
  }
}

void add(const Array& x, const Array& y) {
  by_type(x, [&]<class T>(T) { add_scaled<T>(y.as<T>(), x.as<T>(), 1); });
}

void clear(const Array& x) {
  by_type(x, [&]<class T>(T) { std::ranges::fill(x.as<T>(), T(0)); });
}

}  // namespace tbd::cntk
