// The workers load a small network, whose place in a world makes them meet; it is not trained.
#include "runner/link_sweep.h"

#include <algorithm>
#include <limits>

#include "base/files.h"
#include "measure/clock.h"
#include "models/model.h"
#include "runner/equivalence/check.h"
#include "runner/team.h"

namespace tbd {
namespace {

void require_whole(const LinkRequest& request) {
  if (request.workers < 2) fail(ErrorKind::usage, "an exchange needs 2 workers, got --workers ", request.workers);
  for (const DType dtype : request.dtypes)
    for (const int64_t bytes : request.sizes)
      if (bytes < size_of(dtype) || bytes % size_of(dtype) != 0)
        fail(ErrorKind::usage, bytes, " bytes are no whole number of elements of ", exchanged_name(dtype),
             ", which have ", size_of(dtype), " bytes each");
}

size_t node_count(const TinyConfig& tiny) {
  size_t count = 0;
  for (const Phase& phase : load_program(tiny.model, tiny.config).program.phases) count += phase.nodes.size();
  return count;
}

PreparedCell prepared_cell(const LinkRequest& request, const RunnerSettings& settings) {
  const std::vector<TinyConfig> all = tiny_configs();
  const TinyConfig& smallest = *std::ranges::min_element(all, {}, node_count);
  const Workload cell = {.model = smallest.model,
                         .config = smallest.config,
                         .framework = request.framework,
                         .batch = 2,
                         .workers = request.workers,
                         .link = request.link};
  PreparedCell prepared = prepare(cell, Effort::smoke, settings);
  if (prepared.refused) throw WorkerFault(*prepared.refused);
  return prepared;
}

// From the last rank's begin, before which no rank can have the sum, to the last rank's end, for which a step waits.
int64_t time_by_one_clock(const std::vector<protocol::LinkReply>& ranks, size_t repetition) {
  int64_t began = 0, ended = 0;
  for (const protocol::LinkReply& rank : ranks) {
    began = std::max(began, rank.began_ns[repetition]);
    ended = std::max(ended, rank.ended_ns[repetition]);
  }
  return ended - began;
}

// Of the rank that began last, which waits for no other: the least.
int64_t time_by_own_clocks(const std::vector<protocol::LinkReply>& ranks, size_t repetition) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const protocol::LinkReply& rank : ranks)
    least = std::min(least, rank.ended_ns[repetition] - rank.began_ns[repetition]);
  return least;
}

std::vector<int64_t> times_of(const std::vector<protocol::LinkReply>& ranks, bool one_clock) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < ranks.front().began_ns.size(); ++i)
    out.push_back(std::max<int64_t>(1, one_clock ? time_by_one_clock(ranks, i) : time_by_own_clocks(ranks, i)));
  return out;
}

// Of one repetition on one rank: the mean.
std::optional<int64_t> busy_of(const std::vector<protocol::LinkReply>& ranks) {
  int64_t sum = 0;
  for (const protocol::LinkReply& rank : ranks) {
    if (!rank.busy_ns) return std::nullopt;
    sum += *rank.busy_ns;
  }
  return sum / (std::ssize(ranks) * std::ssize(ranks.front().began_ns));
}

void require_as_many(const std::vector<protocol::LinkReply>& ranks) {
  const size_t count = ranks.front().began_ns.size();
  for (const protocol::LinkReply& rank : ranks)
    if (count == 0 || rank.began_ns.size() != count || rank.ended_ns.size() != count)
      throw WorkerFault(
          {.kind = OutcomeKind::failed,
           .reason = cat("the ranks timed different numbers of exchanges: ", count, " and ", rank.ended_ns.size()),
           .repro = ""});
}

}  // namespace

std::vector<int64_t> usual_exchange_sizes() {
  std::vector<int64_t> out;
  for (int64_t bytes = kSmallestExchange; bytes <= kLargestExchange; bytes *= 4) out.push_back(bytes);
  return out;
}

void measure_link(const LinkRequest& request, const RunnerSettings& settings, LinkSweep& sweep,
                  const std::function<void(const std::string&)>& doing) {
  require_whole(request);
  const PreparedCell prepared = prepared_cell(request, settings);
  sweep = {.created = wall_label(),
           .tool = settings.tool,
           .framework = prepared.worker->framework,
           .framework_version = prepared.worker->version,
           .workers = request.workers,
           .link = request.link.text(),
           .threads = prepared.threads.threads};
  const TemporaryFolder scratch("tbd-link");
  doing(cat("starting ", request.workers, " workers of ", request.framework));
  Team team(prepared, settings, {.world = request.workers, .folder = scratch.path(), .cores = prepared.rank_cores});
  sweep.engine = team.hello().exchanges->front();
  team.load(load_request(prepared, false));
  const bool one_clock = run_on_one_machine(settings, request.workers);
  for (const DType dtype : request.dtypes)
    for (const int64_t bytes : request.sizes) {
      const std::string what = cat(format_bytes(bytes), " of ", exchanged_name(dtype));
      doing(what);
      const auto replies =
          team.ask<protocol::LinkReply>(protocol::Link{dtype, bytes, request.repetitions, request.seconds},
                                        cat("exchanging ", what), request.seconds + settings.deadlines.step);
      require_as_many(replies);
      sweep.sizes.push_back({dtype, bytes, times_of(replies, one_clock), busy_of(replies)});
    }
  team.bye();
}

}  // namespace tbd
