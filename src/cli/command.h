// A sub-command: its name, help and options are data; `run` does the work and returns the exit code.
// Only this room prints results, exits or reads the environment.
#pragma once
#include <filesystem>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/fit.h"
#include "cli/options.h"

namespace tbd {
class Error;
}

namespace tbd::cli {

// docs/command-line.md.
constexpr int kDone = 0, kVerdictFailed = 1, kBadUsage = 2, kCellFailed = 3;
int exit_code_of(const Error& error);

// What the process was given, read once in main.
struct Context {
  std::ostream& out;  // results alone
  std::ostream& err;  // all else
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool colour = false;        // a terminal, and NO_COLOR unset
  size_t width = kUnbounded;  // of stdout's terminal
  std::map<std::string, std::string> environment;
  std::filesystem::path program;        // this executable
  std::filesystem::path build_folder;   // holds bin/, workers.json
  std::filesystem::path cache_folder;   // XDG cache of tbd
  std::filesystem::path source_folder;  // the clone: plans/
  std::vector<std::string> arguments;   // as given, without the program's name
};

// Options that several commands share.
struct OutputOptions {
  std::string format = "table";  // table, md, csv, json
  bool json = false;             // the same as --format json
  bool quiet = false;
  void declare(Options& options);
  Format table_format() const;  // throws Error(usage) with the nearest names
  bool is_json() const { return json || format == "json"; }
};

// The tables one after the other, each with its title where the format has none of its own.
void print_tables(Context& context, const std::vector<Table>& tables, Format format);

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;       // one line, for `tbd --help`
  virtual bool hidden() const { return false; }  // from `tbd --help`: for the program itself
  virtual void declare(Options& options) = 0;    // options, with units and defaults in their help
  virtual int run(Context& context) = 0;
};

// One row per command, in the order of `tbd --help`.
std::vector<std::unique_ptr<Command>> all_commands();

// Parses and runs; returns the exit code. Errors become one sentence on context.err.
int run_program(Context& context);

}  // namespace tbd::cli
