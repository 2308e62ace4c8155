// Hands a command's options to CLI11, and what CLI11 throws back as sentences. No other file includes CLI11: it takes
// seconds of every compilation.
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <type_traits>

#include "base/error.h"
#include "base/workload_words.h"

namespace tbd::cli {
namespace {

void add(CLI::App& app, const Option& option) {
  CLI::Option* added = std::visit(
      [&](auto* variable) {
        if constexpr (std::is_same_v<decltype(variable), bool*>)
          return app.add_flag(option.names, *variable, option.help);
        else
          return app.add_option(option.names, *variable, option.help);
      },
      option.variable);
  const OptionTraits& traits = option.traits;
  if (traits.required) added->required();
  if (traits.show_default) added->capture_default_str();
  if (traits.separator != '\0') added->delimiter(traits.separator);
  if (traits.one_argument) added->allow_extra_args(false);
}

// "unknown option '--bach', did you mean '--batch'?"
std::string unexpected(const CLI::App& app, const std::string& argument) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  if (argument.starts_with("-")) return unknown_name("option", split(argument, '=')[0], known);
  return cat("unexpected argument '", argument, "'");
}

}  // namespace

Parsed parse(const Options& options, const std::string& command, const std::string& summary,
             std::vector<std::string> arguments) {
  CLI::App parent("tbd");
  CLI::App& app = *parent.add_subcommand(command, summary);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.get_formatter()->column_width(34);
  for (const Option& option : options.all()) add(app, option);
  arguments.insert(arguments.begin(), command);
  std::ranges::reverse(arguments);  // CLI11 takes them last first
  try {
    parent.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return {.help = app.help()};
  } catch (const CLI::ExtrasError& e) {
    const std::vector<std::string> extras = app.remaining();
    return {.misuse = cat(command, ": ", extras.empty() ? e.what() : unexpected(app, extras[0]))};
  } catch (const CLI::ParseError& e) {
    return {.misuse = cat(command, ": ", e.what())};
  }
  return {};
}

}  // namespace tbd::cli
