#include "graph/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tbd {
namespace {

using Kind = Schedule::Kind;

// Their warm-up is a fraction of the total.
bool by_fraction(Kind kind) { return kind == Kind::poly || kind == Kind::linear_decay; }

// The schedule with milestones, warm-up and total in steps or epochs.
Schedule in_steps(Schedule s, int64_t batch) {
  if (s.unit != Schedule::Unit::sample) return s;
  const auto steps = [&](double samples) { return std::ceil(samples / static_cast<double>(batch)); };
  for (double& milestone : s.milestones) milestone = steps(milestone);
  s.total = steps(s.total);
  if (!by_fraction(s.kind)) s.warmup = steps(s.warmup);
  s.epoch_samples = static_cast<int64_t>(steps(static_cast<double>(s.epoch_samples))) * batch;  // the last batch too
  s.unit = Schedule::Unit::step;
  return s;
}

double steps_per_unit(const Schedule& s, int64_t batch) {
  if (s.unit == Schedule::Unit::step && s.kind != Kind::exp_decay) return 1;
  require(s.epoch_samples > 0, "a schedule by epochs needs epoch_samples");
  return static_cast<double>(std::max<int64_t>(1, s.epoch_samples / batch));
}

void check(const Schedule& s, int64_t step, int64_t batch) {
  require(step >= 1, "steps count from 1, got ", step);
  require(batch >= 1, "batch ", batch, " is not positive");
  require(std::isfinite(s.base), "base is not finite");
  require(s.batch_reference >= 0, "batch_reference is negative");
  require(s.warmup >= 0, "warmup is negative");
  require(!by_fraction(s.kind) || s.warmup < 1, "warmup of this schedule is a fraction of total, below 1");
  const bool ends = by_fraction(s.kind) || s.kind == Kind::cosine || s.kind == Kind::exp_warmup_step;
  require(!ends || s.total > 0, "this schedule needs a total");
  require(s.kind != Kind::cosine || s.total > s.warmup, "total must lie beyond warmup");
  require(s.kind != Kind::noam || (s.width > 0 && s.warmup > 0), "noam needs a width and a warmup");
  require(s.kind != Kind::exp_warmup_step || (s.warmup > 0 && s.decay_from >= 0 && s.decay_from < 1 && s.decays > 0),
          "exp_warmup_step needs warmup, decay_from below 1, and decays");
}

// Milestones that lie behind: after `m` whole units at the old rate the new one holds.
double stepped(const Schedule& s, double units_done) {
  double factor = 1;
  for (const double milestone : s.milestones)
    if (units_done >= milestone) factor *= s.factor;
  return factor;
}

double poly(const Schedule& s, double step, double unit, bool linear) {
  const double p = std::min(1.0, step / (s.total * unit));
  if (p < s.warmup) return p / s.warmup;
  return linear ? (1 - p) / (1 - s.warmup) : std::pow(1 - p, s.degree);
}

double exp_warmup_step(const Schedule& s, double step) {
  if (step <= s.warmup) return std::pow(0.01, (s.warmup - step) / s.warmup);
  const double start = s.decay_from * s.total;
  if (step < start) return 1;
  const double every = (s.total - start) / static_cast<double>(s.decays);
  return std::pow(s.factor, std::min(1 + std::floor((step - start) / every), static_cast<double>(s.decays)));
}

// The rate over base, warm-up of the wrapped kinds apart.
double shape(const Schedule& s, int64_t step, double unit) {
  const auto x = static_cast<double>(step);
  const double epoch = std::floor((x - 1) / unit);
  switch (s.kind) {
    case Kind::constant:
      return 1;
    case Kind::step:
      return stepped(s, epoch);
    case Kind::cosine: {
      const double begin = s.warmup * unit, end = s.total * unit;
      return 0.5 * (1 + std::cos(std::numbers::pi * (std::min(x, end) - begin) / (end - begin)));
    }
    case Kind::noam:
      return std::pow(s.width, -0.5) * std::min(std::pow(x, -0.5), x * std::pow(s.warmup * unit, -1.5));
    case Kind::poly:
      return poly(s, x, unit, false);
    case Kind::linear_decay:
      return poly(s, x, unit, true);
    case Kind::exp_warmup_step:
      return exp_warmup_step(s, x);
    case Kind::exp_decay:
      return std::pow(s.factor, epoch);
  }
  return 1;
}

bool wraps_warmup(Kind kind) {
  return kind == Kind::constant || kind == Kind::step || kind == Kind::cosine || kind == Kind::exp_decay;
}

}  // namespace

double learning_rate(const Schedule& schedule, int64_t step, int64_t batch) {
  check(schedule, step, batch);
  const Schedule s = in_steps(schedule, batch);
  const double unit = steps_per_unit(s, batch);
  const double scale =
      s.batch_reference == 0
          ? 1
          : std::pow(static_cast<double>(batch) / static_cast<double>(s.batch_reference), s.batch_power);
  const double warmup = s.warmup * unit;
  const auto x = static_cast<double>(step);
  if (wraps_warmup(s.kind) && x < warmup) return scale * (s.warmup_from + (s.base - s.warmup_from) * x / warmup);
  return scale * s.base * shape(s, step, unit);
}

UpdateScalars update_scalars(const Update& update, int64_t step, int64_t applied_updates, int64_t batch,
                             std::optional<double> lr_override) {
  const Optimizer& o = update.optimizer;
  UpdateScalars out = {.lr = lr_override ? *lr_override : learning_rate(update.schedule, step, batch),
                       .first = applied_updates == 0};
  const bool corrected = o.kind == Optimizer::Kind::adam || o.kind == Optimizer::Kind::lamb ||
                         (o.kind == Optimizer::Kind::adamw && o.bias_correction);
  if (!corrected) return out;
  const auto t = static_cast<double>(applied_updates + 1);
  out.correction1 = 1 - std::pow(o.beta1, t);
  out.correction2 = 1 - std::pow(o.beta2, t);
  return out;
}

void LossScale::update(bool found_non_finite) {
  if (found_non_finite) {
    scale_ /= 2;
    clean_ = 0;
  } else if (++clean_ == 2000) {
    scale_ *= 2;
    clean_ = 0;
  }
}

}  // namespace tbd
