// tbd at-seat: stands for a worker at a seat (runner/seats.h). `tbd run` starts it, with a connection.
#include <cstdlib>

#include "cli/commands.h"
#include "runner/seats.h"

namespace tbd::cli {
namespace {

class AtSeat final : public Command {
 public:
  std::string name() const override { return "at-seat"; }
  std::string summary() const override { return "Stand for a worker that another copy of tbd starts"; }
  bool hidden() const override { return true; }

  void declare(Options&) override {}

  // Ends at once, whatever its threads wait for.
  int run(Context&) override { std::_Exit(stand_for_worker(Socket(kSeatConnection))); }
};

}  // namespace

std::unique_ptr<Command> make_at_seat() { return std::make_unique<AtSeat>(); }

}  // namespace tbd::cli
