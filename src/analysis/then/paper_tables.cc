#include "analysis/then/paper_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/metric_parts.h"
#include "analysis/profile/profile_tables.h"
#include "analysis/sweep/sweep.h"
#include "analysis/then/printed_values.h"
#include "base/json.h"
#include "base/text.h"

namespace tbd {
namespace {

struct DataSet {
  std::string_view name, size, source;
};
constexpr DataSet kDataSets[] = {
    {"ImageNet-1k", "1.28 million images of 1,000 classes", "Russakovsky et al. 2015"},
    {"Downsampled ImageNet, 64 x 64", "1.28 million images of 3 x 64 x 64", "van den Oord et al. 2016"},
    {"IWSLT15 English-Vietnamese", "133,000 sentence pairs", "Luong and Manning 2015"},
    {"WMT English-German", "4.5 million sentence pairs", "Vaswani et al. 2017"},
    {"LibriSpeech", "1,000 hours of speech", "Panayotov et al. 2015"},
    {"English text; SQuAD v1.1", "more than 100,000 questions", "Rajpurkar et al. 2016"},
    {"games of Go", "played by the network itself", "Silver et al. 2017"},
};

std::string joined_names(const std::set<std::string>& names) {
  return join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

TableCell text_or_dash(const std::string& text) { return text.empty() ? TableCell() : TableCell(text); }

std::string title_of(const RunInfo& run) { return run.card.title.empty() ? run.workload.model : run.card.title; }

std::optional<int64_t> macs_per_sample(const RunInfo& run) {
  int64_t flops = 0;
  for (const OpRow& row : run.ops) flops += row.forward.flop_model;
  if (flops == 0 || run.workload.samples_per_step <= 0) return std::nullopt;
  return flops / 2 / run.workload.samples_per_step;
}

template <class Key>
std::vector<std::vector<const Record*>> records_by(std::span<const Record* const> records, Key key) {
  std::map<decltype(key(*records.front())), std::vector<const Record*>> groups;
  for (const Record* record : records) groups[key(*record)].push_back(record);
  std::vector<std::vector<const Record*>> out;
  for (auto& [name, group] : groups) out.push_back(std::move(group));
  return out;
}

// The record that says most: with a list of ops.
const RunInfo& telling(const std::vector<const Record*>& group) {
  const auto found = std::ranges::find_if(group, [](const Record* r) { return !r->run.ops.empty(); });
  return (found == group.end() ? group.front() : *found)->run;
}

std::optional<double> number_in(const Json& json, const char* group, const char* key) {
  const std::optional<Json> inner = maybe<Json>(json, group);
  return inner && inner->is_object() ? maybe<double>(*inner, key) : std::nullopt;
}

bool traced(const Record& record) {
  return std::ranges::any_of(record.launches,
                             [](const Launch& l) { return l.info.pass == Pass::kTrace && l.info.traced; });
}

auto nearness(const Record* record) {
  const MeasuredWorkload& w = record->run.workload;
  const double off = std::abs(std::log2(static_cast<double>(std::max<int64_t>(1, w.batch)) / 32));
  return std::tuple(w.model != kPrintedKernelsModel, w.precision != Precision::kFp32, off, w.model,
                    w.input_mode != InputMode::kResident);
}

}  // namespace

DominantOp dominant_op(const RunInfo& run) {
  std::map<std::string, int64_t> flops;
  int64_t all = 0;
  for (const OpRow& row : run.ops) {
    const int64_t own = row.forward.flop_model + row.backward.flop_model;
    flops[row.op] += own;
    all += own;
  }
  if (all == 0) return {};
  const auto most = std::ranges::max_element(flops, {}, [](const auto& each) { return each.second; });
  return {most->first, static_cast<double>(most->second) / static_cast<double>(all)};
}

Table benchmarks_table(std::span<const Record* const> records) {
  Table table{.title = "Table 2: benchmarks"};
  table.columns = {{"application", "application"},
                   {"model", "network"},
                   {"config", "configuration"},
                   {"parameters", "parameters", Unit::count},
                   {"macs", "MACs a sample, forward", Unit::count},
                   {"layers", "layers", Unit::count},
                   {"dominant_op", "dominant op"},
                   {"dominant_share", "of the FLOPs", Unit::fraction},
                   {"frameworks", "frameworks"},
                   {"dataset", "data set"},
                   {"unit", "unit"}};
  for (const auto& group :
       records_by(records, [](const Record& r) { return std::pair(r.run.workload.model, r.run.workload.config); })) {
    const RunInfo& run = telling(group);
    std::set<std::string> frameworks;
    for (const Record* record : group) frameworks.insert(record->run.workload.framework);
    const DominantOp dominant = dominant_op(run);
    table.rows.push_back({text_or_dash(run.card.domain), title_of(run), run.workload.config, cell(run.parameters),
                          cell(macs_per_sample(run)), run.card.layers > 0 ? TableCell(run.card.layers) : TableCell(),
                          text_or_dash(dominant.op), dominant.op.empty() ? TableCell() : TableCell(dominant.share),
                          joined_names(frameworks), text_or_dash(run.card.dataset), run.workload.unit});
  }
  table.notes = {"Layers as each network's own paper counts them. FLOPs are counted from the network, not measured."};
  return table;
}

Table datasets_table(std::span<const Record* const> records) {
  Table table{.title = "Table 3: data sets"};
  table.columns = {{"dataset", "data set"},
                   {"size", "size"},
                   {"source", "as said by"},
                   {"models", "networks"},
                   {"input", "input here"}};
  for (const auto& group : records_by(records, [](const Record& r) { return r.run.card.dataset; })) {
    const std::string& name = group.front()->run.card.dataset;
    if (name.empty()) continue;
    std::set<std::string> models, inputs;
    for (const Record* record : group) {
      models.insert(title_of(record->run));
      inputs.insert(record->run.workload.input_mode.text());
    }
    const auto* known = std::ranges::find(kDataSets, name, &DataSet::name);
    const bool found = known != std::end(kDataSets);
    table.rows.push_back({name, found ? TableCell(std::string(known->size)) : TableCell(),
                          found ? TableCell(std::string(known->source)) : TableCell(), joined_names(models),
                          joined_names(inputs)});
  }
  table.notes = {
      "Input resident: batches of these shapes lie in memory before the first step; pipeline: read and decoded "
      "while training."};
  return table;
}

Table hardware_table(std::span<const Record* const> records) {
  Table table{.title = "Table 4: hardware"};
  table.columns = {{"machine", "machine"},
                   {"device", "device"},
                   {"threads", "threads", Unit::count},
                   {"isa_fp32", "FP32 instruction peak", Unit::flop_rate},
                   {"gemm_fp32", "FP32 best product", Unit::flop_rate},
                   {"isa_bf16", "BF16 instruction peak", Unit::flop_rate},
                   {"gemm_bf16", "BF16 best product", Unit::flop_rate},
                   {"bandwidth", "memory, B/s", Unit::bytes}};
  const auto key = [](const Record& r) {
    return std::tuple(machine_of(r), r.run.workload.device, r.run.workload.threads);
  };
  for (const auto& group : records_by(records, key)) {
    const auto found = std::ranges::find_if(group, [](const Record* r) { return r->run.peaks->contains("isa"); });
    const Record& record = found == group.end() ? *group.front() : **found;
    const Json& peaks = record.run.peaks;
    const MeasuredWorkload& w = record.run.workload;
    table.rows.push_back({machine_of(record), w.device.text(), on_gpu(w) ? TableCell() : TableCell(w.threads),
                          cell(number_in(peaks, "isa", "fp32")), cell(number_in(peaks, "gemm", "fp32")),
                          cell(number_in(peaks, "isa", "bf16")), cell(number_in(peaks, "gemm", "bf16")),
                          cell(maybe<double>(peaks, "bandwidth"))});
  }
  table.notes = {"Peaks are measured, with the workload's threads or on its GPU, not taken from a data sheet."};
  return table;
}

std::vector<Table> longest_kernel_tables(std::span<const Record* const> records) {
  std::map<std::string, const Record*> chosen;
  for (const Record* record : records) {
    if (!traced(*record)) continue;
    const Record*& own = chosen[record->run.workload.framework];
    if (!own || nearness(record) < nearness(own)) own = record;
  }
  std::vector<Table> tables;
  for (const auto& [framework, record] : chosen) {
    std::optional<Profile> profile;
    try {
      profile = profile_of(*record);
    } catch (const Error&) {
      continue;  // the profile page says why
    }
    if (!profile) continue;
    const MeasuredWorkload& w = record->run.workload;
    Table table = long_below_average_table(*profile);
    table.title =
        cat("Tables 5 and 6: longest ", profile->kernels.empty() ? "ops" : "kernels", " of below-average utilization, ",
            framework, ", ", w.model, ", batch ", w.batch, ", ", w.precision);
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace tbd
