#include "runner/largest_batch.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "graph/memory.h"
#include "measure/clock.h"

// A search keeps the largest batch seen to fit and the smallest above it seen not to, and draws them together.
namespace tbd {
namespace {

// A launch of many steps needs a little more than two steps of a probe: 2 % of the budget.
constexpr int64_t kSpare = 50;
constexpr int64_t kProbeSteps = 12;  // of a probe
constexpr double kShortSeconds = 2;  // after its first step, but in the last probe

// A batch that ran.
struct Point {
  int64_t batch = 0;
  double bytes = 0;
};

// Bytes of the process as a line of the batch.
struct Line {
  Point from;
  double slope = 0;
  int64_t bytes(int64_t batch) const {
    return std::llround(from.bytes + slope * static_cast<double>(batch - from.batch));
  }
  double batch(int64_t bytes) const {
    return static_cast<double>(from.batch) + (static_cast<double>(bytes) - from.bytes) / std::max(1.0, slope);
  }
};

class Search {
 public:
  Search(const BatchSearch& search, const PredictBytes& predict, const TryBatch& try_batch,
         const std::function<double()>& elapsed, const TryBatch& confirm)
      : search_(search),
        predict_(predict),
        try_(try_batch),
        confirm_(confirm),
        elapsed_(elapsed),
        fails_(search.most + 1) {}

  LargestBatch run() {
    const int64_t first = std::min<int64_t>(2, search_.most);
    if (attempt(first) && fits_ == 0 && first > search_.least) attempt(search_.least);
    if (fits_ == first) calibrate();
    if (!near()) bracket();
    while (!near() && attempt(fits_ + (fails_ - fits_) / 2)) {
    }
    if (confirm_) confirm();
    return result();
  }

 private:
  // Down from what was found until a longer probe fits.
  void confirm() {
    for (double step = search_.tolerance; fits_ > 0 && !found_.fault; step *= 2) {
      if (over()) return;
      const BatchProbe probe = tried(fits_, confirm_);
      if (probe.fits || probe.fault) return;
      fails_ = fits_;
      observed_.reset();
      const double less = (1 - step) * static_cast<double>(fits_);
      fits_ = fits_ == search_.least ? 0 : std::clamp<int64_t>(std::llround(less), search_.least, fits_ - 1);
    }
  }

  // The batch that fills the budget if each sample takes what is predicted of the step alone.
  int64_t rough_guess() const {
    const int64_t one = predict_(fits_), each = std::max<int64_t>(1, predict_(fits_ + 1) - one);
    return fits_ + std::max<int64_t>(0, search_.budget - observed_.value_or(one)) / each;
  }

  // A second probe well below the edge, for the slope.
  void calibrate() {
    constexpr int64_t kShare = 4;
    const int64_t first = fits_;
    for (int64_t above = std::min(rough_guess(), search_.most) / kShare - first; !near() && fits_ == first; above /= 2)
      if (!attempt(first + std::clamp<int64_t>(above, 1, fails_ - first - 1))) return;
  }

  // Through the smallest and the largest batch that ran; absent before there are two.
  std::optional<Line> line() const {
    if (!first_ || !last_ || last_->batch <= first_->batch) return std::nullopt;
    const auto apart = static_cast<double>(last_->batch - first_->batch);
    return Line{.from = *last_, .slope = (last_->bytes - first_->bytes) / apart};
  }

  // The batch that fills the budget: above what fits, below what does not, no further away than a line can be trusted.
  int64_t guess() const {
    constexpr int64_t kFar = 4;
    const std::optional<Line> known = line();
    const double batch = known ? known->batch(search_.budget) : static_cast<double>(rough_guess());
    const auto most = static_cast<double>(std::min(fails_ - 1, kFar * fits_));
    return static_cast<int64_t>(std::clamp(std::floor(batch), static_cast<double>(fits_ + 1), most));
  }

  // From the guess outwards until one fits above which one fails.
  void bracket() {
    const int64_t start = guess();
    int64_t stride = std::max<int64_t>(1, std::llround(search_.tolerance * static_cast<double>(start)));
    if (!attempt(start)) return;
    const bool upwards = fits_ == start;
    for (; !near(); stride *= 2) {
      const int64_t next = upwards ? std::min(std::max(guess(), fits_ + stride), fails_ - 1) : fails_ - stride;
      if (next <= fits_ || next >= fails_ || !attempt(next)) return;
      if (upwards ? fails_ == next : fits_ == next) return;
    }
  }

  bool near() const {
    if (fits_ == 0 || found_.fault || fits_ == search_.most) return true;
    const auto gap = static_cast<double>(fails_ - fits_);
    return fails_ <= search_.most && gap <= std::max(1.0, search_.tolerance * static_cast<double>(fits_));
  }

  bool over() {
    const bool spent = static_cast<int64_t>(found_.tried.size()) >= search_.probes || elapsed_() > search_.seconds;
    return capped_ = capped_ || spent;
  }

  BatchProbe tried(int64_t batch, const TryBatch& by) {
    const std::optional<Line> known = line();
    const BatchProbe probe = by(batch);
    found_.tried.push_back({.batch = batch,
                            .fits = probe.fits,
                            .predicted_bytes = known ? std::optional(known->bytes(batch)) : std::nullopt,
                            .observed_bytes = probe.observed_bytes,
                            .seen = probe.fault ? probe.fault->reason : probe.seen});
    found_.fault = probe.fault;
    if (probe.fits) observed_ = probe.observed_bytes;
    return probe;
  }

  // False when the search is over.
  bool attempt(int64_t batch) {
    if (over()) return false;
    const BatchProbe probe = tried(batch, try_);
    if (probe.fault) return false;
    (probe.fits ? fits_ : fails_) = batch;
    if (probe.fits && probe.observed_bytes) {
      last_ = Point{batch, static_cast<double>(*probe.observed_bytes)};
      if (!first_) first_ = last_;
    }
    return true;
  }

  // What was predicted of a batch before it was first tried.
  std::optional<int64_t> foreseen(int64_t batch) const {
    const auto first = std::ranges::find(found_.tried, batch, &TriedBatch::batch);
    return first == found_.tried.end() ? std::nullopt : first->predicted_bytes;
  }

  LargestBatch result() {
    found_.budget = search_.budget;
    if (found_.fault) return found_;
    found_.batch = fits_;
    if (fails_ <= search_.most) found_.too_large = fails_;
    found_.closed = !capped_;
    if (fits_ == 0) return found_;
    found_.observed_bytes = observed_;
    found_.predicted_bytes = foreseen(fits_);
    if (found_.predicted_bytes && observed_)
      found_.prediction_error = static_cast<double>(*found_.predicted_bytes) / static_cast<double>(*observed_) - 1;
    return found_;
  }

  const BatchSearch& search_;
  const PredictBytes& predict_;
  const TryBatch& try_;
  const TryBatch& confirm_;
  const std::function<double()>& elapsed_;
  int64_t fits_ = 0, fails_;           // the largest seen to fit; the smallest seen not to, above it
  std::optional<int64_t> observed_;    // of the last probe that fitted, which is the one of fits_
  std::optional<Point> first_, last_;  // the smallest and the largest that ran
  bool capped_ = false;
  LargestBatch found_;
};

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

Json tried_json(const TriedBatch& tried) {
  Json json{{"batch", tried.batch}, {"fits", tried.fits}, {"seen", tried.seen}};
  put(json, "predicted_bytes", tried.predicted_bytes);
  put(json, "observed_bytes", tried.observed_bytes);
  return json;
}

TriedBatch tried_batch_from(const Json& json) {
  return {.batch = at<int64_t>(json, "batch"),
          .fits = at<bool>(json, "fits"),
          .predicted_bytes = maybe<int64_t>(json, "predicted_bytes"),
          .observed_bytes = maybe<int64_t>(json, "observed_bytes"),
          .seen = at<std::string>(json, "seen")};
}

}  // namespace

Json to_json(const LargestBatch& found) {
  Json tried = Json::array();
  for (const TriedBatch& each : found.tried) tried.push_back(tried_json(each));
  Json json{{"budget", found.budget}, {"closed", found.closed}, {"tried", std::move(tried)}};
  if (found.fault) {
    json["fault"] = {{"kind", name(found.fault->kind)}, {"reason", found.fault->reason}};
    return json;
  }
  json["batch"] = found.batch;
  put(json, "too_large", found.too_large);
  put(json, "predicted_bytes", found.predicted_bytes);
  put(json, "observed_bytes", found.observed_bytes);
  put(json, "prediction_error", found.prediction_error);
  return json;
}

LargestBatch largest_batch_from(const Json& json) {
  LargestBatch found{.budget = at<int64_t>(json, "budget"),
                     .batch = maybe<int64_t>(json, "batch").value_or(0),
                     .too_large = maybe<int64_t>(json, "too_large"),
                     .predicted_bytes = maybe<int64_t>(json, "predicted_bytes"),
                     .observed_bytes = maybe<int64_t>(json, "observed_bytes"),
                     .prediction_error = maybe<double>(json, "prediction_error"),
                     .closed = at<bool>(json, "closed")};
  for (const Json& each : maybe<Json>(json, "tried").value_or(Json::array()))
    found.tried.push_back(tried_batch_from(each));
  if (const auto fault = maybe<Json>(json, "fault"))
    found.fault = Outcome{.kind = outcome_from(at<std::string>(*fault, "kind")),
                          .reason = at<std::string>(*fault, "reason"),
                          .repro = ""};
  return found;
}

PredictBytes bytes_of_step(const Program& program, std::string_view framework) {
  return [&program, keeper = keeper_of(framework)](int64_t batch) {
    return predict_memory(program, {{"N", batch}}, {}, keeper).peak().value;
  };
}

LargestBatch find_largest_batch(const BatchSearch& search, const PredictBytes& predict, const TryBatch& try_batch,
                                const std::function<double()>& elapsed, const TryBatch& confirm) {
  return Search(search, predict, try_batch, elapsed, confirm).run();
}

LargestBatch find_largest_batch(const Workload& cell, BatchSearch search, const RunnerSettings& settings,
                                const std::function<void(int64_t batch)>& trying) {
  if (!cell.memory_budget_bytes)
    fail(ErrorKind::usage, "the largest batch needs a memory budget: set one with --memory");
  search.budget = *cell.memory_budget_bytes - *cell.memory_budget_bytes / kSpare;
  Workload first = cell;
  first.batch = kLargestThatFits;
  const PreparedCell prepared = prepare(first, Effort::smoke, settings);
  search.least = prepared.cell.batch;
  const double began = now_seconds();
  const auto probe_of = [&](double seconds) {
    return [&, seconds](int64_t batch) {
      if (trying) trying(batch);
      Workload at_batch = cell;
      at_batch.batch = batch;
      return probe_batch(at_batch, {.limit = search.budget, .steps = kProbeSteps, .seconds = seconds}, settings);
    };
  };
  LargestBatch found = find_largest_batch(
      search, bytes_of_step(prepared.program, cell.framework), probe_of(kShortSeconds),
      [&] { return now_seconds() - began; }, probe_of(0));
  found.budget = *cell.memory_budget_bytes;
  return found;
}

}  // namespace tbd
