#include "measure/peaks/sampling.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tbd {
namespace {

constexpr int64_t kMostRepeats = int64_t{1} << 50;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

}  // namespace

bool wanted(const PeakOptions& options, std::string_view kernel) {
  return options.kernels.empty() ||
         std::find(options.kernels.begin(), options.kernels.end(), kernel) != options.kernels.end();
}

void require_measurable(const PeakOptions& options, std::span<const std::string> kernels) {
  require(options.samples >= 1 && options.sample_seconds > 0, "a peak needs at least one sample of some length");
  const std::vector<std::string> known(kernels.begin(), kernels.end());
  for (const std::string& name : options.kernels)
    require(std::find(known.begin(), known.end(), name) != known.end(), unknown_name("peak kernel", name, known));
}

int64_t repeats_for(const PeakOptions& options, const Batch& batch) {
  const double target_ns = options.sample_seconds * 1e9;
  for (int64_t repeats = 1; repeats < kMostRepeats; repeats *= 2) {
    if (options.cancelled()) throw SamplingCancelled{};
    const double ns = batch(repeats).ns;
    if (ns < 0.25 * target_ns) continue;
    return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(static_cast<double>(repeats) * target_ns / ns)));
  }
  fail(ErrorKind::io, "the clock does not move: ", kMostRepeats, " repeats take no time");
}

PeakRate measure_rate(const PeakOptions& options, int64_t threads, double work, const Batch& batch) {
  const int64_t repeats = repeats_for(options, batch);
  PeakRate rate{.threads = threads, .samples = options.samples};
  std::vector<double> rates;
  for (int64_t i = 0; i < options.samples; ++i) {
    if (options.cancelled()) throw SamplingCancelled{};
    const BatchTime time = batch(repeats);
    rates.push_back(work * static_cast<double>(repeats) * 1e9 / time.ns);
    rate.on_core = std::min(rate.on_core, time.on_core);
  }
  rate.best = *std::max_element(rates.begin(), rates.end());
  rate.median = median(std::move(rates));
  return rate;
}

}  // namespace tbd
