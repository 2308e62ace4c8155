#include "report/cells.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include "analysis/evidence.h"
#include "base/text.h"
#include "record/axes.h"

namespace tbd {
namespace {

// Wide types first, then by name.
size_t rank(const Precision& precision) {
  const std::vector<Precision>& known = Precision::kKnown;
  return static_cast<size_t>(std::ranges::find(known, precision) - known.begin());
}

// Resident before pipeline, small batches before large ones.
auto order(const ReportCell& cell) {
  const MeasuredWorkload& w = cell.record->run.workload;
  return std::tuple<const std::string&, const std::string&, const std::string&, const std::string&, const std::string&,
                    size_t, const Precision&, int64_t, int64_t, const Link&, bool, const InputMode&, int64_t,
                    const ImageLayout&, const Mode&, const Device&, const std::string&>(
      w.model, w.config, cell.machine, w.framework, w.framework_version, rank(w.precision), w.precision, w.batch,
      w.workers, w.link, w.input_mode != InputMode::kResident, w.input_mode, w.threads, w.layout, w.mode, w.device,
      cell.record->hash);
}

// Calls work(i) for all i below count, halves on two threads; the first error of either is thrown.
void in_two(size_t count, const std::function<void(size_t)>& work) {
  std::exception_ptr failed;
  const auto half = [&](size_t from, std::exception_ptr& error) {
    try {
      for (size_t i = from; i < count; i += 2) work(i);
    } catch (...) {
      error = std::current_exception();
    }
  };
  std::exception_ptr own;
  std::jthread other([&] { half(1, failed); });
  half(0, own);
  other.join();
  if (own) std::rethrow_exception(own);
  if (failed) std::rethrow_exception(failed);
}

std::string label_value(const std::string& value) { return value; }
template <AnyWord Kind>
std::string label_value(const Kind& value) {
  return value.text();
}
std::string label_value(int64_t value) { return cat(value); }
std::string label_value(uint64_t value) { return cat(value); }
std::string label_value(const std::optional<int64_t>& bytes) { return bytes ? budget_text(*bytes) : ""; }

std::string axis_part(const Axis& axis, const MeasuredWorkload& w) {
  if (axis.of_several && axis.print(w).empty()) return "";
  const std::string value = std::visit([&](auto member) { return label_value(w.*member); }, axis.member);
  return axis.label.around(value);
}

// The parts of a name, in reading order; axes that are not named here follow.
std::vector<std::string> parts(const ReportCell& cell, const std::vector<std::string>& machines) {
  constexpr std::string_view kNamed[] = {"model",     "config", "framework", "mode",  "device",
                                         "precision", "layout", "input",     "batch", "threads"};
  const MeasuredWorkload& w = cell.record->run.workload;
  std::vector<std::string> out;
  for (const std::string_view name : kNamed) {
    out.push_back(axis_part(*find_axis(name), w));
    if (name == "framework") out.push_back(w.framework_version);
  }
  for (const Axis& axis : axes())
    if (axis.tells_apart && !axis.key.empty() && std::ranges::find(kNamed, axis.name) == std::end(kNamed))
      out.push_back(axis_part(axis, w));
  out.push_back(w.effort);
  out.push_back(machine_name(machines, cell.machine));
  return out;
}

std::vector<std::string> machines_of(std::span<const ReportCell> cells) {
  std::vector<std::string> machines;
  for (const ReportCell& cell : cells)
    if (!std::ranges::count(machines, cell.machine)) machines.push_back(cell.machine);
  return machines;
}

// The names of a folder and of those that hold it, from the inside out.
std::vector<std::string> names_of(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const std::filesystem::path& part : folder.lexically_normal())
    if (!part.empty() && part != "/") names.insert(names.begin(), part.string());
  return names;
}

// Adds what tells the folders apart: their names, those of their result sets, ..., else the records' hashes: the rest
// of a path depends on from where it was named.
void name_folders(std::span<ReportCell* const> cells) {
  std::vector<std::vector<std::string>> names;
  size_t depth = SIZE_MAX;
  for (const ReportCell* cell : cells) {
    names.push_back(names_of(cell->record->folder));
    depth = std::min(depth, names.back().size());
  }
  for (size_t level = 0; level < depth; ++level) {
    std::set<std::string> distinct;
    for (const auto& each : names) distinct.insert(each[level]);
    if (distinct.size() < cells.size()) continue;
    for (size_t i = 0; i < cells.size(); ++i) cells[i]->label += cat(" (", names[i][level], ")");
    return;
  }
  for (ReportCell* cell : cells) cell->label += cat(" (", cell->record->hash.substr(0, 12), ")");
}

void set_labels(std::vector<ReportCell>& cells) {
  if (cells.empty()) return;
  const std::vector<std::string> machines = machines_of(cells);
  const std::vector<std::string> first = parts(cells.front(), machines);
  std::vector<bool> varies(first.size());
  for (const ReportCell& cell : cells) {
    const std::vector<std::string> own = parts(cell, machines);
    for (size_t i = 0; i < own.size(); ++i) varies[i] = varies[i] || own[i] != first[i];
  }
  std::map<std::string, std::vector<ReportCell*>> alike;
  for (ReportCell& cell : cells) {
    std::vector<std::string> named;
    const std::vector<std::string> own = parts(cell, machines);
    for (size_t i = 0; i < own.size(); ++i)
      if (varies[i] && !own[i].empty()) named.push_back(own[i]);
    cell.label = named.empty() ? own.front() : join(named, " ");
    alike[cell.label].push_back(&cell);
  }
  for (const auto& [label, same] : alike)
    if (same.size() > 1) name_folders(same);
}

}  // namespace

std::vector<ReportCell> report_cells(std::span<const Record> records, std::span<const Sweep> sweeps) {
  std::map<const Record*, const SweepPoint*> points;
  std::map<const Record*, const Record*> stand_ins;
  for (const Sweep& sweep : sweeps) {
    for (const SweepPoint& point : sweep.points) points[point.record] = &point;
    for (const Record* duplicate : sweep.duplicates)
      for (const SweepPoint& point : sweep.points)
        if (point.batch == duplicate->run.workload.batch) stand_ins[duplicate] = point.record;
  }
  std::vector<ReportCell> cells(records.size());
  in_two(records.size(), [&](size_t i) {
    const Record* record = &records[i];
    const auto point = points.find(record);
    const auto stand_in = stand_ins.find(record);
    ReportCell& cell = cells[i];
    cell = {.record = record,
            .run = view(*record),
            .result = {},
            .label = {},
            .machine = machine_of(*record),
            .point = point == points.end() ? nullptr : point->second,
            .stands_in = stand_in == stand_ins.end() ? nullptr : stand_in->second};
    cell.result = cell.point ? cell.point->cell : summarize(cell.run);
  });
  std::ranges::stable_sort(cells, [](const ReportCell& a, const ReportCell& b) { return order(a) < order(b); });
  set_labels(cells);
  return cells;
}

std::vector<ReportCell> drawn(std::span<const ReportCell> cells) {
  std::vector<ReportCell> out;
  for (const ReportCell& cell : cells)
    if (!cell.stands_in) out.push_back(cell);
  return out;
}

std::vector<ReportCell> best_first(std::span<const ReportCell> cells) {
  std::vector<ReportCell> out = drawn(cells), others;
  for (const ReportCell& cell : cells)
    if (cell.stands_in) others.push_back(cell);
  std::ranges::stable_sort(others, [](const ReportCell& a, const ReportCell& b) {
    return better({a.record, &a.result}, {b.record, &b.result});
  });
  std::ranges::move(others, std::back_inserter(out));
  return out;
}

Content report_content(const ReportInput& input) {
  Content content;
  content.left_out.assign(input.left_out.begin(), input.left_out.end());
  content.networks = input.networks;
  content.sweeps = sweeps(input.records);
  content.cells = report_cells(input.records, content.sweeps);
  content.machines = machines_of(content.cells);
  return content;
}

std::string machine_name(std::span<const std::string> machines, const std::string& machine) {
  if (machines.size() < 2) return "";
  const auto at = std::ranges::find(machines, machine) - machines.begin();
  return at < 26 ? cat("machine ", static_cast<char>('A' + at)) : cat("machine ", at + 1);
}

std::vector<const ReportCell*> chosen(std::span<const ReportCell* const> cells, size_t most) {
  if (cells.size() <= most) return {cells.begin(), cells.end()};
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> queues;  // of model and framework
  for (size_t i = 0; i < cells.size(); ++i) {
    const MeasuredWorkload& w = cells[i]->record->run.workload;
    queues[{w.framework, w.model}].push_back(i);
  }
  for (auto& [key, queue] : queues)
    std::ranges::stable_sort(queue, std::greater(), [&](size_t i) {
      return std::pair(cells[i]->result["throughput"].value.has_value(), cells[i]->record->run.workload.batch);
    });
  std::vector<size_t> taken;
  for (size_t round = 0; taken.size() < most; ++round)
    for (const auto& [key, queue] : queues)
      if (round < queue.size() && taken.size() < most) taken.push_back(queue[round]);
  std::ranges::sort(taken);
  std::vector<const ReportCell*> out;
  for (const size_t i : taken) out.push_back(cells[i]);
  return out;
}

std::string folded_note(size_t shown, size_t all, std::string_view where) {
  if (shown >= all) return "";
  return cat("<p class=\"note\">", shown, " of ", grouped(static_cast<int64_t>(all)),
             " workloads are drawn here: the largest batches, models and frameworks in turn. ", where, "</p>\n");
}

std::vector<std::vector<CellResult>> by_machine(std::span<const ReportCell> cells) {
  std::map<std::string, std::vector<CellResult>> groups;
  for (const ReportCell& cell : drawn(cells)) groups[cell.machine].push_back(cell.result);
  std::vector<std::vector<CellResult>> out;
  for (auto& [machine, results] : groups) out.push_back(std::move(results));
  return out;
}

}  // namespace tbd
