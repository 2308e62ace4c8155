#include "cli/check_tables.h"

#include <ostream>

namespace tbd::cli {
namespace {

constexpr size_t kShown = 5;  // differences of a gate, for people

std::string verdict_of(const FrameworkVerdict& verdict) {
  return !verdict.fault.empty() ? "not checked" : verdict.passed() ? "equal" : "different";
}

// The guilty node, or why there is no verdict.
std::string reason_of(const FrameworkVerdict& verdict) {
  if (!verdict.fault.empty()) return verdict.fault;
  const Finding* guilty = verdict.guilty();
  return guilty ? guilty->where : "";
}

}  // namespace

Table gate_table(const CheckResult& result) {
  Table table{.title = cat("Equivalence of ", result.model, " ", result.config, ", batch ", result.batch, ", against ",
                           result.against),
              .columns = {{"framework", "framework"},
                          {"version", "version"},
                          {"gate", "gate"},
                          {"verdict", "verdict"},
                          {"compared", "compared", Unit::count},
                          {"failed", "failed", Unit::count},
                          {"worst", "nearest to its bound"},
                          {"error", "error"},
                          {"bound", "bound"},
                          {"bound_from", "bound from"}},
              .rows = {},
              .notes = {}};
  for (const FrameworkVerdict& verdict : result.verdicts) {
    if (!verdict.fault.empty())
      table.rows.push_back({verdict.framework,
                            verdict.version,
                            std::string("-"),
                            std::string("not checked"),
                            {},
                            {},
                            {},
                            {},
                            {},
                            verdict.fault});
    for (const GateResult& gate : verdict.gates) {
      if (!gate.skipped.empty() && gate.compared == 0) {
        table.rows.push_back({verdict.framework,
                              verdict.version,
                              std::string(name(gate.gate)),
                              std::string("not checked"),
                              gate.compared,
                              {},
                              {},
                              {},
                              {},
                              gate.skipped});
        continue;
      }
      const Finding worst = gate.worst.value_or(Finding{});
      table.rows.push_back({verdict.framework, verdict.version, std::string(name(gate.gate)),
                            std::string(gate.failed.empty() ? "equal" : "different"), gate.compared,
                            static_cast<int64_t>(gate.failed.size()), cat(worst.where, ", ", worst.what), worst.error,
                            worst.bound, worst.source});
    }
  }
  return table;
}

Table verdict_table(std::span<const CheckResult> results) {
  Table table{.title = "Equivalence of every model's tiny configurations, against PyTorch in float64",
              .columns = {{"model", "model"},
                          {"config", "config"},
                          {"framework", "framework"},
                          {"verdict", "verdict"},
                          {"guilty", "guilty, or why not checked"},
                          {"seconds", "time", Unit::seconds}},
              .rows = {},
              .notes = {}};
  int64_t compared = 0;
  double seconds = 0;
  for (const CheckResult& result : results) {
    seconds += result.reference_seconds;
    for (const FrameworkVerdict& verdict : result.verdicts) {
      table.rows.push_back(
          {result.model, result.config, verdict.framework, verdict_of(verdict), reason_of(verdict), verdict.seconds});
      seconds += verdict.seconds;
      for (const GateResult& gate : verdict.gates) compared += gate.compared;
    }
  }
  table.notes.push_back(cat(compared, " numbers compared in ", human(seconds, Unit::seconds),
                            ", the reference's part included, which is not in the rows."));
  return table;
}

Table record_verdicts(std::span<const Record> records) {
  Table table{.title = "Verdicts of the records",
              .columns = {{"record", "record"},
                          {"model", "model"},
                          {"config", "config"},
                          {"framework", "framework"},
                          {"verdict", "verdict"}}};
  for (const Record& record : records) {
    const std::optional<bool> verified = record.run.verified;
    const char* verdict = !verified ? "not checked" : *verified ? "equal" : "different";
    table.rows.push_back({record.folder.filename().string(), record.run.workload.model, record.run.workload.config,
                          record.run.workload.framework, std::string(verdict)});
  }
  return table;
}

void explain(const FrameworkVerdict& verdict, std::ostream& out) {
  if (!verdict.fault.empty()) out << verdict.framework << ": not checked: " << verdict.fault << "\n";
  const Finding* guilty = verdict.guilty();
  if (!guilty) return;
  out << verdict.framework << ": guilty: " << guilty->where << " (" << guilty->phase << ")\n";
  for (const GateResult& gate : verdict.gates) {
    for (size_t i = 0; i < gate.failed.size() && i < kShown; ++i)
      out << "  " << name(gate.gate) << ": " << sentence(gate.failed[i]) << "\n";
    if (gate.failed.size() > kShown) out << "  and " << gate.failed.size() - kShown << " more\n";
  }
  if (!verdict.reproduction.empty()) out << "  repeat it: " << verdict.reproduction << "\n";
}

}  // namespace tbd::cli
