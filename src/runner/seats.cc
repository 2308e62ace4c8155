// Rank 0 keeps one idle connection to each seat. To start a worker it gives that away, and the seat opens the next.
#include "runner/seats.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include "base/error.h"
#include "measure/cores.h"
#include "measure/system_file.h"
#include "measure/threading.h"
#include "runner/seat_words.h"

namespace tbd {
namespace {

constexpr double kGreeting = 2;  // seconds for each line of it
constexpr double kReturn = 20;   // for a seat to open its next connection
constexpr double kLate = 5;      // for seats that come after the end

constexpr int64_t kMostOfCore = 64;  // workers that may share one

std::string link_target(const char* path) {
  std::error_code failed;
  return std::filesystem::read_symlink(path, failed).string();
}

bool share_cores(const SeatFacts& a, const SeatFacts& b) { return a.machine == b.machine && a.cpus == b.cpus; }

int64_t count_sharing(const std::vector<SeatFacts>& ranks, const SeatFacts& with) {
  return std::ranges::count_if(ranks, [&](const SeatFacts& other) { return share_cores(with, other); });
}

int64_t whole_cores(double usable) { return std::max<int64_t>(1, static_cast<int64_t>(usable)); }

std::vector<ThreadRequest> shares_in_turns(ThreadRequest request, int64_t count) {
  const int64_t cores = whole_cores(request.usable_cores);
  if (count > kMostOfCore * cores)
    fail(ErrorKind::usage, "--oversubscribe lets ", kMostOfCore, " workers share a core: with ", cores,
         cores == 1 ? " core" : " cores", " ask for ", kMostOfCore * cores, " at most, got ", count);
  request.usable_cores = static_cast<double>(cores);
  const std::vector<ThreadRequest> single = equal_shares(request, cores);
  std::vector<ThreadRequest> shares;
  for (int64_t worker = 0; worker < count; ++worker) shares.push_back(single[static_cast<size_t>(worker % cores)]);
  return shares;
}

template <class Number>
std::string list_of_numbers(const std::vector<Number>& numbers) {
  std::vector<std::string> texts;
  for (const Number number : numbers) texts.push_back(cat(number));
  return join(texts, ",");
}

template <class Number>
std::vector<Number> numbers_in(const std::string& list) {
  std::vector<Number> numbers;
  for (const std::string& text : split(list, ',')) {
    const auto number = parse_int(text);
    require(number.has_value(), "a core is no number");
    numbers.push_back(static_cast<Number>(*number));
  }
  return numbers;
}

}  // namespace

SeatFacts own_seat_facts() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string boot(trim(read_system_file("/proc/sys/kernel/random/boot_id").value_or("")));
  SeatFacts facts{.host = host.data(),
                  .machine = boot,
                  .files = cat(boot, "-", link_target("/proc/self/ns/mnt"), "-", link_target("/proc/self/ns/net")),
                  .cpus = {},
                  .physical = {},
                  .usable_cores = usable_cores()};
  for (const LogicalCpu& each : logical_cpus(allowed_cpus())) {
    facts.cpus.push_back(each.cpu);
    facts.physical.push_back(each.physical);
  }
  return facts;
}

std::string to_line(const SeatFacts& facts) {
  return join(std::vector<std::string>{facts.host, facts.machine, facts.files, list_of_numbers(facts.cpus),
                                       list_of_numbers(facts.physical), cat(facts.usable_cores)},
              " ");
}

SeatFacts seat_facts_from(const std::string& line) {
  const std::vector<std::string> words = split(line, ' ');
  require(words.size() == 6, "a seat says too little of itself");
  const SeatFacts facts{.host = words[0],
                        .machine = words[1],
                        .files = words[2],
                        .cpus = numbers_in<int>(words[3]),
                        .physical = numbers_in<int64_t>(words[4]),
                        .usable_cores = parse_double(words[5]).value_or(1)};
  require(facts.cpus.size() == facts.physical.size(), "a seat's cores have no numbers");
  return facts;
}

std::vector<ThreadRequest> shares_of_cores(const ThreadRequest& request, int64_t count, bool oversubscribe) {
  if (oversubscribe && count > whole_cores(request.usable_cores)) return shares_in_turns(request, count);
  try {
    return equal_shares(request, count);
  } catch (const Error& e) {
    fail(e.kind(), e.what(), "; --oversubscribe lets them share cores");
  }
}

std::vector<ThreadRequest> shares_of_seats(const std::vector<SeatFacts>& ranks, const ThreadRequest& wanted,
                                           bool oversubscribe) {
  std::vector<ThreadRequest> shares;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    ThreadRequest own = wanted;
    own.allowed.clear();
    own.usable_cores = ranks[rank].usable_cores;
    for (size_t i = 0; i < ranks[rank].cpus.size(); ++i)
      own.allowed.push_back({.cpu = ranks[rank].cpus[i], .physical = ranks[rank].physical.at(i)});
    const auto shares_with = [&](const SeatFacts& other) { return share_cores(ranks[rank], other); };
    const auto before = std::count_if(ranks.begin(), ranks.begin() + static_cast<ptrdiff_t>(rank), shares_with);
    shares.push_back(
        shares_of_cores(own, count_sharing(ranks, ranks[rank]), oversubscribe).at(static_cast<size_t>(before)));
  }
  return shares;
}

bool are_more_than_cores(const std::vector<SeatFacts>& ranks) {
  return std::ranges::any_of(
      ranks, [&](const SeatFacts& each) { return count_sharing(ranks, each) > whole_cores(each.usable_cores); });
}

Seats::Seats(Rendezvous where) : where_(std::move(where)), own_(own_seat_facts()) {
  listen();
  if (listening_) server_ = std::jthread([this](const std::stop_token& stopped) { serve(stopped); });
}

Seats::~Seats() { end(3); }

void Seats::listen() {
  for (const int64_t port : where_.ports) try {
      listening_.emplace(where_.loopback, port);
      return;
    } catch (const Error& e) {
      fault_ = cat("rank 0 ", e.what());
    }
}

void Seats::serve(const std::stop_token& stopped) {
  while (!stopped.stop_requested()) {
    std::optional<Socket> socket = listening_->accept(0.1);
    if (!socket) continue;
    try {
      greet(std::move(*socket));
    } catch (const std::exception&) {  // a stranger, or a seat that is gone: it comes again
    }
  }
}

// Neither side sends the token; each proves to the other that it has it.
void Seats::greet(Socket socket) {
  const std::string nonce = seat_nonce();
  socket.write(cat(kSeatGreeting, " ", nonce, "\n"));
  const std::vector<std::string> said = split(socket.line(kGreeting), ' ');
  require(said.size() == 3, "a stranger");
  const auto rank = parse_int(said[0]).value_or(0);
  require(said[2] == seat_proof(where_.token, cat("seat ", rank, " ", nonce, " ", said[1])),
          "a seat without the token");
  require(rank > 0 && rank < where_.size, "a seat of no rank");
  socket.write(cat(seat_proof(where_.token, cat("runner ", said[1], " ", nonce)), "\n"));
  SeatFacts facts = seat_facts_from(socket.line(kGreeting));
  const std::lock_guard lock(mutex_);
  if (code_) socket.send(kEnd, cat(*code_));
  seats_[rank] = {.came = true,
                  .waiting = std::nullopt,
                  .facts = std::move(facts),
                  .address = socket.peer_address(),
                  .reached = socket.own_address()};
  seats_[rank].waiting = std::move(socket);
  changed_.notify_all();
}

std::string Seats::missing() const {
  std::vector<int64_t> ranks;
  for (int64_t rank = 1; rank < where_.size; ++rank)
    if (!seats_.contains(rank)) ranks.push_back(rank);
  if (ranks.empty()) return "";
  return cat(ranks.size() == 1 ? "rank " : "ranks ", list_of_numbers(ranks), " of ", where_.size);
}

void Seats::await(double seconds, const std::function<bool()>& interrupted) {
  if (!listening_) return;
  const auto began = std::chrono::steady_clock::now();
  const auto waited = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  std::unique_lock lock(mutex_);
  while (!missing().empty() && !interrupted() && waited() < seconds)
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  if (!missing().empty()) waited_ = std::min(waited(), seconds);
}

std::vector<SeatFacts> Seats::facts(int64_t count) const {
  const std::lock_guard lock(mutex_);
  std::vector<SeatFacts> all;
  for (int64_t rank = 0; rank < count; ++rank) {
    const auto seat = seats_.find(rank);
    all.push_back(seat == seats_.end() ? own_ : seat->second.facts);
  }
  return all;
}

bool Seats::are_together(int64_t count) const {
  return std::ranges::all_of(facts(count), [&](const SeatFacts& each) { return each.files == own_.files; });
}

std::vector<std::string> Seats::addresses(int64_t count) const {
  const std::lock_guard lock(mutex_);
  std::string own = where_.address;  // as another machine sees it, where one is among them
  for (const auto& [rank, seat] : seats_)
    if (rank < count && seat.facts.machine != own_.machine) own = seat.reached;
  std::vector<std::string> all = {own};
  for (int64_t rank = 1; rank < count; ++rank) {
    const auto seat = seats_.find(rank);
    const bool away = seat != seats_.end() && seat->second.facts.machine != own_.machine;
    all.push_back(away ? seat->second.address : own);
  }
  return all;
}

Socket Seats::take(int64_t rank) {
  if (!listening_) fail(ErrorKind::unsupported, fault_);
  std::unique_lock lock(mutex_);
  if (!seats_.contains(rank))
    fail(ErrorKind::unsupported, missing(), " did not come within ", format_seconds(waited_), " to port ",
         listening_->port(), " of ", where_.address);
  Seat& seat = seats_.at(rank);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(kReturn);
  while (!seat.waiting)
    if (changed_.wait_until(lock, until) == std::cv_status::timeout && !seat.waiting)
      fail(ErrorKind::unsupported, "the seat of rank ", rank, " on ", seat.facts.host, " does not come back");
  if (seat.waiting->has_ended())
    fail(ErrorKind::unsupported, "the seat of rank ", rank, " on ", seat.facts.host, " has ended");
  Socket taken = std::move(*seat.waiting);
  seat.waiting.reset();
  return taken;
}

void Seats::end(int code) {
  std::unique_lock lock(mutex_);
  if (code_ || !listening_) return;
  code_ = code;
  for (auto& [rank, seat] : seats_) try {
      if (seat.waiting) seat.waiting->send(kEnd, cat(code));
    } catch (const Error&) {  // it has ended
    }
  const auto all_told = [&] {
    const auto told = std::ranges::count_if(seats_, [](const auto& each) { return each.second.waiting.has_value(); });
    return told >= where_.size - 1;
  };
  if (waited_ == 0) changed_.wait_for(lock, std::chrono::duration<double>(kLate), all_told);
  lock.unlock();
  server_.request_stop();
  server_.join();
}

}  // namespace tbd
