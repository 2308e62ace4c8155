#include "cli/locations.h"

#include <algorithm>
#include <csignal>
#include <ostream>

#include "base/error.h"
#include "base/text.h"
#include "cli/small_sets.h"

namespace tbd::cli {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;
void note(int) { interrupt_seen = 1; }

}  // namespace

void note_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup(1) has it ignored
}

bool interrupted() { return interrupt_seen != 0; }

RunnerSettings runner_settings(const Context& context) {
  RunnerSettings settings;
  const auto named = context.environment.find("TBD_WORKERS");
  const std::filesystem::path registry =
      named == context.environment.end() ? context.build_folder / "workers.json" : std::filesystem::path(named->second);
  settings.workers = read_workers(registry);
  settings.program = context.program;
  settings.cache = context.cache_folder;
  settings.environment = context.environment;
  settings.tool = cat("tbd ", TBD_VERSION);
  settings.interrupted = interrupted;
  settings.notice = [&err = context.err, begin = context.err_is_terminal ? "\n" : ""](const std::string& sentence) {
    err << begin << "tbd: " << sentence << std::endl;
  };
  return settings;
}

std::filesystem::path photographs(const Context& context) {
  const std::filesystem::path folder = context.cache_folder / "data" / "photos";
  return std::filesystem::is_directory(folder / "train") ? folder : std::filesystem::path();
}

std::filesystem::path small_set(const Context& context, std::string_view name) {
  const std::filesystem::path folder = context.cache_folder / "data" / name;
  std::error_code none;
  return std::filesystem::exists(folder / "data.json", none) ? folder : std::filesystem::path();
}

std::string data_folder(const Context& context, const std::string& named) {
  std::error_code none;
  if (named.empty() || named.find('/') != std::string::npos || std::filesystem::exists(named, none)) return named;
  const std::filesystem::path made = small_set(context, named);
  return made.empty() ? named : made.string();
}

void find_data(const Context& context, std::vector<Workload>& cells) {
  for (Workload& cell : cells) cell.data = data_folder(context, cell.data);
}

std::vector<std::string> plan_names(const Context& context) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(context.source_folder / "plans", none))
    if (entry.path().extension() == ".plan") names.push_back("plans/" + entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::filesystem::path plan_file(const Context& context, const std::string& named) {
  if (std::filesystem::exists(named)) return named;
  const std::vector<std::string> shipped = plan_names(context);
  for (const std::string& name : {named, "plans/" + named, "plans/" + named + ".plan"})
    if (std::ranges::find(shipped, name) != shipped.end()) return context.source_folder / name;
  if (named.find('/') != std::string::npos || shipped.empty())
    fail(ErrorKind::not_found, "plan ", named, " does not exist");
  std::vector<std::string> known;
  for (const std::string& name : shipped) known.push_back(std::filesystem::path(name).filename().string());
  fail(ErrorKind::not_found, "file ", named, " does not exist: ", unknown_name("plan", named, known));
}

}  // namespace tbd::cli
