// Links of limited rate between the workers of one machine, made without root (docs/command-line.md, Several workers).
// Each rank has a network namespace of its own with an address; a bridge in a further one joins them.
#pragma once
#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/link_limits.h"

namespace tbd {

struct Namespaces;  // base/subprocess.h

// Lines for the programs `ip` and `tc`, which run within one of the namespaces.
struct LinkCommands {
  std::vector<std::string> ip;     // makes the interfaces
  std::vector<std::string> rate;   // limits what leaves through them
  std::vector<std::string> delay;  // empty without a delay
};
// `holders` are processes, by rank, in the namespaces that are to be joined; `tick_s` is the kernel's.
LinkCommands bridge_commands(const LinkLimits& limits, std::span<const pid_t> holders, double tick_s);
LinkCommands rank_commands(const LinkLimits& limits, int64_t rank, double tick_s);
std::string link_address(int64_t rank);

// Descriptors keep the namespaces, and no process: they vanish with this, or with the program however it ends, once the
// workers in them have ended.
class EmulatedLinks {
 public:
  // In the environment's PATH are `ip` and `tc`, or in the folder sbin beside one of it. Takes some tens of
  // milliseconds and half a minute at most. Throws Error(unsupported) that says what the machine lacks.
  EmulatedLinks(const Link& link, int64_t ranks, const std::map<std::string, std::string>& environment);
  ~EmulatedLinks();
  EmulatedLinks(const EmulatedLinks&) = delete;
  EmulatedLinks& operator=(const EmulatedLinks&) = delete;

  std::vector<Namespaces> namespaces() const;  // by rank
  std::vector<std::string> addresses() const;

 private:
  struct Space;                                 // a user and a network namespace
  std::vector<std::unique_ptr<Space>> spaces_;  // of the bridge, then of the ranks
};

// What went through the interface of a process to its link since it was made; nullopt without one.
struct LinkBytes {
  int64_t sent = 0, received = 0;
};
std::optional<LinkBytes> link_bytes(pid_t process);

}  // namespace tbd
