// A launcher (torchrun, mpirun, srun) started this program once for each rank. Rank 0 measures; the others are seats:
// they wait, and start a worker whenever rank 0 asks for one. A connection is one worker's pipes.
#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/sockets.h"

namespace tbd {

struct ThreadRequest;

// Where the copies find each other.
struct Rendezvous {
  int64_t rank = 0, size = 1;
  std::string launcher;        // "torchrun", "openmpi", "pmi", "slurm"
  std::string address;         // of rank 0
  bool loopback = false;       // rank 0 listens there alone
  std::vector<int64_t> ports;  // rank 0 listens on the first that is free
  std::string token;           // both sides prove to have it, without sending it
};

// What a copy says of the machine that it is on.
struct SeatFacts {
  std::string host;               // its name
  std::string machine;            // differs between machines
  std::string files;              // differs where files or the network are others
  std::vector<int> cpus;          // that it may use
  std::vector<int64_t> physical;  // the core of each
  double usable_cores = 1;
  bool operator==(const SeatFacts&) const = default;
};
SeatFacts own_seat_facts();
std::string to_line(const SeatFacts& facts);
SeatFacts seat_facts_from(const std::string& line);  // throws Error(invalid)

// The cores of each of `count` workers of one machine: equal shares. Where there are fewer cores than workers: one core
// each, in turns, if they may `oversubscribe`, else Error(usage).
std::vector<ThreadRequest> shares_of_cores(const ThreadRequest& request, int64_t count, bool oversubscribe);
// The cores of each rank's worker: those that the launcher bound the rank to; ranks of one machine that may use the
// same cores share them (shares_of_cores).
std::vector<ThreadRequest> shares_of_seats(const std::vector<SeatFacts>& ranks, const ThreadRequest& wanted,
                                           bool oversubscribe = false);
bool are_more_than_cores(const std::vector<SeatFacts>& ranks);  // on one machine

// Rank 0's side.
class Seats {
 public:
  // Listens from now on. Where no port is free, await() and take() say so.
  explicit Seats(Rendezvous where);
  ~Seats();  // ends the seats with code 3 unless end() did
  Seats(const Seats&) = delete;
  Seats& operator=(const Seats&) = delete;

  const Rendezvous& where() const { return where_; }
  // Until all have come, `seconds` have passed or `interrupted` says so.
  void await(double seconds, const std::function<bool()>& interrupted);
  // Of ranks 0 to `count` - 1; one that has not come is taken to be like rank 0.
  std::vector<SeatFacts> facts(int64_t count) const;
  // Whether those ranks see the same files and one loopback.
  bool are_together(int64_t count) const;
  // At which those ranks can be reached by the others, in numbers.
  std::vector<std::string> addresses(int64_t count) const;

  // A connection to the seat of a rank from 1 on, for one worker. Throws Error(unsupported) with the reason where there
  // is none; waits for one that a seat which came before will open.
  Socket take(int64_t rank);

  // Tells all seats to end with this code; waits some seconds for those that are late.
  void end(int code);

 private:
  struct Seat {
    bool came = false;
    std::optional<Socket> waiting;
    SeatFacts facts;
    std::string address, reached;  // its own, and rank 0's as it sees it
  };

  void listen();
  void serve(const std::stop_token& stopped);
  void greet(Socket socket);
  std::string missing() const;  // "ranks 1, 3 of 4"; empty: none

  const Rendezvous where_;
  const SeatFacts own_;
  std::optional<ListeningSocket> listening_;
  std::string fault_;  // why nobody listens
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, Seat> seats_;
  std::optional<int> code_;  // with which the seats end
  double waited_ = 0;        // seconds, in vain
  std::jthread server_;
};

struct SeatOptions {
  std::map<std::string, std::string> environment;  // of this copy: the workers' shell has it
  std::function<bool()> interrupted = [] { return false; };
  double patience = 120;  // seconds for rank 0 to listen
  double grace = 10;      // for rank 0 to end the seat after an interrupt
};
// The other side: starts workers for rank 0 until that ends, by itself or because it is gone. The exit code: rank 0's,
// or 3. Throws Error(io) where rank 0 is not reached.
int serve_seat(const Rendezvous& where, const SeatOptions& options);

// Asks the seat at the other end of a connection that take() gave for a worker: a line for its shell, bound to `cpus`
// unless that is empty. Throws Error(io) where the seat is gone.
void start_at_seat(const Socket& seat, const std::string& line, const std::vector<int>& cpus);

// Beside rank 0, a process that stands for that worker, with this descriptor: its stdin, stdout, stderr and end are the
// worker's. Returns an exit code, or ends by the signal that ended the worker; 255: the seat is gone.
int stand_for_worker(Socket connection);
inline constexpr int kSeatConnection = 3;

}  // namespace tbd
