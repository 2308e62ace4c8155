// Figure 8 of Zhu et al. 2018: the same cells on another device or machine, relative to the first. Nothing is averaged.
#include <algorithm>

#include "record/axes.h"
#include "report/page.h"
#include "report/panels.h"

namespace tbd {
namespace {

struct Place {
  std::string machine, device;
  bool operator==(const Place&) const = default;
};

// Alike but for the place, what comes with it, and the batch.
bool alike(const Sweep& a, const Sweep& b) {
  return alike_but({"batch", "framework_version", "device", "threads", "layout", "allocator", "dropout",
                    "synchronisation", "data_hash", "unpinned", "memory_budget_bytes"},
                   a.workload, b.workload);
}

struct Pairing {
  const Sweep *first, *second;
  const SweepPoint *a, *b;  // the largest batch that ran on both
};

std::optional<Pairing> paired(const Sweep& first, const Sweep& second) {
  std::optional<Pairing> found;
  for (const SweepPoint& a : first.points)
    for (const SweepPoint& b : second.points)
      if (a.batch == b.batch && a.ran() && b.ran()) found = Pairing{&first, &second, &a, &b};
  return found;
}

std::string place_name(const Content& content, const Sweep& sweep) {
  const std::string machine = machine_name(content.machines, sweep.machine);
  if (sweep.workload.device == Device::kCpu && !machine.empty()) return machine;
  return machine.empty() ? sweep.workload.device.text() : cat(sweep.workload.device, " of ", machine);
}

std::optional<double> over(const Measured& b, const Measured& a) {
  return a.value && b.value && *a.value > 0 ? std::optional(*b.value / *a.value) : std::nullopt;
}

std::optional<double> roof_ratio(const Pairing& pair) {
  const std::string& type = pair.first->workload.precision.text();
  const Roofs a = Roofs::of(pair.a->record->run), b = Roofs::of(pair.b->record->run);
  const auto at = a.isa.find(type), bt = b.isa.find(type);
  if (at == a.isa.end() || bt == b.isa.end() || !(at->second > 0)) return std::nullopt;
  return bt->second / at->second;
}

std::vector<Pairing> pairings(const Content& content) {
  std::vector<Pairing> out;
  for (const Sweep& first : content.sweeps)
    for (const Sweep& second : content.sweeps) {
      const bool other = first.machine < second.machine ||
                         (first.machine == second.machine && first.workload.device < second.workload.device);
      if (!other || !alike(first, second)) continue;
      if (const auto pair = paired(first, second)) out.push_back(*pair);
    }
  return out;
}

Table devices_table(const Content& content, std::span<const Pairing> pairs) {
  Table table{.title = "Devices side by side"};
  table.columns = {{"model", "model"},
                   {"framework", "framework"},
                   {"precision", "precision"},
                   {"input_mode", "input"},
                   {"batch", "batch", Unit::count},
                   {"first", "from"},
                   {"second", "to"},
                   {"throughput_ratio", "throughput, ratio"},
                   {"low", "95 % from"},
                   {"high", "to"},
                   {"utilization_ratio", "compute utilization, ratio"},
                   {"flop_ratio", "FLOP utilization, ratio"},
                   {"roof_ratio", "instruction peaks, ratio"}};
  for (const Pairing& pair : pairs) {
    const MeasuredWorkload& w = pair.first->workload;
    const Quotient x = quotient(pair.b->throughput(), pair.a->throughput());
    table.rows.push_back({w.model, w.framework, w.precision.text(), w.input_mode.text(), pair.a->batch,
                          place_name(content, *pair.first), place_name(content, *pair.second), cell(x.value),
                          cell(x.low), cell(x.high),
                          cell(over(pair.b->compute_utilization, pair.a->compute_utilization)),
                          cell(over(pair.b->flop_active, pair.a->flop_active)), cell(roof_ratio(pair))});
  }
  return table;
}

std::string label_of(const Content& content, const Pairing& pair) {
  return cat(pair.first->label(), " batch ", pair.a->batch, ", ", place_name(content, *pair.second), " over ",
             place_name(content, *pair.first));
}

void add_bar(ChartSeries& series, const std::string& label, std::optional<double> value) {
  series.labels.push_back(label);
  series.y.push_back(value);
}

Chart devices_chart(const Content& content, std::span<const Pairing> pairs) {
  Chart chart{.id = "devices-1", .title = "One device against another"};
  chart.y_title = "ratio";
  chart.mark = Mark::groups;
  chart.from_zero = true;
  chart.caption = "As Fig. 8 of Zhu et al. 2018: the same workload at the largest batch that ran on both.";
  ChartSeries x{.name = "throughput", .color = 0}, u{.name = "compute utilization", .color = 1},
      f{.name = "FLOP utilization", .color = 2}, roof{.name = "instruction peak", .color = 8};
  for (const Pairing& pair : pairs) {
    const std::string label = label_of(content, pair);
    chart.order.push_back(label);
    add_bar(x, label, over(pair.b->throughput(), pair.a->throughput()));
    add_bar(u, label, over(pair.b->compute_utilization, pair.a->compute_utilization));
    add_bar(f, label, over(pair.b->flop_active, pair.a->flop_active));
    add_bar(roof, label, roof_ratio(pair));
  }
  for (ChartSeries* series : {&x, &u, &f, &roof})
    if (std::ranges::any_of(series->y, [](const auto& y) { return y.has_value(); }))
      chart.series.push_back(std::move(*series));
  return chart;
}

}  // namespace

Page devices_page(const Content& content) {
  Page page{.id = "devices", .title = "Devices"};
  const std::vector<Pairing> pairs = pairings(content);
  if (pairs.empty()) return page;
  page.html =
      "<p>Workloads that were measured on two devices or machines, one over the other. Their series are never "
      "joined or averaged.</p>\n";
  page.tables.push_back(devices_table(content, pairs));
  Chart chart = devices_chart(content, std::span(pairs).first(std::min(pairs.size(), kMostBars)));
  if (pairs.size() > kMostBars)
    page.html +=
        cat("<p class=\"note\">", kMostBars, " of ", pairs.size(), " pairs are drawn; the table has all.</p>\n");
  chart.table = page.tables.back();
  chart.table.title.clear();
  page.charts.push_back(std::move(chart));
  return page;
}

}  // namespace tbd
