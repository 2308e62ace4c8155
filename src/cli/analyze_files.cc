#include "cli/analyze_files.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "analysis/trace/mllog_tables.h"
#include "analysis/trace/trace_tables.h"
#include "base/error.h"
#include "base/json.h"
#include "trace/import/import.h"

namespace tbd::cli {
namespace {

constexpr int64_t kMostRanks = 1 << 20;

void collect_folder(const std::filesystem::path& folder, std::vector<std::filesystem::path>& out) {
  constexpr auto kOptions = std::filesystem::directory_options::skip_permission_denied;
  const size_t before = out.size();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, kOptions))
    if (entry.is_regular_file() && entry.path().filename() == "trace.tbdt") out.push_back(entry.path());
  require(out.size() > before, folder.string(), " has no trace.tbdt");
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
}

// The world size that torch's distributedInfo names; 0 where it names none.
int32_t world_size_of(const Trace& trace) {
  const auto found = trace.facts.find("distributedInfo");
  if (found == trace.facts.end()) return 0;
  try {
    const Json size = parse_json(found->second, "distributedInfo").value("world_size", Json());
    return size.is_number_unsigned() && size <= kMostRanks ? size.get<int32_t>() : 0;
  } catch (const std::exception&) {  // no object: the importer said so where it read it
    return 0;
  }
}

std::string counted(int64_t faults) { return faults == 1 ? "1 kind of fault" : cat(faults, " kinds of faults"); }

void analyze_file(Context& context, const std::filesystem::path& path, TraceWindow window, bool quiet,
                  AnalyzedTraces& out) {
  Trace trace;
  import_trace(path, trace);
  out.world_size = std::max(out.world_size, world_size_of(trace));
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

// False when the numbers that the files name clash.
bool settle_ranks(Context& context, bool quiet, std::vector<RankAnalysis>& ranks) {
  std::set<int32_t> numbers;
  for (const RankAnalysis& rank : ranks) numbers.insert(rank.rank);
  if (numbers.size() < ranks.size()) {
    int32_t next = 0;
    for (RankAnalysis& rank : ranks) rank.rank = next++;
    if (!quiet) context.err << "several files name the same rank: ranks are numbered in the given order\n";
    return false;
  }
  std::ranges::sort(ranks, {}, &RankAnalysis::rank);
  return true;
}

// "2, 4 to 7"; what is not among `numbers` below `world`.
std::string missing_ranks(const std::set<int32_t>& numbers, int32_t world) {
  std::string out;
  int32_t next = 0;
  const auto up_to = [&](int32_t end) {
    if (next < end) out += cat(out.empty() ? "" : ", ", next, end - next > 1 ? cat(" to ", end - 1) : std::string());
  };
  for (const int32_t number : numbers) {
    if (number >= world) break;
    up_to(number);
    next = number + 1;
  }
  up_to(world);
  return out;
}

// How many ranks the traces say there are, or as many as their numbers need.
void name_missing_ranks(Context& context, bool quiet, AnalyzedTraces& traces) {
  std::set<int32_t> numbers;
  for (const RankAnalysis& rank : traces.ranks) numbers.insert(rank.rank);
  if (numbers.empty() || *numbers.rbegin() == INT32_MAX) return;
  const int32_t needed = numbers.size() > 1 ? *numbers.rbegin() + 1 : 0;
  const int32_t world = std::max(traces.world_size, needed);
  const std::string missing = missing_ranks(numbers, world);
  if (missing.empty() || *numbers.begin() < 0) return;
  const auto count = int64_t{world} - static_cast<int64_t>(numbers.size());
  if (!quiet)
    context.err << "of ranks 0 to " << world - 1 << " only " << numbers.size() << (numbers.size() == 1 ? " is" : " are")
                << " there; missing: " << missing << "\n";
  Table table{.title = "Ranks that are missing"};
  table.columns = {{"what", "what"}, {"count", "count", Unit::count}, {"first", "which"}};
  table.rows.push_back({cat("ranks of ", world, " without a trace"), count, missing});
  traces.faults.push_back(std::move(table));
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
  if (settle_ranks(context, quiet, out.ranks)) name_missing_ranks(context, quiet, out);
  return out;
}

}  // namespace tbd::cli
