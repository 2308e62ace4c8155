#include "runner/equivalence/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/json.h"

namespace tbd {
namespace {

std::string place(const WorstElement& worst) {
  std::vector<std::string> index;
  for (const int64_t i : worst.index) index.push_back(std::to_string(i));
  const std::string at = index.empty() ? "" : cat(" at (", join(index, ", "), ")");
  std::ostringstream out;
  out.precision(9);
  out << at << " " << worst.got << " in place of " << worst.expected;
  return out.str();
}

std::string scientific(double value) {
  std::ostringstream out;
  out.precision(3);
  out << value;
  return out.str();
}

}  // namespace

double Finding::ratio() const {
  if (!missing.empty() || std::isnan(error)) return std::numeric_limits<double>::infinity();
  if (error == 0) return 0;
  return bound == 0 ? std::numeric_limits<double>::infinity() : error / bound;
}

std::string_view name(Gate gate) {
  switch (gate) {
    case Gate::node:
      return "each node alone";
    case Gate::rule:
      return "update rule";
    case Gate::whole:
      return "whole step";
    case Gate::ranks:
      return "several workers";
  }
  return "";
}

void GateResult::add(Finding finding) {
  ++compared;
  if (!worst || finding.ratio() > worst->ratio()) worst = finding;
  if (!finding.ok()) failed.push_back(std::move(finding));
}

void GateResult::merge(const GateResult& other, const std::string& phase) {
  const auto of_phase = [&](Finding finding) {
    finding.phase = phase;
    return finding;
  };
  compared += other.compared;
  if (skipped.empty()) skipped = other.skipped;
  if (other.worst && (!worst || other.worst->ratio() > worst->ratio())) worst = of_phase(*other.worst);
  for (const Finding& finding : other.failed) failed.push_back(of_phase(finding));
}

bool FrameworkVerdict::passed() const {
  const bool compared = std::ranges::all_of(gates, [](const GateResult& g) { return g.failed.empty(); });
  return fault.empty() && !gates.empty() && compared;
}

const Finding* FrameworkVerdict::guilty() const {
  for (const GateResult& gate : gates)
    if (!gate.failed.empty()) return &gate.failed.front();
  return nullptr;
}

Json to_json(const Finding& f) {
  Json json = {{"phase", f.phase}, {"where", f.where}, {"what", f.what},        {"error", f.error},
               {"bound", f.bound}, {"ok", f.ok()},     {"bound_from", f.source}};
  if (f.worst) {
    json["at"] = f.worst->index;
    json["got"] = f.worst->got;
    json["expected"] = f.worst->expected;
  }
  if (!f.missing.empty()) json["missing"] = f.missing;
  return json;
}

Json to_json(const FrameworkVerdict& verdict) {
  Json gates = Json::array();
  for (const GateResult& gate : verdict.gates) {
    Json json = {{"gate", name(gate.gate)}, {"compared", gate.compared}};
    if (gate.worst) json["worst"] = to_json(*gate.worst);
    if (!gate.skipped.empty()) json["skipped"] = gate.skipped;
    json["failed"] = Json::array();
    for (const Finding& finding : gate.failed) json["failed"].push_back(to_json(finding));
    gates.push_back(std::move(json));
  }
  return {{"framework", verdict.framework},
          {"version", verdict.version},
          {"passed", verdict.passed()},
          {"fault", verdict.fault},
          {"gates", std::move(gates)},
          {"left_out", verdict.left_out},
          {"reproduction", verdict.reproduction},
          {"seconds", verdict.seconds}};
}

std::string sentence(const Finding& f) {
  if (!f.missing.empty()) return cat(f.where, ": ", f.what, ": ", f.missing);
  return cat(f.where, ": ", f.what, " differs by ", scientific(f.error), ", ", scientific(f.bound), " is allowed (",
             f.source, ")", f.worst ? ":" + place(*f.worst) : "");
}

}  // namespace tbd
