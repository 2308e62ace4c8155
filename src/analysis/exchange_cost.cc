// A law becomes a curve of two points, so that all that follows knows curves alone.
#include "analysis/exchange_cost.h"

#include <algorithm>
#include <cmath>

#include "analysis/link_model.h"
#include "base/error.h"
#include "base/link_limits.h"
#include "base/philox.h"
#include "base/text.h"
#include "stats/series.h"

namespace tbd {
namespace {

constexpr uint32_t kCostResamples = 400;
constexpr size_t kLeastCurveSizes = 2;
constexpr double kLawEnd = 1e9;  // bytes; a line may be told by any two of its points

struct Curves {
  SizeCurve value, low, high;
  bool is_law = false;
};

void add_size(Curves& curves, const LinkTimes& size) {
  const auto bytes = static_cast<double>(size.bytes);
  const auto fast = [&](const LinkTimes& times) { return figures_of(times, {}).fast; };
  const Philox random(0, "exchange", static_cast<uint32_t>(size.bytes));
  std::vector<double> drawn;
  LinkTimes again = size;
  uint64_t index = 0;
  for (uint32_t i = 0; i < kCostResamples; ++i) {
    for (int64_t& ns : again.times_ns)
      ns = size.times_ns[static_cast<size_t>(random.uniform(index++) * static_cast<double>(size.times_ns.size()))];
    drawn.push_back(fast(again));
  }
  curves.value.points.push_back({bytes, fast(size)});
  curves.low.points.push_back({bytes, quantile(drawn, 0.025)});
  curves.high.points.push_back({bytes, quantile(drawn, 0.975)});
}

SizeCurve line_of(double at_nothing, double slope) {
  return {{{0, at_nothing}, {kLawEnd, at_nothing + slope * kLawEnd}}};
}

Curves curves_of(const LinkSweep& sweep, DType dtype) {
  LinkSweep of_type = sweep;
  std::erase_if(of_type.sizes, [&](const LinkTimes& size) { return size.dtype != dtype; });
  std::ranges::sort(of_type.sizes, {}, &LinkTimes::bytes);
  Curves out;
  if (const LinkFit fit = fit_link(std::span(&of_type, 1)); fit.model) {
    const LinkEstimate &alpha = fit.model->alpha, &gamma = fit.model->gamma.at(dtype);
    const double steps = algorithm_of(sweep.engine, sweep.workers).steps;
    out.is_law = true;
    out.value = line_of(steps * alpha.value, gamma.value);
    out.low = line_of(steps * alpha.interval.low, gamma.interval.low);
    out.high = line_of(steps * alpha.interval.high, gamma.interval.high);
    return out;
  }
  for (const LinkTimes& size : of_type.sizes) add_size(out, size);
  return out;
}

// In seconds of all processors of a worker; what a sum takes whatever its size is in each point.
std::optional<SizeCurve> busy_curve(const LinkSweep& sweep, DType dtype) {
  SizeCurve out;
  for (const LinkTimes& size : sweep.sizes) {
    if (size.dtype != dtype) continue;
    if (!size.busy_ns) return std::nullopt;
    out.points.push_back({static_cast<double>(size.bytes),
                          1e-9 * static_cast<double>(*size.busy_ns) / static_cast<double>(sweep.threads)});
  }
  std::ranges::sort(out.points, {}, &SizeCurve::Point::bytes);
  return out;
}

// The sweep of this link and type whose number of workers is nearest.
const NamedSweep* nearest_sweep(std::span<const NamedSweep> sweeps, const Link& link, const WantedExchange& wanted) {
  const NamedSweep* found = nullptr;
  const auto distance = [&](const NamedSweep& each) { return std::abs(each.sweep.workers - wanted.workers); };
  for (const NamedSweep& each : sweeps) {
    const bool has_type =
        std::ranges::find(each.sweep.sizes, wanted.dtype, &LinkTimes::dtype) != each.sweep.sizes.end();
    if (each.sweep.link != link.text() || !has_type) continue;
    if (!found || distance(each) < distance(*found)) found = &each;
  }
  return found;
}

void set_scale(ExchangeCost& cost, const LinkSweep& sweep, int64_t workers) {
  const Algorithm measured = algorithm_of(sweep.engine, sweep.workers), asked = algorithm_of(sweep.engine, workers);
  cost.parts = asked.steps / measured.steps;
  cost.share = asked.wire / asked.steps / (measured.wire / measured.steps);
}

}  // namespace

double SizeCurve::at(double bytes) const {
  if (points.size() == 1 || bytes <= points.front().bytes) return points.front().seconds;
  auto after = std::ranges::lower_bound(points, bytes, {}, &Point::bytes);
  if (after == points.end()) --after;
  const Point &from = *std::prev(after), &to = *after;
  return from.seconds + (bytes - from.bytes) / (to.bytes - from.bytes) * (to.seconds - from.seconds);
}

double ExchangeCost::seconds(int64_t bytes, Bound bound) const {
  const SizeCurve& curve = bound == Bound::low ? low : bound == Bound::high ? high : value;
  const double swept = parts * std::max(0.0, curve.at(share * static_cast<double>(bytes)));
  if (!byte_seconds) return swept;
  const double processing = std::max(0.0, swept - parts * curve.at(0));
  return latency + std::max(processing, *byte_seconds * static_cast<double>(bytes));
}

BucketSum ExchangeCost::sum(int64_t bytes, Bound bound) const {
  BucketSum out{.time = seconds(bytes, bound)};
  const auto size = static_cast<double>(bytes);
  if (busy) out.busy = std::clamp(parts * (busy->at(share * size) - busy->at(0)), 0.0, out.time);
  if (!one_way_byte_seconds) return out;
  const double alone = loopback ? parts * loopback->at(share * size) : 0;
  out.holds = std::clamp(std::max(alone, *one_way_byte_seconds * size), out.busy, out.time);
  return out;
}

FoundCost exchange_cost(std::span<const NamedSweep> sweeps, const WantedExchange& wanted) {
  const NamedSweep *own = nearest_sweep(sweeps, wanted.link, wanted), *loop = nearest_sweep(sweeps, Link(), wanted);
  const NamedSweep* taken = own ? own : loop;
  if (!taken)
    return {.cost = {},
            .missing = cat("no sweep has ", exchanged_name(wanted.dtype), " over ",
                           wanted.link.empty() ? std::string(kLoopback) : wanted.link.text(), " or the loopback")};
  const Curves curves = curves_of(taken->sweep, wanted.dtype);
  if (curves.value.points.size() < kLeastCurveSizes)
    return {.cost = {},
            .missing = cat(taken->name, " has one size of ", exchanged_name(wanted.dtype), ", and a line needs ",
                           kLeastCurveSizes)};
  ExchangeCost cost{.basis = cat(curves.is_law ? "law" : "by size", ", ", taken->name),
                    .value = curves.value,
                    .low = curves.low,
                    .high = curves.high};
  set_scale(cost, taken->sweep, wanted.workers);
  const Algorithm algorithm = algorithm_of(taken->sweep.engine, wanted.workers);
  cost.busy = busy_curve(taken->sweep, wanted.dtype);
  if (loop && loop->sweep.workers == taken->sweep.workers) cost.loopback = curves_of(loop->sweep, wanted.dtype).value;
  const LinkLimits limits = limits_of(wanted.link);
  const double rate = kPayload * limits.bits_per_second / 8;
  const bool is_swept = own && !wanted.alpha;
  if (!cost.busy) cost.basis += ", without processor time";
  if (is_swept && algorithm.goes_both_ways && rate > 0) cost.one_way_byte_seconds = algorithm.wire / rate;
  if (is_swept) return {.cost = cost, .missing = {}};
  cost.byte_seconds = own || rate <= 0 ? 0 : algorithm.wire / rate;
  cost.latency = algorithm.steps * (wanted.alpha ? *wanted.alpha : limits.delay_s);
  if (!wanted.alpha) cost.latency += cost.parts * cost.value.at(0);
  if (!own) cost.basis += cat(" + ", wanted.link);
  if (wanted.alpha) cost.basis += cat(", alpha ", format_seconds(*wanted.alpha));
  return {.cost = cost, .missing = {}};
}

}  // namespace tbd
