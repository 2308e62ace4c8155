#include "cli/analyze_files.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "analysis/trace/mllog_tables.h"
#include "analysis/trace/trace_tables.h"
#include "base/error.h"
#include "trace/import/import.h"

namespace tbd::cli {
namespace {

void collect_folder(const std::filesystem::path& folder, std::vector<std::filesystem::path>& out) {
  constexpr auto kOptions = std::filesystem::directory_options::skip_permission_denied;
  const size_t before = out.size();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, kOptions))
    if (entry.is_regular_file() && entry.path().filename() == "trace.tbdt") out.push_back(entry.path());
  require(out.size() > before, folder.string(), " is a folder without a trace.tbdt");
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
}

std::string counted(int64_t faults) { return faults == 1 ? "1 kind of fault" : cat(faults, " kinds of faults"); }

void analyze_file(Context& context, const std::filesystem::path& path, TraceWindow window, bool quiet,
                  AnalyzedTraces& out) {
  Trace trace;
  import_trace(path, trace);
  const size_t before = out.ranks.size();
  std::string nothing = "it has no event";
  for (const int32_t rank : ranks_of(trace)) {
    try {
      out.ranks.push_back(analyze_rank(trace, rank, window));
    } catch (const Error& e) {
      nothing = e.what();
    }
  }
  const std::span<const RankAnalysis> own(out.ranks.begin() + static_cast<std::ptrdiff_t>(before), out.ranks.end());
  Table faults = fault_table(trace, own);
  if (own.empty() && !trace.faults().empty())
    nothing += cat("; ", trace.faults()[0].what, " (", trace.faults()[0].first, ")");
  require(!own.empty(), path.string(), ": ", nothing);
  if (faults.rows.empty()) return;
  if (!quiet)
    context.err << path.string() << ": " << counted(static_cast<int64_t>(faults.rows.size()))
                << ", first: " << std::get<std::string>(faults.rows[0][0]) << "\n";
  faults.title = cat("Lost or inconsistent in ", path.filename().string());
  out.faults.push_back(std::move(faults));
}

void settle_ranks(Context& context, bool quiet, std::vector<RankAnalysis>& ranks) {
  std::set<int32_t> numbers;
  for (const RankAnalysis& rank : ranks) numbers.insert(rank.rank);
  if (numbers.size() < ranks.size()) {
    int32_t next = 0;
    for (RankAnalysis& rank : ranks) rank.rank = next++;
    if (!quiet) context.err << "ranks that the files name clash: they are numbered in the order given\n";
    return;
  }
  std::ranges::sort(ranks, {}, &RankAnalysis::rank);
  const auto last = static_cast<size_t>(*numbers.rbegin());
  if (!quiet && ranks.size() > 1 && last + 1 > ranks.size())
    context.err << "of ranks 0 to " << last << " only " << ranks.size() << " are there\n";
}

}  // namespace

std::vector<Table> mllog_tables_of(std::vector<std::string>& paths) {
  std::vector<Table> tables;
  std::erase_if(paths, [&](const std::string& path) {
    if (!std::filesystem::is_regular_file(path) || !is_mllog(path)) return false;
    for (Table& table : mllog_tables(read_mllog(*open_source(path)))) {
      table.title += cat(", ", std::filesystem::path(path).filename().string());
      tables.push_back(std::move(table));
    }
    return true;
  });
  return tables;
}

std::vector<std::filesystem::path> trace_paths(const std::vector<std::string>& arguments) {
  std::vector<std::filesystem::path> out;
  for (const std::string& argument : arguments) {
    if (std::filesystem::is_directory(argument))
      collect_folder(argument, out);
    else
      out.emplace_back(argument);
  }
  return out;
}

AnalyzedTraces analyzed(Context& context, const std::vector<std::string>& paths, TraceWindow window, bool quiet) {
  AnalyzedTraces out;
  for (const std::filesystem::path& path : trace_paths(paths)) analyze_file(context, path, window, quiet, out);
  settle_ranks(context, quiet, out.ranks);
  return out;
}

}  // namespace tbd::cli
