#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "measure/host_sampler.h"

namespace tbd {
namespace {

// Children by the kernel's own list; nullopt where it was built without (CONFIG_PROC_CHILDREN).
std::optional<std::vector<pid_t>> listed_children(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code error;
  bool readable = false;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(parent) + "/task", error)) {
    const auto text = read_system_file(task.path().string() + "/children");
    if (!text) continue;
    readable = true;
    for (const std::string& word : split(*text, ' '))
      if (const auto pid = parse_int(word)) children.push_back(static_cast<pid_t>(*pid));
  }
  if (!readable) return std::nullopt;
  return children;
}

// Children by looking at every process.
std::vector<pid_t> searched_children(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const auto pid = parse_int(entry.path().filename().string());
    if (!pid) continue;
    const auto text = read_system_file(entry.path().string() + "/stat");
    const auto stat = text ? parse_process_stat(*text) : std::nullopt;
    if (stat && stat->parent == parent) children.push_back(static_cast<pid_t>(*pid));
  }
  return children;
}

}  // namespace

std::vector<pid_t> process_tree(pid_t root) {
  std::vector<pid_t> tree{root};
  for (size_t i = 0; i < tree.size(); ++i) {
    const auto listed = listed_children(tree[i]);
    const std::vector<pid_t> children = listed ? *listed : searched_children(tree[i]);
    for (const pid_t child : children)
      if (std::find(tree.begin(), tree.end(), child) == tree.end()) tree.push_back(child);
  }
  return tree;
}

}  // namespace tbd
