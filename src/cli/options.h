// The options of a command as data: names, help texts and the variables that the command line fills.
// options.cc alone knows the parser.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tbd {
struct Device;
struct ExchangeMode;
struct ImageLayout;
struct Mode;
struct Precision;
}  // namespace tbd
namespace tbd::cli {

// What an argument fills: a flag a bool, an option one of the others. Where it is not given, the variable keeps its
// default, and an optional stays empty.
using Variable = std::variant<bool*, int64_t*, std::string*, std::optional<int32_t>*, std::optional<int64_t>*,
                              std::optional<std::string>*, std::vector<int>*, std::vector<std::string>*, Precision*,
                              Device*, ExchangeMode*, ImageLayout*, Mode*>;

struct OptionTraits {
  bool required = false;
  bool show_default = false;  // in the help: what the variable holds when it is declared
  char separator = '\0';      // between the values of a list in one argument: "a,b"
  bool one_argument = false;  // a list takes one argument each time it is named: positionals may follow
};

struct Option {
  std::string names;  // "MODEL", "--seed", "--html,--out"
  Variable variable;
  std::string help;
  OptionTraits traits;
};

class Options {
 public:
  template <class T>
  void positional(std::string name, T& variable, std::string help, OptionTraits traits = {}) {
    all_.push_back({std::move(name), &variable, std::move(help), traits});
  }
  template <class T>
  void option(std::string names, T& variable, std::string help, OptionTraits traits = {}) {
    all_.push_back({std::move(names), &variable, std::move(help), traits});
  }
  void flag(std::string names, bool& variable, std::string help) {
    all_.push_back({std::move(names), &variable, std::move(help), {}});
  }
  const std::vector<Option>& all() const { return all_; }

 private:
  std::vector<Option> all_;  // in the order of the help
};

// How reading a command's arguments ended; both are empty where all is well.
struct Parsed {
  std::string help;    // the text, where it was asked for
  std::string misuse;  // one sentence: "run: unknown option '--bach', did you mean '--batch'?"
};
// Fills the variables.
Parsed parse(const Options& options, const std::string& command, const std::string& summary,
             std::vector<std::string> arguments);

}  // namespace tbd::cli
