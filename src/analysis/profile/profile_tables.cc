#include "analysis/profile/profile_tables.h"

#include <algorithm>
#include <cctype>

#include "analysis/trace/kernel_table.h"
#include "analysis/trace/queue_tables.h"
#include "base/text.h"
#include "base/units.h"

namespace tbd {
namespace {

constexpr size_t kFewestOps = 5, kMostOps = 40, kLong = 5;

int64_t all_work(const Profile& profile) {
  int64_t sum = 0;
  for (const RankedWork& work : profile.ranked()) sum += work.total_ns;
  return sum;
}

int64_t all_ops(const Profile& profile) {
  int64_t sum = 0;
  for (const ProfileOp& op : profile.ops) sum += op.total_ns;
  return sum;
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string nodes_text(const std::vector<std::string>& nodes, std::string_view others) {
  if (nodes.empty()) return "";
  return nodes.size() == 1 ? nodes.front() : cat(nodes.front(), " and ", nodes.size() - 1, others);
}
std::string nodes_text(const ProfileOp& op) { return nodes_text(op.nodes, " like it"); }

// Time of kernels whose node is not known, which a graph of the device launched or nothing names.
int64_t without_node(const Profile& profile) {
  int64_t sum = 0;
  for (const ProfileKernel& kernel : profile.kernels)
    if (kernel.nodes.empty()) sum += kernel.total_ns;
  return sum;
}

std::string charge_note(const Profile& profile) {
  if (profile.kernels.empty()) return "Ops that need no FLOP count as 0.";
  return cat(
      "What a node needs is charged to its kernels together, in proportion to their time; kernels that need no FLOP, "
      "or whose node the trace does not name (",
      format_percent(fraction(without_node(profile), all_work(profile))), " of the time), count as 0.");
}

Table long_table(const Profile& profile, bool below) {
  const double mean = profile.mean_utilization();
  const char* what = profile.kernels.empty() ? "ops" : "kernels";
  Table table{.title =
                  cat("Longest ", what, " of ", below ? "below-average utilization" : "average utilization or more")};
  table.columns = {{"share", profile.kernels.empty() ? "share of op time" : "share of kernel time", Unit::fraction},
                   {"utilization", "utilization", Unit::fraction},
                   {"op", profile.kernels.empty() ? "op" : "kernel", Unit::none, short_kernel_name},
                   {"direction", "direction"},
                   {"nodes", "nodes"}};
  const int64_t all = all_work(profile);
  for (const RankedWork& work : profile.ranked()) {
    if (table.rows.size() == kLong) break;
    if ((work.utilization.value_or(0) < mean) == below)
      table.rows.push_back({fraction(work.total_ns, all), cell(work.utilization), work.name, work.direction,
                            nodes_text(work.nodes, profile.kernels.empty() ? " like it" : " more")});
  }
  table.notes = {cat("Mean over all ", what, ", weighted by their time: ", format_percent(mean),
                     " of the instruction peak. ", charge_note(profile))};
  return table;
}

std::string traced_steps_text(const Profile& profile) {
  const auto launches = std::ssize(profile.step_use);
  return cat("time of ", profile.steps, " traced steps", launches > 1 ? cat(", ", launches, " launches") : "");
}

}  // namespace

Table utilization_table(const Profile& profile, const Roofs& roofs) {
  Table table{.title = "Utilization"};
  table.columns = {{"what", "what"}, {"value", "value", Unit::fraction}, {"of", "of"}};
  table.rows.push_back({"compute", profile.compute_utilization(), traced_steps_text(profile)});
  for (const FlopUse& use : profile.flops) {
    const std::string name = upper_case(use.type);
    table.rows.push_back({cat(name, ", while computing"), cell(use.active), "instruction peak"});
    table.rows.push_back({cat(name, ", all the time"), cell(use.window), "instruction peak"});
    table.rows.push_back({cat(name, ", while computing"), cell(use.active_of_product), "best matrix product"});
  }
  table.rows.push_back({"ideal time", cell(profile.ideal_share), "all time"});
  table.rows.push_back(
      {"CPU", cell(profile.cpu_utilization),
       profile.cores ? cat("the ", significant(*profile.cores, 3), " cores it may use") : "its cores"});
  table.rows.push_back({"of it in the system", cell(profile.system_share), "CPU time"});
  std::vector<std::string> rates;
  for (const auto& [type, rate] : roofs.isa) rates.push_back(cat(type, " ", human(rate, Unit::flop_rate)));
  if (!rates.empty()) table.notes.push_back(cat("Instruction peaks: ", join(rates, ", "), "."));
  rates.clear();
  for (const auto& [type, rate] : roofs.gemm) rates.push_back(cat(type, " ", human(rate, Unit::flop_rate)));
  if (!rates.empty()) table.notes.push_back(cat("Best matrix products: ", join(rates, ", "), "."));
  if (roofs.bandwidth) table.notes.push_back(cat("Memory: ", human(*roofs.bandwidth, Unit::bytes), "/s."));
  if (roofs.isa.empty()) table.notes.push_back("No peak was measured: shares of it are unknown.");
  return table;
}

Table loss_table(const Profile& profile) {
  Table table{.title = "Where the time went"};
  table.columns = {
      {"cause", "cause"}, {"time_s", "time a step", Unit::seconds}, {"share", "share", Unit::fraction}, {"bar", ""}};
  for (const LossPart& part : profile.loss) {
    if (part.ns == 0) continue;
    const double of_all = fraction(part.ns, profile.window_ns);
    std::string bar;
    for (int i = 0; i < static_cast<int>(of_all * 40 + 0.5); ++i) bar += "#";
    table.rows.push_back({part.cause, seconds_of(part.ns) / static_cast<double>(std::max<int64_t>(1, profile.steps)),
                          of_all, std::move(bar)});
  }
  table.rows.push_back(
      {"all", seconds_of(profile.window_ns) / static_cast<double>(std::max<int64_t>(1, profile.steps)), 1.0, ""});
  table.notes = {
      "Ideal: what the counted FLOPs and bytes take at the measured peaks. The parts add up to the time exactly."};
  table.notes.push_back(cat("Off-CPU: ", profile.off_cpu, "."));
  if (profile.waiting_ns > 0)
    table.notes.push_back(cat("The step loop waited of its own will for ",
                              human(seconds_of(profile.waiting_ns) / static_cast<double>(profile.steps), Unit::seconds),
                              " a step: part of what it waited in."));
  if (profile.minor_faults) table.notes.push_back(cat(significant(*profile.minor_faults, 3), " page faults a step."));
  return table;
}

Table profile_op_table(const Profile& profile, const RunInfo& run) {
  Table table{.title = "Ops"};
  const bool kernels = !profile.kernels.empty();
  table.columns = {{"op", "op"},
                   {"direction", "direction"},
                   {"main_op", kernels ? "longest kernel" : cat("longest op in ", run.workload.framework), Unit::none,
                    short_kernel_name},
                   {"nodes", "nodes"},
                   {"runs", "runs a step", Unit::count},
                   {"time_s", "time a step", Unit::seconds},
                   {"share", "share", Unit::fraction},
                   {"flop_rate", "rate", Unit::flop_rate},
                   {"bytes", "bytes a step", Unit::bytes},
                   {"intensity", "FLOP/B"},
                   {"utilization", "of peak", Unit::fraction},
                   {"bound", "bound"}};
  for (Column& column : table.columns)
    if (column.key == "runs" || column.key == "bytes" || column.key == "intensity") column.drop = 2;
  const int64_t all = all_ops(profile);
  int64_t listed = 0;
  const auto steps = std::max<int64_t>(1, profile.steps);
  for (const ProfileOp& op : profile.ops) {
    if (table.rows.size() >= kMostOps || (table.rows.size() >= kFewestOps && listed >= all - all / 10)) break;
    const auto intensity = op.intensity();
    table.rows.push_back({op.op, op.direction, op.main_op, nodes_text(op), op.runs / steps,
                          op.seconds() / static_cast<double>(steps), fraction(op.total_ns, all), cell(op.flop_rate()),
                          cell(op.bytes ? std::optional(op.bytes / steps) : std::nullopt), cell(intensity),
                          cell(op.utilization), op.bound});
    listed += op.total_ns;
  }
  if (const size_t rest = profile.ops.size() - table.rows.size(); rest > 0)
    table.notes = {cat(rest, " more, with ", format_percent(fraction(all - listed, all)), " of the time.")};
  table.notes.push_back("FLOPs and bytes are analytic: what the nodes need (docs/flops.md).");
  return table;
}

Table profile_kernel_table(const Profile& profile, const RunInfo& run) {
  const std::string type = upper_case(run.workload.precision.text());
  const bool tensor = std::ranges::any_of(profile.kernels, [](const ProfileKernel& k) { return k.tensor.has_value(); });
  Table table{.title = "Kernels"};
  table.columns = {{"kernel", "kernel", Unit::none, short_kernel_name},
                   {"direction", "direction"},
                   {"nodes", "nodes"},
                   {"runs", "runs a step", Unit::count},
                   {"time_s", "time a step", Unit::seconds},
                   {"share", "share", Unit::fraction},
                   {"vector_utilization", cat(type == "FP64" ? type : "FP32", " utilization"), Unit::fraction}};
  if (tensor) table.columns.push_back({"tensor_utilization", cat(type, " utilization"), Unit::fraction});
  const int64_t all = all_work(profile);
  const auto steps = std::max<int64_t>(1, profile.steps);
  int64_t listed = 0;
  for (const ProfileKernel& kernel : profile.kernels) {
    if (table.rows.size() >= kMostOps || (table.rows.size() >= kFewestOps && listed >= all - all / 10)) break;
    table.rows.push_back({kernel.name, kernel.direction, nodes_text(kernel.nodes, " more"), kernel.runs / steps,
                          seconds_of(kernel.total_ns) / static_cast<double>(steps), fraction(kernel.total_ns, all),
                          cell(kernel.vector)});
    if (tensor) table.rows.back().push_back(cell(kernel.tensor));
    listed += kernel.total_ns;
  }
  if (const size_t rest = profile.kernels.size() - table.rows.size(); rest > 0)
    table.notes = {cat(rest, " more, with ", format_percent(fraction(all - listed, all)), " of the time.")};
  table.notes.push_back(cat("Utilization of the measured instruction peaks. ", charge_note(profile)));
  return table;
}

Table long_below_average_table(const Profile& profile) { return long_table(profile, true); }
Table long_above_average_table(const Profile& profile) { return long_table(profile, false); }

Table overhead_table(const Profile& profile) {
  Table table{.title = "Cost of tracing"};
  table.columns = {{"what", "what"}, {"ratio", "ratio"}, {"low", "95 % from"}, {"high", "to"}};
  const auto text = [](double value) { return significant(value, 4); };
  if (profile.overhead) {
    const auto& interval = profile.overhead->interval;
    table.rows.push_back({"traced step to untraced step beside it", text(profile.overhead->value),
                          cell(interval ? std::optional(text(interval->low)) : std::nullopt),
                          cell(interval ? std::optional(text(interval->high)) : std::nullopt)});
  }
  if (profile.agreement)
    table.rows.push_back({"untraced step to that of the clean launches", text(*profile.agreement), {}, {}});
  table.notes = profile.notes;
  return table;
}

Table exchange_table(const ExchangeProfile& profile) {
  Table table{.title = "Exchange between the ranks, a step"};
  table.columns = {{"rank", "rank", Unit::count},
                   {"computed_s", "computed", Unit::seconds},
                   {"communicating_s", "communicating", Unit::seconds},
                   {"exposed_s", "of it exposed", Unit::seconds},
                   {"overlap", "hidden", Unit::fraction},
                   {"waited_s", "waited for others", Unit::seconds},
                   {"last", "began last", Unit::fraction}};
  if (!profile.withheld.empty()) {
    table.notes.push_back(cat("No times: ", profile.withheld, "."));
    return table;
  }
  for (const RankExchange& each : profile.ranks)
    table.rows.push_back(
        {each.rank, each.computed, each.communicating, each.exposed, cell(each.overlap()), each.waited, each.last});
  table.notes.push_back(cat(significant(profile.sums, 3), " sums a step, ", human(profile.bytes, Unit::bytes),
                            " from each rank; all ranks in them for ", human(profile.transfer, Unit::seconds),
                            " a step."));
  if (profile.bus_bandwidth)
    table.notes.push_back(cat("Bus bandwidth ", human(*profile.bus_bandwidth, Unit::bytes), "/s."));
  if (!profile.straggler.empty()) table.notes.push_back(profile.straggler);
  return table;
}

std::vector<Table> profile_tables(const Profile& profile, const RunInfo& run) {
  std::vector<Table> tables = {utilization_table(profile, Roofs::of(run)), loss_table(profile)};
  if (profile.queue) {
    const QueueRow queue{.use = *profile.queue, .window_ns = profile.window_ns, .steps = profile.steps};
    tables.push_back(gap_table(std::span(&queue, 1)));
    tables.push_back(queue_table(std::span(&queue, 1)));
  }
  if (profile.exchange) tables.push_back(exchange_table(*profile.exchange));
  tables.push_back(profile_op_table(profile, run));
  if (!profile.kernels.empty()) tables.push_back(profile_kernel_table(profile, run));
  tables.push_back(long_below_average_table(profile));
  tables.push_back(long_above_average_table(profile));
  if (profile.counters) tables.push_back(counter_table(*profile.counters));
  tables.push_back(overhead_table(profile));
  return tables;
}

}  // namespace tbd
