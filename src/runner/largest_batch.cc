#include "runner/largest_batch.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/json.h"
#include "graph/memory.h"
#include "measure/clock.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

// A launch of many steps needs a little more than two steps of a probe: 2 % of the budget.
constexpr int64_t kSpare = 50;
constexpr int64_t kShort = 2, kLong = 12;  // steps of a probe

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
    if (attempt(1) && fits_ == 1) bracket();
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
      ++found_.probes;
      const BatchProbe probe = confirm_(fits_);
      found_.fault = probe.fault;
      if (probe.fits) return void(found_.observed_bytes = probe.observed_bytes);
      if (probe.fault) return;
      fails_ = fits_;
      const double less = (1 - step) * static_cast<double>(fits_);
      fits_ = fits_ == 1 ? 0 : std::clamp<int64_t>(std::llround(less), 1, fits_ - 1);
    }
  }

  // What the process takes beside the step: at batch 1 observed less predicted.
  int64_t beside() const { return first_observed_ ? std::max<int64_t>(0, *first_observed_ - predict_(1)) : 0; }

  int64_t guess() const {
    const int64_t one = predict_(1), each = std::max<int64_t>(1, predict_(2) - one);
    return std::clamp<int64_t>(1 + (search_.budget - beside() - one) / each, 2, search_.most);
  }

  // From the guess outwards until one fits above which one fails.
  void bracket() {
    if (search_.most < 2) return;
    const int64_t start = guess();
    int64_t stride = std::max<int64_t>(1, std::llround(search_.tolerance * static_cast<double>(start)));
    if (!attempt(start)) return;
    const bool upwards = fits_ == start;
    for (; !near(); stride *= 2) {
      const int64_t next = upwards ? std::min(fits_ + stride, search_.most) : fails_ - stride;
      if (next <= fits_ || next >= fails_ || !attempt(next)) return;
      if (upwards ? fails_ == next : fits_ == next) return;
    }
  }

  bool near() const {
    if (fits_ == 0 || found_.fault || fits_ == search_.most) return true;
    const auto gap = static_cast<double>(fails_ - fits_);
    return fails_ <= search_.most && gap <= std::max(1.0, search_.tolerance * static_cast<double>(fits_));
  }

  bool over() { return capped_ = capped_ || found_.probes >= search_.probes || elapsed_() > search_.seconds; }

  // False when the search is over.
  bool attempt(int64_t batch) {
    if (over()) return false;
    ++found_.probes;
    const BatchProbe probe = try_(batch);
    if (probe.fault) return found_.fault = probe.fault, false;
    if (!probe.fits) return fails_ = batch, true;
    fits_ = batch;
    found_.observed_bytes = probe.observed_bytes;
    if (batch == 1) first_observed_ = probe.observed_bytes;
    return true;
  }

  LargestBatch result() {
    found_.budget = search_.budget, found_.batch = fits_;
    if (fails_ <= search_.most) found_.too_large = fails_;
    found_.closed = !capped_ && !found_.fault;
    if (fits_ == 0 || !found_.observed_bytes) return found_;
    found_.predicted_bytes = beside() + predict_(fits_);
    found_.prediction_error =
        static_cast<double>(*found_.predicted_bytes) / static_cast<double>(*found_.observed_bytes) - 1;
    return found_;
  }

  const BatchSearch& search_;
  const PredictBytes& predict_;
  const TryBatch& try_;
  const TryBatch& confirm_;
  const std::function<double()>& elapsed_;
  int64_t fits_ = 0, fails_;  // the largest seen to fit; the smallest seen not to, above it
  std::optional<int64_t> first_observed_;
  bool capped_ = false;
  LargestBatch found_;
};

BatchProbe probe_batch(const Cell& cell, int64_t steps, const RunnerSettings& settings) {
  const PreparedCell prepared = prepare(cell, Effort::smoke, settings);
  if (!prepared.worker) return {.fault = prepared.refused};
  if (prepared.refused) return {.fits = false};  // predicted far above the budget, or above the whole memory
  try {
    const TemporaryFolder scratch;
    WorkerProcess worker(*prepared.worker, settings, worker_environment(prepared, settings), prepared.threads.cores,
                         scratch.path() / "worker.log");
    worker.limit_memory(cell.memory_budget - cell.memory_budget / kSpare);
    worker.hello();
    worker.ask<protocol::CheckReply>(protocol::Check{prepared.program}, "checking the program",
                                     settings.deadlines.load);
    worker.ask<protocol::LoadReply>(load_request(prepared, false), "loading the program", settings.deadlines.load);
    protocol::Run run{.steps = steps};
    *run.input.source = {{"seed", cell.seed}};
    if (!cell.data.empty()) run.input.source["path"] = cell.data;
    run.input.mode = cell.input_mode;
    run.input.source["threads"] = prepared.threads.cores.size(), run.input.source["prefetch"] = 3;  // as in a launch
    const protocol::RunReply reply = worker.run(run, [](std::span<const StepRow>) { return false; });
    worker.bye();
    if (settings.interrupted())
      return {.fault = Outcome{.kind = OutcomeKind::interrupted,
                               .reason = "interrupted in the search for the largest "
                                         "batch",
                               .repro = ""}};
    return {.fits = true, .observed_bytes = maybe<int64_t>(reply.launch, "peak_rss_bytes")};
  } catch (const WorkerFault& fault) {
    if (fault.outcome().kind == OutcomeKind::oom) return {.fits = false};
    return {.fault = fault.outcome()};
  }
}

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

}  // namespace

Json to_json(const LargestBatch& found) {
  Json json{{"budget", found.budget}, {"batch", found.batch}};
  put(json, "too_large", found.too_large);
  json["probes"] = found.probes;
  put(json, "predicted_bytes", found.predicted_bytes), put(json, "observed_bytes", found.observed_bytes);
  put(json, "prediction_error", found.prediction_error);
  json["closed"] = found.closed;
  return json;
}

LargestBatch largest_batch_from(const Json& json) {
  return {.budget = at<int64_t>(json, "budget"),
          .batch = at<int64_t>(json, "batch"),
          .too_large = maybe<int64_t>(json, "too_large"),
          .probes = at<int64_t>(json, "probes"),
          .predicted_bytes = maybe<int64_t>(json, "predicted_bytes"),
          .observed_bytes = maybe<int64_t>(json, "observed_bytes"),
          .prediction_error = maybe<double>(json, "prediction_error"),
          .closed = at<bool>(json, "closed")};
}

LargestBatch find_largest_batch(const BatchSearch& search, const PredictBytes& predict, const TryBatch& try_batch,
                                const std::function<double()>& elapsed, const TryBatch& confirm) {
  return Search(search, predict, try_batch, elapsed, confirm).run();
}

LargestBatch find_largest_batch(const Cell& cell, BatchSearch search, const RunnerSettings& settings,
                                const std::function<void(int64_t batch)>& trying) {
  if (cell.memory_budget <= 0)
    fail(ErrorKind::usage, "the largest batch is looked for within a memory budget: name one");
  search.budget = cell.memory_budget;
  Cell one = cell;
  one.batch = 1;
  const Program program = prepare(one, Effort::smoke, settings).program;
  const double began = 1e-9 * static_cast<double>(now_ns());
  const auto probe_of = [&](int64_t steps) {
    return [&, steps](int64_t batch) {
      if (trying) trying(batch);
      Cell at_batch = cell;
      at_batch.batch = batch;
      return probe_batch(at_batch, steps, settings);
    };
  };
  return find_largest_batch(
      search,
      [&](int64_t batch) {
        return predict_memory(program, {{"N", batch}}).peak().value;
      },
      probe_of(kShort), [&] { return 1e-9 * static_cast<double>(now_ns()) - began; }, probe_of(kLong));
}

}  // namespace tbd
