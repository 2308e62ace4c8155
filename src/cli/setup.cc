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
  std::string summary() const override { return "Set up and build only, for container images and login nodes"; }
  void declare(Options& options) override {
    options.flag("--yes", yes_, "Install and download without asking");
    options.flag("--offline", offline_, "Use only the cache");
    options.flag("--verify", verify_, "Check every cached file against its hash");
    options.option("--frameworks", frameworks_,
                   cat("Comma-separated list of ", known_framework_names(), ", NAME@VERSION and NAME@DIR, or none"),
                   {.show_default = true});
    options.option("--device", device_, "Of what is run then: for cpu, nothing is fetched that only GPUs need",
                   {.show_default = true});
    options.flag("--text", text_, "Also make the small text data sets");
    options.flag("--speech", speech_, "Also make the small set of recordings");
    options.flag("--detection", detection_, "Also make the small set of pictures with boxes and masks");
    options.flag("--games", games_, "Also make the small set of Go games");
  }
  int run(Context&) override {
    fail(ErrorKind::usage, "the script 'tbd' at the root of the repository does the set-up: run './tbd setup'");
  }

 private:
  bool yes_ = false, offline_ = false, verify_ = false, text_ = false, speech_ = false, detection_ = false,
       games_ = false;
  std::string device_ = "auto";
  std::string frameworks_ = known_framework_names(",");
};

}  // namespace

std::unique_ptr<Command> make_setup() { return std::make_unique<Setup>(); }

}  // namespace tbd::cli
