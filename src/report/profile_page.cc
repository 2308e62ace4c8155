// Where time went in the traced steps: causes, ops against the roofs, and the tables of each cell.
#include <algorithm>

#include "analysis/profile/profile_tables.h"
#include "base/units.h"
#include "report/explained.h"
#include "report/page.h"

namespace tbd {
namespace {

struct Profiled {
  const ReportCell* cell;
  const Profile& profile;
};

std::vector<const ReportCell*> profiled(std::span<const ReportCell> cells) {
  std::vector<const ReportCell*> out;
  for (const ReportCell& cell : cells)
    if (cell.profile()) out.push_back(&cell);
  return out;
}

std::vector<Profiled> with_profiles(std::span<const ReportCell* const> cells) {
  std::vector<Profiled> out;
  for (const ReportCell* cell : cells) out.push_back({cell, *cell->profile()});
  return out;
}

Chart loss_chart(std::span<const Profiled> all) {
  Chart chart{.id = "loss-bar",
              .title = "Where the time went",
              .y_title = "share of the time of traced steps, %",
              .caption = "Ideal is what the counted FLOPs and bytes take at the measured peaks. Parts add up to 100 %.",
              .mark = Mark::stacks,
              .from_zero = true};
  chart.table.columns = {{"cell", "workload"}, {"cause", "cause"}, {"share", "share", Unit::fraction}};
  chart.data.columns = {{"cell", ""}, {"cause", ""}, {"ns", ""}, {"window_ns", ""}};
  for (const Profiled& each : all) chart.order.push_back(each.cell->label);
  for (size_t part = 0; part < all.front().profile.loss.size(); ++part) {
    ChartSeries series{.name = all.front().profile.loss[part].cause};
    int64_t any = 0;
    for (const auto& [cell, profile] : all) {
      const LossPart& loss = profile.loss[part];
      series.labels.push_back(cell->label);
      series.y.push_back(percent(loss.ns, profile.window_ns));
      any += loss.ns;
      if (loss.ns == 0) continue;
      chart.table.rows.push_back({cell->label, loss.cause, percent(loss.ns, profile.window_ns) / 100});
      chart.data.rows.push_back({cell->label, loss.cause, loss.ns, profile.window_ns});
    }
    if (any > 0) chart.series.push_back(std::move(series));
  }
  return chart;
}

// Attainable FLOP/s over FLOP/B (Williams et al. 2009, CACM 52(4)): flat at the peak, sloping below the ridge.
ChartSeries roof_of(const std::string& name, double peak, double bandwidth) {
  ChartSeries roof{.name = name, .role = "roof"};
  const double ridge = peak / bandwidth;
  for (const double x : {ridge / 1000, ridge, std::max(100 * ridge, 1000.0)}) {
    roof.x.push_back(x);
    roof.y.push_back(std::min(peak, x * bandwidth) / 1e9);
  }
  return roof;
}

std::optional<Chart> roofline_chart(const Profiled& each, size_t number) {
  const RunInfo& run = each.cell->record->run;
  const Roofs roofs = Roofs::of(run);
  const auto isa = roofs.isa.find(run.workload.precision.text()), gemm = roofs.gemm.find(run.workload.precision.text());
  if (isa == roofs.isa.end() || !roofs.bandwidth) return std::nullopt;
  Chart chart{.id = cat("roofline-", number),
              .title = cat("Roofline of ", each.cell->label),
              .x_title = "FLOP per byte",
              .y_title = "GFLOP/s",
              .caption =
                  "Each point is the work of nodes with equal costs in one direction; bytes are the fewest that "
                  "they need. Lines are the measured peak of instructions and of products.",
              .mark = Mark::points,
              .logarithmic = Logarithmic::both};
  chart.series.push_back(roof_of("instruction peak", isa->second, *roofs.bandwidth));
  if (gemm != roofs.gemm.end()) chart.series.push_back(roof_of("best product", gemm->second, *roofs.bandwidth));
  chart.data.columns = {{"op", ""}, {"direction", ""}, {"flop_per_byte", ""}, {"gflop_per_s", ""}, {"share", ""}};
  for (const char* direction : {"forward", "backward"}) {
    ChartSeries series{.name = direction};
    for (const ProfileOp& op : each.profile.ops) {
      const auto rate = op.flop_rate(), intensity = op.intensity();
      if (op.direction != direction || !rate || !intensity || *intensity <= 0) continue;
      series.x.push_back(*intensity);
      series.y.push_back(*rate / 1e9);
      series.text.push_back(cat(op.op, " ", op.nodes.empty() ? "" : op.nodes.front()));
      chart.data.rows.push_back(
          {op.op, op.direction, *intensity, *rate / 1e9, percent(op.total_ns, each.profile.window_ns) / 100});
    }
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  chart.table = profile_op_table(each.profile, run);
  return chart;
}

}  // namespace

Page profile_page(std::span<const ReportCell> cells) {
  Page page{.id = "profile", .title = "Where time goes"};
  const std::vector<const ReportCell*> all = profiled(cells);
  if (all.empty()) return page;
  page.html =
      "<p>From launches of their own, in which some steps were traced; what tracing cost stands beside each workload. "
      "The "
      "other pages' numbers come from launches without it.</p>\n";
  page.charts.push_back(loss_chart(with_profiles(chosen(all, kMostBars))));
  const std::vector<const ReportCell*> drawn = chosen(all, kMostFigures);
  page.html +=
      folded_note(drawn.size(), all.size(), "tbd profile RECORD shows any other; --format csv or json has all.");
  for (const Profiled& each : with_profiles(drawn))
    if (std::optional<Chart> chart = roofline_chart(each, page.charts.size())) page.charts.push_back(std::move(*chart));
  for (const ReportCell* cell : all) {
    std::string html;
    for (Table& table : profile_tables(*cell->profile(), cell->record->run)) {
      if (std::ranges::count(drawn, cell)) html += to_html(table);
      table.title = cat(table.title, ": ", cell->label);
      page.tables.push_back(std::move(table));
    }
    page.below += cell_block(cell->label, html, all.size());
  }
  return page;
}

}  // namespace tbd
