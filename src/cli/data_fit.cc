#include "cli/data_fit.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "data/folder_listing.h"
#include "graph/graph.h"
#include "models/model.h"

namespace tbd::cli {
namespace {

// Of a network that gives images one of some labels; nullopt for any other.
std::optional<int64_t> classes_of(const Program& program) {
  std::optional<int64_t> classes;
  for (const Phase& phase : program.phases) {
    const Graph graph = bind(program, phase, {{"N", 2}});
    const auto image = graph.find("image"), label = graph.find("label");
    if (image && label && graph.value(*label).shape.rank() == 1) classes = integer_range(graph, *label).last + 1;
  }
  return classes;
}

// The class folders of list_image_folder, without their files, which may be millions.
int64_t class_folders(const std::filesystem::path& data) {
  const std::filesystem::directory_iterator entries(split_root(data, Split::train));
  return std::count_if(begin(entries), end(entries), [](const std::filesystem::directory_entry& entry) {
    return entry.is_directory() && !entry.path().filename().string().starts_with(".");
  });
}

}  // namespace

void require_classes_fit(const std::vector<Workload>& cells) {
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const Workload& cell : cells) {
    if (!std::filesystem::is_directory(cell.data) || !seen.emplace(cell.model, cell.config, cell.data).second) continue;
    const LoadedProgram loaded = load_program(cell.model, cell.config);
    const std::optional<int64_t> classes = classes_of(loaded.program);
    if (!classes) continue;
    int64_t folders = 0;
    try {
      folders = class_folders(cell.data);
    } catch (const std::exception&) {  // the worker says what is wrong with it
      continue;
    }
    if (folders > *classes)
      fail(ErrorKind::usage, cell.data, " has ", folders, " class folders, but ", cell.model, " (",
           loaded.program.config, ") has ", *classes, " classes: choose data with no more classes or another --config");
  }
}

}  // namespace tbd::cli
