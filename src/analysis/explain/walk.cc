#include "analysis/explain/walk.h"

#include "base/error.h"

namespace tbd {
namespace {

void add_judgement(const RunView& run, const Judgement& judgement, std::vector<Fact>& facts) {
  const Outcome& told = run.record->run.outcome;
  if (told.kind != judgement.outcome.kind)
    facts.push_back({"outcome, as recorded", std::string(name(told.kind)), "", "run.json: outcome.kind"});
  facts.push_back({"outcome", std::string(name(judgement.outcome.kind)), "", "the first gate that applies"});
  if (!judgement.outcome.reason.empty()) facts.push_back({"reason", judgement.outcome.reason, "", ""});
  if (judgement.withheld) facts.push_back({"rates and step times withheld", *judgement.withheld, "", ""});
  if (judgement.utilization_withheld)
    facts.push_back({"shares of a peak withheld", *judgement.utilization_withheld, "", ""});
  if (!judgement.grade.empty()) facts.push_back({"grade", judgement.grade, "", "docs/statistics.md"});
  if (!judgement.grade_reason.empty())
    facts.push_back({"the next grade lacks", judgement.grade_reason, "", "docs/statistics.md"});
  facts.push_back({"flags", judgement.flags.empty() ? "none" : join(judgement.flags, ", "), "", ""});
}

// A damaged file is a fact, never the end of an explanation.
template <class Add>
void tried(Add add, std::vector<Fact>& facts) {
  try {
    add();
  } catch (const Error& error) {
    facts.push_back({"cannot be worked out", std::string(error.what()), "", ""});
  }
}

void add_facts(const FoundTopic& found, const RunView& run, const Judgement& judgement, std::vector<Fact>& facts) {
  const std::string_view group = found.group->id;
  if (group == "metrics") return add_metric(found.topic->id, run, facts);
  if (group == "trace") return add_trace(found.topic->id, *run.record, facts);
  if (group == "memory") return add_memory(found.topic->id, *run.record, facts);
  if (group == "sweep") {
    facts.push_back({"batch of this record", run.workload().batch, "samples", "run.json: workload.batch"});
    facts.push_back({"needs", "all records of the sweep: tbd report RESULTS", "", ""});
    return add_metric("throughput", run, facts);
  }
  add_mark(found, run, judgement, facts);
}

}  // namespace

std::vector<Fact> walk(const FoundTopic& found, const Record& record) {
  const RunView run = view(record);
  const Judgement judgement = judge(run);
  std::vector<Fact> facts;
  tried([&] { add_facts(found, run, judgement, facts); }, facts);
  add_judgement(run, judgement, facts);
  return facts;
}

Table fact_table(const std::vector<Fact>& facts) {
  Table table;
  table.columns = {{"what", "what"}, {"value", "value"}, {"unit", "unit"}, {"from", "from"}};
  for (const Fact& fact : facts) {
    const auto* number = std::get_if<double>(&fact.value);
    table.rows.push_back({fact.what, number ? TableCell(exact(*number)) : fact.value, fact.unit, fact.from});
  }
  return table;
}

}  // namespace tbd
