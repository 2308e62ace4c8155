#include <poll.h>
#include <unistd.h>

#include <map>

#include <csignal>
#include <iostream>

#include "cli/command.h"
#include "cli/screen.h"

extern char** environ;

namespace {

std::map<std::string, std::string> read_environment() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

std::filesystem::path cache_folder(const std::map<std::string, std::string>& environment) {
  const auto get = [&](const char* key) {
    const auto found = environment.find(key);
    return found == environment.end() ? std::string() : found->second;
  };
  if (const std::string cache = get("XDG_CACHE_HOME"); !cache.empty()) return std::filesystem::path(cache) / "tbd";
  return std::filesystem::path(get("HOME")) / ".cache" / "tbd";
}

// Whoever read stdout has closed it (`tbd list | head -1`): it has what it wanted.
bool nobody_reads_stdout() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a worker that dies, or a closed pager, is an error to report, not a death
  const std::map<std::string, std::string> environment = read_environment();
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const bool out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const auto columns = environment.find("COLUMNS");
  const std::string said = columns == environment.end() ? "" : columns->second;
  const bool err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  tbd::cli::Context context{
      .out = std::cout,
      .err = std::cerr,
      .out_is_terminal = out_is_terminal,
      .err_is_terminal = err_is_terminal,
      .colour = err_is_terminal && !environment.contains("NO_COLOR"),
      .width = out_is_terminal ? tbd::cli::terminal_columns(STDOUT_FILENO, said) : tbd::kUnbounded,
      .environment = environment,
      .program = program,
      .build_folder = program.parent_path().parent_path(),
      .cache_folder = cache_folder(environment),
      .source_folder = TBD_SOURCE_DIR,
      .arguments = {argv + 1, argv + argc},
  };
  const int code = tbd::cli::run_program(context);
  std::cout.flush();
  if (!std::cout && !nobody_reads_stdout()) {
    std::cerr << "tbd: error: cannot write the result to stdout\n";
    return tbd::cli::kCellFailed;
  }
  return code;
}
