#include "cli/command.h"

#include <algorithm>
#include <new>
#include <ostream>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/visible.h"

namespace tbd::cli {
namespace {

int usage_error(Context& context, const std::string& command, const std::string& sentence) {
  context.err << "tbd: error: " << sentence << "\n";
  context.err << "See 'tbd " << command << " --help'.\n";
  return kBadUsage;
}

void print_commands(Context& context, const std::vector<std::unique_ptr<Command>>& commands) {
  context.out << "tbd trains representative neural networks in several deep-learning frameworks and measures how well\n"
                 "the machine is used.\n\nUsage: tbd COMMAND [OPTIONS]\n\nCommands:\n";
  for (const auto& command : commands) {
    if (command->hidden()) continue;
    std::string name = command->name();
    name.resize(12, ' ');
    context.out << "  " << name << command->summary() << "\n";
  }
  context.out << "\n'tbd COMMAND --help' explains a command, its units and defaults. Results go to stdout, all else to "
                 "stderr.\nExit codes: 0 done, at least one workload has a number; 1 a requested verdict failed; "
                 "2 bad usage,\nnothing was run; 3 no workload has a number, one failed, or the run was interrupted.\n";
}

int run_command(Context& context, Command& command, std::vector<std::string> arguments) {
  Options options;
  command.declare(options);
  const Parsed parsed = parse(options, command.name(), command.summary(), std::move(arguments));
  if (!parsed.misuse.empty()) return usage_error(context, command.name(), parsed.misuse);
  if (!parsed.help.empty()) {
    context.out << parsed.help;
    return kDone;
  }
  return command.run(context);
}

}  // namespace

int exit_code_of(const Error& error) {
  const bool misuse =
      error.kind() == ErrorKind::usage || error.kind() == ErrorKind::not_found || error.kind() == ErrorKind::invalid;
  return misuse ? kBadUsage : kCellFailed;
}

void OutputOptions::declare(Options& options) {
  options.option("--format", format, "Output format: table, md, csv or json (one object per line)",
                 {.show_default = true});
  options.flag("--json", json, "Same as --format json");
  options.flag("--quiet", quiet, "Print no progress on stderr");
}

Format OutputOptions::table_format() const { return json ? Format::json : format_from(format); }

void print_tables(Context& context, const std::vector<Table>& tables, Format format) {
  for (const Table& table : tables) {
    if (&table != &tables.front() && format != Format::json) context.out << "\n";
    if (format == Format::csv) context.out << "# " << table.title << "\n";
    context.out << print(table, format, context.width);
  }
}

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_quickstart());
  commands.push_back(make_setup());
  commands.push_back(make_list());
  commands.push_back(make_describe());
  commands.push_back(make_run());
  commands.push_back(make_exec());
  commands.push_back(make_profile());
  commands.push_back(make_memory());
  commands.push_back(make_step());
  commands.push_back(make_train());
  commands.push_back(make_evaluate());
  commands.push_back(make_selfplay());
  commands.push_back(make_gtp());
  commands.push_back(make_check());
  commands.push_back(make_link());
  commands.push_back(make_compare());
  commands.push_back(make_ab());
  commands.push_back(make_tune());
  commands.push_back(make_baseline());
  commands.push_back(make_history());
  commands.push_back(make_predict());
  commands.push_back(make_observe());
  commands.push_back(make_report());
  commands.push_back(make_explain());
  commands.push_back(make_verify());
  commands.push_back(make_analyze());
  commands.push_back(make_import());
  commands.push_back(make_export());
  commands.push_back(make_data());
  commands.push_back(make_doctor());
  commands.push_back(make_gpu_peaks());
  commands.push_back(make_at_seat());
  return commands;
}

int run_program(Context& context) {
  const VisibleText visible(context.err);
  const std::vector<std::unique_ptr<Command>> commands = all_commands();
  const std::vector<std::string>& arguments = context.arguments;
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    print_commands(context, commands);
    return arguments.empty() ? kBadUsage : kDone;
  }
  if (arguments[0] == "--version") {
    context.out << "tbd " << TBD_VERSION << "\n";
    return kDone;
  }
  std::vector<std::string> names;
  for (const auto& command : commands) {
    if (!command->hidden()) names.push_back(command->name());
    if (command->name() != arguments[0]) continue;
    try {
      return run_command(context, *command, {arguments.begin() + 1, arguments.end()});
    } catch (const Error& e) {
      context.err << "tbd: error: " << e.what() << "\n";
      return exit_code_of(e);
    } catch (const std::filesystem::filesystem_error& e) {
      context.err << "tbd: error: " << e.code().message() << ": " << e.path1().string() << "\n";
      return kCellFailed;
    } catch (const std::bad_alloc&) {
      context.err << "tbd: error: " << arguments[0] << " needs more memory than is available\n";
      return kCellFailed;
    } catch (const std::exception& e) {  // a worker's fault without a row to say it in, an interrupt among them
      context.err << "tbd: error: " << e.what() << "\n";
      return kCellFailed;
    }
  }
  context.err << "tbd: error: " << unknown_name("command", arguments[0], names) << "\n";
  return kBadUsage;
}

}  // namespace tbd::cli
