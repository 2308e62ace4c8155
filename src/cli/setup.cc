// tbd setup: done by the script before this program exists; here only its help.
#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "record/frameworks.h"

namespace tbd::cli {
namespace {

class Setup final : public Command {
 public:
  std::string name() const override { return "setup"; }
  std::string summary() const override { return "Set up and build, nothing else: for images and login nodes"; }
  void declare(Options& options) override {
    options.flag("--yes", yes_, "Do not ask before anything is installed or downloaded");
    options.flag("--offline", offline_, "Use the cache alone");
    options.flag("--verify", verify_, "Check every cached file against its hash");
    options.option("--frameworks", frameworks_,
                   cat("none, or of ", known_framework_names(), ", NAME@VERSION, NAME@DIR a list with commas"),
                   {.show_default = true});
    options.flag("--text", text_, "Make the small text data sets, too");
    options.flag("--speech", speech_, "Make the small set of recordings, too");
    options.flag("--games", games_, "Make the small set of games of Go, too");
  }
  int run(Context&) override {
    fail(ErrorKind::usage, "setup is done by the script 'tbd' at the root of the repository: run './tbd setup'");
  }

 private:
  bool yes_ = false, offline_ = false, verify_ = false, text_ = false, speech_ = false, games_ = false;
  std::string frameworks_ = known_framework_names(",");
};

}  // namespace

std::unique_ptr<Command> make_setup() { return std::make_unique<Setup>(); }

}  // namespace tbd::cli
