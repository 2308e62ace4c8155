// run.json and launch.json: one list of fields each, walked once to write and once to read.
#include "base/codec.h"
#include "record/axes.h"
#include "record/old_request.h"
#include "record/record.h"

namespace tbd {

using codec::Is;
using codec::Later;
constexpr codec::JsonForm kForm = codec::JsonForm::message;

Json to_json_value(OutcomeKind kind) { return name(kind); }
void from_json_value(const Json& json, OutcomeKind& kind) {
  codec::expect(json.is_string(), "a name", json);
  kind = outcome_from(json.get<std::string>());
}
Json to_json_value(RunState state) { return name(state); }
void from_json_value(const Json& json, RunState& state) {
  codec::expect(json.is_string(), "a name", json);
  state = run_state_from(json.get<std::string>());
}

// A request: each axis as the command line spells it; those that name nothing are absent.
template <Is<Workload> T>
Json to_json_value(T& request) {
  Json json = Json::object();
  for (const Axis& axis : axes())
    if (const std::string value = axis.print(request); !value.empty()) json[std::string(axis.name)] = value;
  return json;
}
template <Is<Workload> T>
void from_json_value(const Json& json, T& request) {
  codec::expect(json.is_object(), "an object", json);
  for (const Axis& axis : axes())
    if (const auto value = maybe<std::string>(json, axis.name)) axis.read(request, *value, cat("'", axis.name, "'"));
}

template <Is<MeasuredWorkload> T>
void fields(T& workload, auto visit) {
  const auto visit_one = [&](const Field& each, auto member) {
    const std::string key(each.key);
    if (!each.later) return visit(key.c_str(), workload.*member);
    if constexpr (std::is_const_v<T>)
      if (workload.*member == MeasuredWorkload{}.*member) return;
    visit(key.c_str(), Later{workload.*member});
  };
  for (const Field& each : fields()) std::visit([&](auto member) { visit_one(each, member); }, each.member);
  if constexpr (!std::is_const_v<T>)  // so it was called while there was no other
    if (workload.allocator == Allocator("framework")) workload.allocator = Allocator::kStock;
}
template <Is<ModelCard> T>
void fields(T& card, auto visit) {
  visit("title", card.title);
  visit("domain", card.domain);
  visit("dataset", card.dataset);
  visit("layers", card.layers);
}
template <Is<Outcome> T>
void fields(T& outcome, auto visit) {
  visit("kind", outcome.kind);
  visit("reason", Later{outcome.reason});
  visit("repro", Later{outcome.repro});
}
template <Is<OpCost> T>
void fields(T& cost, auto visit) {
  visit("flop_model", cost.flop_model);
  visit("flop_valid", cost.flop_valid);
  visit("flop_simd", cost.flop_simd);
  visit("trans", cost.trans);
  visit("bytes", cost.bytes);
}
template <Is<RowCost> T>
void fields(T& row, auto visit) {
  visit("most", row.most);
  visit("forward", row.forward);
  visit("backward", row.backward);
}
template <Is<OpRow> T>
void fields(T& row, auto visit) {
  visit("node", row.node);
  visit("op", row.op);
  visit("forward", row.forward);
  visit("backward", row.backward);
  visit("row", row.row);
}
template <Is<RunInfo> T>
void fields(T& run, auto visit) {
  visit("state", run.state);
  visit("request", Later{run.request});
  visit("workload", run.workload);
  visit("card", Later{run.card});
  visit("outcome", run.outcome);
  visit("created", run.created);
  visit("tool", run.tool);
  visit("parameters", run.parameters);
  visit("train_flops", run.train_flops);
  visit("verified", run.verified);
  visit("flags", run.flags);
  visit("environment", run.environment);
  visit("peaks", run.peaks);
  visit("ops", run.ops);
}
template <Is<LaunchInfo> T>
void fields(T& launch, auto visit) {
  visit("pass", launch.pass);
  visit("number", launch.number);
  visit("start", launch.start);
  visit("first_step_began_ns", launch.first_step_began_ns);
  visit("load_seconds", launch.load_seconds);
  visit("first_step_seconds", launch.first_step_seconds);
  visit("peak_rss_bytes", launch.peak_rss_bytes);
  visit("allocator_peak_bytes", launch.allocator_peak_bytes);
  visit("threads", launch.threads);
  visit("cores", launch.cores);
  visit("batch_seen", launch.batch_seen);
  visit("parameters_seen", launch.parameters_seen);
  visit("energy_joules", launch.energy_joules);
  visit("steady_from_step", launch.steady_from_step);
  visit("traced", launch.traced);
  visit("environment_hash", launch.environment_hash);
  visit("host", launch.host);
  visit("gpu", launch.gpu);
  visit("outcome", launch.outcome);
}

namespace {

void check_version(const Json& json) {
  const int version = at<int>(json, "version");
  if (version > kRecordVersion)
    fail(ErrorKind::invalid, "the record has version ", version, ", this tbd reads up to ", kRecordVersion,
         ": use a newer tbd");
  require(version >= 1, "the record claims version ", version, ", the first is 1");
}

// A sum over nodes of hostile numbers must not overflow.
void check_costs(const OpRow& row) {
  constexpr int64_t kLargest = int64_t{1} << 52;
  const RowCost each = row.row.value_or(RowCost{});
  for (const OpCost& c : {row.forward, row.backward, each.forward, each.backward})
    for (const int64_t value : {c.flop_model, c.flop_valid, c.flop_simd, c.trans, c.bytes})
      require(value >= 0 && value <= kLargest, "op '", row.node, "' claims ", value, " FLOPs or bytes");
  require(each.most >= 0 && each.most <= kLargest, "op '", row.node, "' claims ", each.most, " rows");
}

// No count, size or duration is negative. `what` names a number's key.
template <class T>
void check_not_negative(const char* what, const std::optional<T>& value) {
  if (value) require(*value >= T{}, "'", what, "' is ", *value, ": it cannot be negative");
}

void check_workload(const MeasuredWorkload& w) {
  check_not_negative<int64_t>("batch", w.batch);
  check_not_negative<int64_t>("samples_per_step", w.samples_per_step);
  check_not_negative<int64_t>("threads", w.threads);
  require(w.workers >= 1, "'workers' is ", w.workers, ": there is one or more");
  check_not_negative("memory_budget_bytes", w.memory_budget_bytes);
}

void check_rates(const Json& peaks) {
  for (const char* roof : {"isa", "gemm"}) {
    const Json rates = maybe<Json>(peaks, roof).value_or(Json::object());
    for (const auto& [type, rate] : rates.items())
      require(rate.is_number() && rate.get<double>() >= 0, "'peaks.", roof, ".", type, "' is ",
              rate.dump().substr(0, 60), ": a rate is a number and not negative");
  }
  check_not_negative("peaks.bandwidth", maybe<double>(peaks, "bandwidth"));
}

void check_numbers(const RunInfo& run) {
  check_workload(run.workload);
  check_not_negative("parameters", run.parameters);
  check_not_negative("train_flops", run.train_flops);
  check_not_negative<int64_t>("layers", run.card.layers);
  check_rates(run.peaks);
}

void check_numbers(const LaunchInfo& launch) {
  check_not_negative("first_step_began_ns", launch.first_step_began_ns);
  check_not_negative("load_seconds", launch.load_seconds);
  check_not_negative("first_step_seconds", launch.first_step_seconds);
  check_not_negative("peak_rss_bytes", launch.peak_rss_bytes);
  check_not_negative("allocator_peak_bytes", launch.allocator_peak_bytes);
  check_not_negative("threads", launch.threads);
  check_not_negative("cores", launch.cores);
  check_not_negative("batch_seen", launch.batch_seen);
  check_not_negative("parameters_seen", launch.parameters_seen);
  check_not_negative("energy_joules", launch.energy_joules);
}

}  // namespace

Json to_json(const MeasuredWorkload& workload) { return codec::write_fields<kForm>(workload); }

MeasuredWorkload workload_from_json(const Json& json) {
  MeasuredWorkload workload;
  codec::read_fields<kForm>(json, workload);
  check_workload(workload);
  return workload;
}

Json to_json(const RunInfo& run) {
  Json json = {{"version", kRecordVersion}};
  json.update(codec::write_fields<kForm>(run));
  return json;
}

RunInfo run_from_json(const Json& json) {
  require(json.is_object(), "expected an object");
  check_version(json);
  RunInfo run;
  codec::read_fields<kForm>(json, run);
  if (!json.contains("request")) run.request = request_of_old_record(run.workload);
  run.workload.data = run.request.data;
  for (const OpRow& row : run.ops) check_costs(row);
  check_numbers(run);
  return run;
}

Json to_json(const LaunchInfo& launch) { return codec::write_fields<kForm>(launch); }

LaunchInfo launch_from_json(const Json& json) {
  LaunchInfo launch;
  codec::read_fields<kForm>(json, launch);
  check_numbers(launch);
  return launch;
}

bool is_disturbed(const LaunchInfo& launch) { return maybe<bool>(launch.host, "repeat").value_or(false); }

}  // namespace tbd
