// Where ranks run: the hosts that a person names, and launchers that start a copy of the program for each rank.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/seats.h"

namespace tbd::cli {

// "a,b:2": a, b, b, a place for each rank. Throws Error(usage) where a host is empty or named twice.
std::vector<std::string> hosts_from(const std::string& text);

struct SlurmHost {
  std::string name;
  std::string address;  // by which Slurm reaches it
};
// The hosts of this allocation of Slurm, a place for each task, as its `scontrol` says. Throws Error(usage) outside of
// one, Error(io) where scontrol fails.
std::vector<SlurmHost> slurm_hosts(const std::map<std::string, std::string>& environment);

// The place of this copy where a launcher (torchrun, mpirun, srun) started several; nullopt where it is alone.
// `meet_at` is HOST:PORT, or empty. Throws Error(usage) where variables disagree or cannot be, names them, and says
// what is missing for ranks to find each other.
std::optional<Rendezvous> rendezvous_of(const std::map<std::string, std::string>& environment,
                                        const std::string& meet_at);

// What stands before the program where this launcher starts as many copies again: "mpirun -np 2". On several machines
// the person's own words for these come besides.
std::string launcher_words(const Rendezvous& where, const std::map<std::string, std::string>& environment);

// The launchers in PATH; empty: none.
std::vector<std::string> found_launchers(const std::map<std::string, std::string>& environment);

}  // namespace tbd::cli
