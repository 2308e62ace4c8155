// tbd at-seat: stands for a worker at a seat (runner/seats.h). `tbd run` starts it, with a connection.
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "runner/seats.h"

namespace tbd::cli {
namespace {

class AtSeat final : public Command {
 public:
  std::string name() const override { return "at-seat"; }
  std::string summary() const override { return "Stand for a worker that another copy of tbd starts"; }
  bool hidden() const override { return true; }

  void declare(Options& options) override {
    options.positional("LINE", line_, "What the shell there runs");
    options.option("--cpus", cpus_, "Processors that it is bound to, comma-separated [all]", {.separator = ','});
  }

  // Ends at once, whatever its threads wait for.
  int run(Context&) override {
    if (line_.size() != 1) fail(ErrorKind::usage, "at-seat needs one line");
    std::vector<int> cpus;
    for (const std::string& cpu : cpus_) cpus.push_back(static_cast<int>(parse_int(cpu).value_or(0)));
    std::_Exit(stand_for_worker(Socket(kSeatConnection), line_.front(), cpus));
  }

 private:
  std::vector<std::string> line_, cpus_;
};

}  // namespace

std::unique_ptr<Command> make_at_seat() { return std::make_unique<AtSeat>(); }

}  // namespace tbd::cli
