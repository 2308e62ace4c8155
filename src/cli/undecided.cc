#include "cli/undecided.h"

#include <algorithm>
#include <exception>
#include <ostream>
#include <string>

#include "analysis/observations/observations.h"
#include "base/text.h"
#include "record/reader.h"

namespace tbd::cli {
namespace fs = std::filesystem;
namespace {

std::string listed(const std::vector<int>& numbers) {
  std::vector<std::string> words;
  for (const int each : numbers) words.push_back(std::to_string(each));
  return join(words, ", ");
}

}  // namespace

std::vector<UndecidedRecord> undecided_records(Context& context, const fs::path& set, bool quiet) {
  std::vector<UndecidedRecord> undecided;
  try {
    std::vector<UnreadableRecord> unreadable;
    const std::vector<Record> records = read_records(std::span(&set, 1), unreadable);
    const OpenRecords open = open_records(observe(sweeps(records)));
    for (const Record& record : records)
      if (const auto of = std::ranges::find(open.records, record.hash, &OpenRecord::hash); of != open.records.end())
        undecided.push_back({.folder = record.folder, .passes = of->passes});
    if (!quiet && !undecided.empty())
      context.err << "undecided so far: " << (open.observations.size() == 1 ? "observation " : "observations ")
                  << listed(open.observations) << "; further launches of " << undecided.size()
                  << (undecided.size() == 1 ? " workload" : " workloads") << " come first\n";
  } catch (const std::exception& e) {
    if (!quiet) context.err << "tbd: what is undecided is not known: " << e.what() << "\n";
  }
  return undecided;
}

}  // namespace tbd::cli
