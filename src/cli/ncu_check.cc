#include "cli/ncu_check.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "measure/gpu/ncu.h"

namespace tbd::cli {
namespace {

// `tbd step` of the workload, which draws weights and inputs from the seed.
std::vector<std::string> step_command(const Context& context, const Workload& workload, const std::string& out) {
  std::vector<std::string> command = {context.program.string(), "step", workload.model, "--quiet", "--out", out};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) command.insert(command.end(), {option, value});
  };
  add("--framework", workload.framework);
  add("--config", workload.config);
  add("--precision", workload.precision.text());
  add("--device", workload.device.text());
  add("--layout", workload.layout.text());
  add("--mode", workload.mode.text());
  add("--batch", cat(workload.batch));
  add("--seed", cat(workload.seed));
  return command;
}

std::string why_not(const Workload& workload) {
  if (workload.device == Device::kCpu) return "ncu counts instructions of a GPU, and this ran on cpu";
  if (workload.precision != Precision::kFp32)
    return cat("ncu counts fp32 instructions here, and this computed in ", workload.precision);
  return "";
}

}  // namespace

NcuCheck ncu_check(const Context& context, const Record& record) {
  const MeasuredWorkload& measured = record.run.workload;
  NcuCheck check{.reason = why_not(measured)};
  if (record.run.train_flops) check.computed = *record.run.train_flops * measured.samples_per_step;
  if (!check.reason.empty()) return check;
  const TemporaryFolder folder;
  try {
    const Fp32Instructions counted = count_fp32_instructions(
        {.command = step_command(context, record.run.request, (folder.path() / "step.safetensors").string()),
         .environment = context.environment,
         .folder = folder.path()});
    check.counted = counted.flops().value;
    check.kernels = counted.kernels;
  } catch (const Error& e) {
    check.reason = e.what();
  }
  return check;
}

Table ncu_table(const NcuCheck& check) {
  Table table{.title = "FLOPs of a step by ncu"};
  table.columns = {{"counted", "executed in fp32", Unit::count},
                   {"computed", "computed from the graph", Unit::count},
                   {"ratio", "executed / computed"},
                   {"kernels", "kernels"}};
  std::optional<double> ratio;
  if (check.counted && check.computed && *check.computed > 0)
    ratio = static_cast<double>(*check.counted) / static_cast<double>(*check.computed);
  table.rows = {{cell(check.counted), cell(check.computed), cell(ratio), check.kernels}};
  if (!check.reason.empty()) table.notes = {cat("Not counted: ", check.reason, ".")};
  return table;
}

Json to_json(const NcuCheck& check) {
  Json json{{"kernels", check.kernels}, {"reason", check.reason}};
  json["counted_flops"] = check.counted ? Json(*check.counted) : Json();
  json["computed_flops"] = check.computed ? Json(*check.computed) : Json();
  return json;
}

}  // namespace tbd::cli
