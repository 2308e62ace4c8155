// run.json and launch.json: one list of fields each, walked once to write and once to read.
#include "base/error.h"
#include "base/json.h"
#include "record/axes.h"
#include "record/old_request.h"
#include "record/record.h"

namespace tbd {
namespace {

// Visits the fields of a struct as (key, member); Put writes them, Get reads them.
struct Put {
  Json json = Json::object();
  template <class T>
  void operator()(const char* key, const T& value) {
    json[key] = value;
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) json[key] = *value;
  }
  void operator()(const char* key, const JsonValue& value) { json[key] = *value; }
};
struct Get {
  const Json& json;
  template <class T>
  void operator()(const char* key, T& value) {
    value = at<T>(json, key);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    value = maybe<T>(json, key);
  }
  void operator()(const char* key, JsonValue& value) { *value = at<Json>(json, key); }
};

template <class Visit, class W>
void visit_workload(Visit& field, W& w) {
  for (const Field& each : fields())
    std::visit([&](auto member) { field(std::string(each.key).c_str(), w.*member); }, each.member);
}

template <class Visit, class C>
void visit_card(Visit& field, C& c) {
  field("title", c.title);
  field("domain", c.domain);
  field("dataset", c.dataset);
  field("layers", c.layers);
}

template <class Visit, class C>
void visit_cost(Visit& field, C& c) {
  field("flop_model", c.flop_model);
  field("flop_valid", c.flop_valid);
  field("flop_simd", c.flop_simd);
  field("trans", c.trans);
  field("bytes", c.bytes);
}

template <class Visit, class L>
void visit_launch(Visit& field, L& l) {
  field("pass", l.pass);
  field("number", l.number);
  field("start", l.start);
  field("first_step_began_ns", l.first_step_began_ns);
  field("load_seconds", l.load_seconds);
  field("first_step_seconds", l.first_step_seconds);
  field("peak_rss_bytes", l.peak_rss_bytes);
  field("allocator_peak_bytes", l.allocator_peak_bytes);
  field("threads", l.threads);
  field("cores", l.cores);
  field("batch_seen", l.batch_seen);
  field("parameters_seen", l.parameters_seen);
  field("energy_joules", l.energy_joules);
  field("steady_from_step", l.steady_from_step);
  field("traced", l.traced);
  field("environment_hash", l.environment_hash);
  field("host", l.host);
}

template <class Visit, class R>
void visit_run(Visit& field, R& r) {
  field("created", r.created);
  field("tool", r.tool);
  field("parameters", r.parameters);
  field("train_flops", r.train_flops);
  field("verified", r.verified);
  field("flags", r.flags);
  field("environment", r.environment);
  field("peaks", r.peaks);
}

// Each axis as the command line spells it; those that name nothing are absent.
Json request_json(const Workload& request) {
  Json json = Json::object();
  for (const Axis& axis : axes())
    if (const std::string value = axis.print(request); !value.empty()) json[std::string(axis.name)] = value;
  return json;
}

Workload request_of(const Json& json) {
  Workload request;
  for (const Axis& axis : axes())
    if (const auto value = maybe<std::string>(json, axis.name)) axis.read(request, *value, cat("'", axis.name, "'"));
  return request;
}

Json outcome_json(const Outcome& o) { return {{"kind", name(o.kind)}, {"reason", o.reason}, {"repro", o.repro}}; }

Outcome outcome_of(const Json& json) {
  return {.kind = outcome_from(at<std::string>(json, "kind")),
          .reason = maybe<std::string>(json, "reason").value_or(""),
          .repro = maybe<std::string>(json, "repro").value_or("")};
}

Json cost_json(const OpCost& cost) {
  Put put;
  visit_cost(put, cost);
  return put.json;
}

Json op_json(const OpRow& row) {
  return {
      {"node", row.node}, {"op", row.op}, {"forward", cost_json(row.forward)}, {"backward", cost_json(row.backward)}};
}

OpCost cost_of(const Json& json) {
  OpCost cost;
  Get get{json};
  visit_cost(get, cost);
  return cost;
}

OpRow op_of(const Json& json) {
  return {.node = at<std::string>(json, "node"),
          .op = at<std::string>(json, "op"),
          .forward = cost_of(at<Json>(json, "forward")),
          .backward = cost_of(at<Json>(json, "backward"))};
}

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
  for (const OpCost& c : {row.forward, row.backward})
    for (const int64_t value : {c.flop_model, c.flop_valid, c.flop_simd, c.trans, c.bytes})
      require(value >= 0 && value <= kLargest, "op '", row.node, "' claims ", value, " FLOPs or bytes");
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

Json to_json(const RunInfo& run) {
  Put put;
  put("version", kRecordVersion);
  put("state", name(run.state));
  put("request", request_json(run.request));
  Put workload;
  visit_workload(workload, run.workload);
  put("workload", workload.json);
  Put card;
  visit_card(card, run.card);
  put("card", card.json);
  put("outcome", outcome_json(run.outcome));
  visit_run(put, run);
  Json ops = Json::array();
  for (const OpRow& row : run.ops) ops.push_back(op_json(row));
  put("ops", ops);
  return put.json;
}

RunInfo run_from_json(const Json& json) {
  require(json.is_object(), "expected an object");
  check_version(json);
  RunInfo run;
  run.state = run_state_from(at<std::string>(json, "state"));
  const Json workload = at<Json>(json, "workload");
  Get get_workload{workload};
  visit_workload(get_workload, run.workload);
  const std::optional<Json> request = maybe<Json>(json, "request");
  run.request = request ? request_of(*request) : request_of_old_record(run.workload);
  run.workload.data = run.request.data;
  if (const std::optional<Json> card = maybe<Json>(json, "card")) {
    Get get_card{*card};
    visit_card(get_card, run.card);
  }
  run.outcome = outcome_of(at<Json>(json, "outcome"));
  Get get{json};
  visit_run(get, run);
  for (const Json& row : at<Json>(json, "ops")) {
    run.ops.push_back(op_of(row));
    check_costs(run.ops.back());
  }
  check_numbers(run);
  return run;
}

Json to_json(const LaunchInfo& launch) {
  Put put;
  visit_launch(put, launch);
  put("outcome", outcome_json(launch.outcome));
  return put.json;
}

LaunchInfo launch_from_json(const Json& json) {
  LaunchInfo launch;
  Get get{json};
  visit_launch(get, launch);
  launch.outcome = outcome_of(at<Json>(json, "outcome"));
  check_numbers(launch);
  return launch;
}

}  // namespace tbd
