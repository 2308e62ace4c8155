// A seat gives each worker threads of its own: one starts it and feeds it, one reads its output, one its log.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "runner/seat_words.h"
#include "runner/seats.h"

namespace tbd {
namespace {

constexpr double kConnecting = 2;   // seconds for an address that does not answer
constexpr double kFirstWord = 2;    // for a program that listens to say that it is rank 0
constexpr double kAnswer = 5;       // for each line of the greeting
constexpr double kReading = 300;    // for a worker to read a line
constexpr double kLastOfLog = 0.5;  // that a worker's log has after its end
constexpr double kComesBack = 5;    // for rank 0, which has listened, to accept again
constexpr int kSeatIsGone = 255;    // as of ssh
constexpr int kLost = 3;            // the seat's own code where rank 0 is gone

using Now = std::chrono::steady_clock;
double since(Now::time_point begin) { return std::chrono::duration<double>(Now::now() - begin).count(); }

// Not by rank 0: throws Error(io), nothing of the token is told.
Socket greeted(const Rendezvous& where, int64_t port) {
  Socket socket = connect_to(where.address, port, kConnecting);
  const std::vector<std::string> words = split(socket.line(kFirstWord), ' ');
  if (words.size() != 3 || cat(words[0], " ", words[1]) != kSeatGreeting)
    fail(ErrorKind::io, "another program listens on ", where.address, ":", port);
  const std::string nonce = seat_nonce();
  const std::string proof = seat_proof(where.token, cat("seat ", where.rank, " ", words[2], " ", nonce));
  socket.write(cat(where.rank, " ", nonce, " ", proof, "\n"));
  if (socket.line(kAnswer) != seat_proof(where.token, cat("runner ", nonce, " ", words[2])))
    fail(ErrorKind::io, "the program that listens on ", where.address, ":", port, " has another token");
  socket.write(to_line(own_seat_facts()) + "\n");
  return socket;
}

// Rank 0 may come later, on any of its ports; only the one that it has is left.
Socket connected(Rendezvous& where, double patience, const std::function<bool()>& interrupted) {
  std::string reason;
  for (const auto begin = Now::now(); since(begin) < patience && !interrupted();) {
    for (const int64_t port : where.ports) try {
        Socket socket = greeted(where, port);
        where.ports = {port};
        return socket;
      } catch (const Error& e) {
        if (reason.empty() || since(begin) > 1) reason = e.what();
      }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  fail(ErrorKind::io, "rank ", where.rank, " of ", where.size, " does not reach rank 0 within ",
       format_seconds(patience), ": ", reason);
}

void close_descriptor_of(int descriptor) { ::close(descriptor); }

// As the input of a worker, to its end.
void send_lines(int from, const Socket& to) {
  std::string line;
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t count = ::read(from, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return to.send(kInputEnd, "");
    for (const char c : std::string_view(chunk.data(), static_cast<size_t>(count))) {
      if (c != '\n') {
        line += c;
        continue;
      }
      to.send(kInput, line);
      line.clear();
    }
  }
}

// One worker, as long as it and its connection live.
class SeatedWorker {
 public:
  SeatedWorker(Socket socket, const std::string& request, const SeatOptions& options)
      : socket_(std::move(socket)), thread_([this, request, &options] { run(request, options); }) {}

  bool is_over() const { return over_; }
  void shut() const { socket_.shut(); }

 private:
  void run(const std::string& request, const SeatOptions& options) {
    try {
      start(request, options);
    } catch (const std::exception& e) {
      send(kLog, cat("tbd: ", e.what(), "\n"));
      send(kExit, "code 127");
    }
    over_ = true;
  }

  void start(const std::string& request, const SeatOptions& options) {
    const size_t space = request.find(' ');
    std::vector<int> cpus;
    for (const std::string& text : split(request.substr(0, space), ','))
      if (const auto cpu = parse_int(text)) cpus.push_back(static_cast<int>(*cpu));
    int log[2];
    if (::pipe2(log, O_CLOEXEC) != 0) fail(ErrorKind::io, "cannot make a pipe: ", std::strerror(errno));
    std::optional<Subprocess> process;
    try {
      process.emplace(SpawnOptions{.argv = {"/bin/sh", "-c", request.substr(space + 1)},
                                   .environment = options.environment,
                                   .stderr_file = "",
                                   .cpus = cpus,
                                   .namespaces = {},
                                   .descriptors = {{STDERR_FILENO, log[1]}}});
    } catch (...) {
      close_descriptor_of(log[0]);
      close_descriptor_of(log[1]);
      throw;
    }
    close_descriptor_of(log[1]);
    std::atomic<bool> logged = false, ended = false;
    std::jthread log_reader([&] {
      copy_log(log[0]);
      logged = true;
    });
    std::jthread output_reader([&] {
      copy_output(*process, logged);
      ended = true;
    });
    feed(*process);
    if (!ended) ::kill(-process->pid(), SIGKILL);
    output_reader.join();
    process->terminate(0);  // what it left behind in its group may hold the log
    log_reader.join();
    close_descriptor_of(log[0]);
  }

  void copy_log(int from) {
    std::array<char, 4096> chunk;
    for (;;) {
      const ssize_t count = ::read(from, chunk.data(), chunk.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      send(kLog, std::string_view(chunk.data(), static_cast<size_t>(count)));
    }
  }

  void copy_output(Subprocess& process, const std::atomic<bool>& logged) {
    std::string line;
    for (;;) {
      const Subprocess::Read read = process.read_line(line, 3600);
      if (read == Subprocess::Read::end) break;
      if (read == Subprocess::Read::line) send(kOutput, line);
    }
    send(kOutputEnd, "");
    std::optional<ExitStatus> status;
    while (!status) status = process.wait(3600);
    for (const auto begin = Now::now(); !logged && since(begin) < kLastOfLog;)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    send(kExit, status->signal ? cat("signal ", *status->signal) : cat("code ", status->code.value_or(1)));
  }

  // Until the connection ends.
  void feed(Subprocess& process) {
    while (const auto frame = socket_.receive()) try {
        if (frame->kind == kInput) process.write_line(frame->bytes, kReading);
        if (frame->kind == kInputEnd) process.close_input();
      } catch (const Error&) {  // it reads no more: its end says the rest
      }
  }

  void send(char kind, std::string_view bytes) try {
    const std::lock_guard lock(sending_);
    socket_.send(kind, bytes);
  } catch (const Error&) {  // nobody listens: the reader of the connection sees that, too
  }

  Socket socket_;
  std::mutex sending_;
  std::atomic<bool> over_ = false;
  std::jthread thread_;
};

}  // namespace

std::string seat_nonce() {
  std::random_device random;
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += cat(random(), " ");
  return sha256_hex(bytes).substr(0, 32);
}

std::string seat_proof(const std::string& token, const std::string& of) {
  return sha256_hex(cat(token, " ", sha256_hex(cat(token, " ", of))));
}

int serve_seat(const Rendezvous& where, const SeatOptions& options) {
  std::list<SeatedWorker> workers;
  std::optional<Now::time_point> interrupted;
  const auto is_over = [&] {
    if (options.interrupted() && !interrupted) interrupted = Now::now();
    return interrupted && since(*interrupted) > options.grace;
  };
  const auto all_shut = [&](int code) {
    for (const SeatedWorker& worker : workers) worker.shut();
    return code;
  };
  Rendezvous found = where;
  Socket idle = connected(found, options.patience, is_over);
  while (!is_over()) {
    std::erase_if(workers, [](const SeatedWorker& worker) { return worker.is_over(); });
    if (!idle.readable(0.2)) continue;
    const auto request = idle.receive();
    if (!request) break;  // rank 0 is gone
    if (request->kind == kEnd) return all_shut(static_cast<int>(parse_int(request->bytes).value_or(kLost)));
    workers.emplace_back(std::move(idle), request->bytes, options);
    try {
      idle = connected(found, kComesBack, is_over);
    } catch (const Error&) {  // so it is now
      break;
    }
  }
  return all_shut(kLost);
}

void start_at_seat(const Socket& seat, const std::string& line, const std::vector<int>& cpus) {
  std::vector<std::string> texts;
  for (const int cpu : cpus) texts.push_back(cat(cpu));
  seat.send(kStart, cat(join(texts, ","), " ", line));
}

int stand_for_worker(Socket connection) {
  const auto seat = std::make_shared<Socket>(std::move(connection));  // the thread below outlives this
  std::thread([seat] {
    try {
      send_lines(STDIN_FILENO, *seat);
    } catch (const Error&) {  // the seat is gone
    }
  }).detach();
  const auto write_all = [](int to, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(to, bytes.data(), bytes.size());
      if (count <= 0 && errno != EINTR) return;
      if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
    }
  };
  while (const auto frame = seat->receive()) {
    if (frame->kind == kOutput) write_all(STDOUT_FILENO, frame->bytes + "\n");
    if (frame->kind == kOutputEnd) ::close(STDOUT_FILENO);
    if (frame->kind == kLog) write_all(STDERR_FILENO, frame->bytes);
    if (frame->kind != kExit) continue;
    const std::vector<std::string> how = split(frame->bytes, ' ');
    const auto number = static_cast<int>(how.size() == 2 ? parse_int(how[1]).value_or(1) : 1);
    if (how[0] != "signal") return number;
    const rlimit no_dump{};
    ::setrlimit(RLIMIT_CORE, &no_dump);
    ::signal(number, SIG_DFL);
    ::raise(number);
    return 128 + number;
  }
  write_all(STDERR_FILENO, "the connection to its seat is lost\n");
  return kSeatIsGone;
}

}  // namespace tbd
