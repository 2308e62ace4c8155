// What `tbd check` shows people.
#pragma once
#include <span>

#include "analysis/table.h"
#include "record/record.h"
#include "runner/equivalence/check.h"

namespace tbd::cli {

Table gate_table(const CheckResult& result);                       // a row for each framework and gate
Table verdict_table(std::span<const CheckResult> results);         // a row for each network and framework
void explain(const FrameworkVerdict& verdict, std::ostream& out);  // sentences; nothing of one that passed
Table record_verdicts(std::span<const Record> records);            // what each record says of its network

}  // namespace tbd::cli
