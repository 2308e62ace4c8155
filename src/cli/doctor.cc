// tbd doctor: what can be measured here, and why not the rest; probes every worker anew.
#include "measure/doctor.h"

#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/launchers.h"
#include "cli/locations.h"
#include "cli/screen.h"
#include "record/frameworks.h"
#include "runner/allocators.h"
#include "runner/emulated_links.h"

namespace tbd::cli {
namespace {

std::string item_of(const std::string& key, std::string_view framework) {
  const std::string note = framework_note(framework);
  return cat("framework ", key, note.empty() ? "" : cat(" (", note, ")"));
}

std::vector<TableCell> worker_row(const WorkerEntry& entry, const RunnerSettings& settings) {
  const std::string item = item_of(entry.key, entry.framework);
  try {
    const protocol::HelloReply can = probe_worker(entry, settings);
    const auto blas = can.build.find("blas");  // where the framework may have one or another
    return {item, true,
            cat(can.framework_version, " on ", join(texts(can.devices), ", "), ": ", join(texts(can.precisions), " "),
                blas == can.build.end() ? "" : cat("; products by ", blas->second)),
            ""};
  } catch (const Error& e) {
    return {item, false, std::string(e.what()), cat("./tbd setup --verify --frameworks ", entry.key)};
  }
}

// Between two ranks, made and ended here.
std::vector<TableCell> links_row(const RunnerSettings& settings) {
  const auto lacking = [&](const char* link) -> std::string {
    try {
      (void)EmulatedLinks(Link(link), 2, settings.environment);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  const std::string rate = lacking("1Gbit"), item = "link emulation";
  if (!rate.empty()) return {item, false, rate, std::string("install iproute2, allow user namespaces, or run as root")};
  const std::string delay = lacking("1Gbit+1ms");
  return {item, true, delay.empty() ? std::string("rates and delays") : cat("rates; ", delay), std::string()};
}

// That are found in PATH; engines of several workers trust whoever reaches them.
std::vector<TableCell> launchers_row(const RunnerSettings& settings) {
  const std::vector<std::string> found = found_launchers(settings.environment);
  const std::string item = "launchers",
                    open = "workers' ports trust whoever reaches them: keep them within the cluster";
  if (found.empty())
    return {item, false, std::string("workers on this machine alone"),
            std::string("for more: torchrun, mpirun, srun or ssh in PATH")};
  return {item, true, cat(join(found, ", "), "; ", open), std::string()};
}

// Each word of the axis; the first is what a worker has by itself.
void add_allocator_rows(const RunnerSettings& settings, Table& table) {
  const std::vector<std::string> folders = library_folders(settings);
  for (const Allocator& allocator : Allocator::kKnown) {
    if (allocator == Allocator::kStock) continue;
    const std::optional<std::string> library = allocator_library(allocator, folders);
    const std::string found = !library           ? "not installed"
                              : library->empty() ? "the C library's, told to keep what is freed"
                                                 : *library;
    table.rows.push_back(
        {cat("allocator ", allocator), library.has_value(), found, library ? "" : allocator_install(allocator)});
  }
}

Table all_rows(const Context& context) {
  Table table{.title = "What can be measured here",
              .columns = {{"item", "item"}, {"available", "available"}, {"reason", "found"}, {"remedy", "remedy"}},
              .rows = {},
              .notes = {}};
  const RunnerSettings settings = runner_settings(context);
  for (const WorkerEntry& entry : settings.workers) table.rows.push_back(worker_row(entry, settings));
  for (const KnownFramework& known : known_frameworks())
    if (std::ranges::find(settings.workers, known.name, &WorkerEntry::framework) == settings.workers.end())
      table.rows.push_back({item_of(std::string(known.name), known.name), false,
                            absence_reason(known.name, context.build_folder),
                            cat("./tbd setup --frameworks ", known.name)});
  for (const DoctorRow& row : doctor_rows())
    table.rows.push_back({row.item, row.available, row.available ? row.detail : row.reason, row.remedy});
  table.rows.push_back(links_row(settings));
  table.rows.push_back(launchers_row(settings));
  add_allocator_rows(settings, table);
  const bool photos = !photographs(context).empty();
  table.rows.push_back({std::string("photographs"), photos, std::string(photos ? "made" : "not made"),
                        std::string(photos ? "" : "./tbd setup")});
  return table;
}

// Available, and nothing to remedy.
bool is_well(const std::vector<TableCell>& row) {
  return std::get<bool>(row[1]) && std::get<std::string>(row[3]).empty();
}

// A row for each item that is missing or limited, one line for all others.
void print_short(Context& context, Table table, Format format) {
  std::vector<std::string> well;
  for (const auto& row : table.rows)
    if (is_well(row)) well.push_back(std::get<std::string>(row[0]));
  std::erase_if(table.rows, is_well);
  table.title = "Missing or limited here";
  if (!table.rows.empty()) context.out << print(table, format, context.width) << "\n";
  const std::string line = cat("Available: ", join(well, ", "), ". 'tbd doctor --all' shows how each is measured.");
  context.out << join(wrap(line, width_of(format, context.width)), "\n") << "\n";
}

class Doctor final : public Command {
 public:
  std::string name() const override { return "doctor"; }
  std::string summary() const override { return "Show what can be measured on this machine, and why the rest cannot"; }

  void declare(Options& options) override {
    options.flag("--all", all_, "Also show how each available item is measured");
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    const Table table = all_rows(context);
    if (all_ || format == Format::json || format == Format::csv)
      context.out << print(table, format, context.width);
    else
      print_short(context, table, format);
    return kDone;
  }

 private:
  bool all_ = false;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace tbd::cli
