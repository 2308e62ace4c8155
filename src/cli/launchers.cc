#include "cli/launchers.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace tbd::cli {
namespace {

using Variables = std::map<std::string, std::string>;

// The variables of a launcher. Slurm sets the same in a batch script, which is no rank of a step.
struct Launcher {
  const char *rank, *size;
  const char* needs = nullptr;
};
constexpr Launcher kLaunchers[] = {{"RANK", "WORLD_SIZE"},
                                   {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   {"PMI_RANK", "PMI_SIZE"},
                                   {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"}};

struct Seat {
  int64_t rank, size;
  std::string said;  // "RANK=1 WORLD_SIZE=2"
};

std::optional<Seat> seat_of(const Launcher& launcher, const Variables& environment) {
  const auto rank = environment.find(launcher.rank), size = environment.find(launcher.size);
  if (rank == environment.end() || size == environment.end()) return std::nullopt;
  if (launcher.needs && !environment.contains(launcher.needs)) return std::nullopt;
  const std::string said = cat(launcher.rank, "=", rank->second, " ", launcher.size, "=", size->second);
  const std::optional<int64_t> number = parse_int(rank->second), count = parse_int(size->second);
  if (!number || !count || *number < 0 || *number >= *count)
    fail(ErrorKind::usage, said, ": a rank is a whole number from 0 to below the size");
  return Seat{*number, *count, said};
}

}  // namespace

std::vector<std::string> hosts_from(const std::string& text) {
  std::vector<std::string> hosts;
  for (const std::string& part : split(text, ',')) {
    const size_t colon = part.rfind(':');
    const std::string host(trim(std::string_view(part).substr(0, colon)));
    const std::optional<int64_t> ranks = colon == std::string::npos ? 1 : parse_int(part.substr(colon + 1));
    if (host.empty()) fail(ErrorKind::usage, "--hosts needs a name before each comma and colon, got '", text, "'");
    if (host.front() == '-') fail(ErrorKind::usage, "--hosts: '", host, "' is an option, no host");
    if (!ranks || *ranks < 1 || *ranks > 4096)
      fail(ErrorKind::usage, "--hosts needs a number of workers after the colon, such as ", host, ":2, got '", part,
           "'");
    if (std::ranges::find(hosts, host) != hosts.end())
      fail(ErrorKind::usage, "--hosts names '", host, "' twice: for two workers there write ", host, ":2");
    hosts.insert(hosts.end(), static_cast<size_t>(*ranks), host);
  }
  return hosts;
}

void require_alone(const Variables& environment) {
  std::vector<Seat> seats;
  for (const Launcher& launcher : kLaunchers)
    if (const auto seat = seat_of(launcher, environment)) seats.push_back(*seat);
  for (const Seat& seat : seats)
    if (seat.rank != seats[0].rank || seat.size != seats[0].size)
      fail(ErrorKind::usage, seats[0].said, " and ", seat.said, " disagree: which rank is this?");
  for (const Seat& seat : seats)
    if (seat.size > 1)
      fail(ErrorKind::usage, seat.said, ": a launcher started ", seat.size,
           " copies of tbd, each of which would measure for itself; start one, with --workers ", seat.size,
           ", which starts the workers");
}

}  // namespace tbd::cli
