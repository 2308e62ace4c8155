// A short-lived child holds each new namespace until the program has a descriptor of it; ip and tc, run inside, join
// and limit them. With the right to make network namespaces workers keep all their rights; without it they live in a
// user namespace of their own, as its root.
#include "runner/emulated_links.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "measure/system_file.h"

namespace tbd {

// Not nameless: a type that the header names is made of it.
class KeptDescriptor {
 public:
  explicit KeptDescriptor(int number = -1) : number_(number) {}
  KeptDescriptor(KeptDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  KeptDescriptor& operator=(KeptDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~KeptDescriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  int number() const { return number_; }

 private:
  int number_;
};

namespace {

constexpr double kCommandSeconds = 5;
constexpr double kLeastBurst = 16'384;  // bytes: a few packets
constexpr double kMostWaiting = 0.1;    // seconds that a packet waits for its turn before it is dropped

// The kernel gives out the right to send once a tick.
std::string queue_of(const LinkLimits& limits, double tick_s) {
  const double burst = std::max(limits.bits_per_second / 8 * tick_s, kLeastBurst);
  return cat("tbf rate ", std::llround(limits.bits_per_second), "bit burst ", std::llround(std::ceil(burst)),
             "b latency ", std::llround(kMostWaiting * 1e3), "ms");
}

double kernel_tick() {
  timespec tick{};
  ::clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  return static_cast<double>(tick.tv_sec) + 1e-9 * static_cast<double>(tick.tv_nsec);
}

// All that a holder needs, made before the fork: after it only calls that are safe there.
struct HolderPlan {
  int user = -1;  // namespace to enter first
  std::string uid_map = cat("0 ", ::geteuid(), " 1"), gid_map = cat("0 ", ::getegid(), " 1");
  pid_t parent = ::getpid();
};

bool write_whole(const char* path, std::string_view text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  const bool written = file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int code = errno;
  ::close(file);
  errno = code;
  return written;
}

bool make_own_namespaces(const HolderPlan& plan) {
  if (plan.user >= 0) return ::setns(plan.user, CLONE_NEWUSER) == 0 && ::unshare(CLONE_NEWNET) == 0;
  if (::unshare(CLONE_NEWNET) == 0) return true;
  return errno == EPERM && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
         write_whole("/proc/self/setgroups", "deny") && write_whole("/proc/self/uid_map", plan.uid_map) &&
         write_whole("/proc/self/gid_map", plan.gid_map);
}

[[noreturn]] void hold(const HolderPlan& plan, int report) {
  ::setpgid(0, 0);
  const int code = make_own_namespaces(plan) ? 0 : errno;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of credentials clears it
  if (::getppid() != plan.parent || ::write(report, &code, sizeof code) != sizeof code || code != 0) ::_exit(1);
  for (;;) ::pause();
}

// A process that is alone in new namespaces, or in a new network namespace of a given user namespace.
class Holder {
 public:
  explicit Holder(int user) {
    const HolderPlan plan{.user = user};
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail(ErrorKind::unsupported, "cannot make a pipe: ", std::strerror(errno));
    const KeptDescriptor read(ends[0]);
    KeptDescriptor write(ends[1]);
    pid_ = ::fork();
    if (pid_ == 0) hold(plan, write.number());
    if (pid_ < 0) fail(ErrorKind::unsupported, "cannot start a process: ", std::strerror(errno));
    write.close();
    int code = ECHILD;  // of one that ended without a word
    while (::read(read.number(), &code, sizeof code) < 0 && errno == EINTR) {
    }
    if (code == 0) return;
    end();
    fail(ErrorKind::unsupported, "no network namespace can be made here (", std::strerror(code),
         "); without root it takes user namespaces: see sysctl user.max_user_namespaces, "
         "kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns, or the container's rules");
  }
  ~Holder() { end(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  pid_t pid() const { return pid_; }
  KeptDescriptor open(std::string_view space) const {
    KeptDescriptor opened(::open(cat("/proc/", pid_, "/ns/", space).c_str(), O_RDONLY | O_CLOEXEC));
    if (opened.number() < 0) fail(ErrorKind::unsupported, "cannot open a new namespace: ", std::strerror(errno));
    return opened;
  }

 private:
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }
  pid_t pid_ = -1;
};

bool has_user_namespace_of_its_own(const Holder& holder) {
  std::error_code code;
  const auto of = [&](const std::string& process) {
    return std::filesystem::read_symlink(cat("/proc/", process, "/ns/user"), code).string();
  };
  return of(cat(holder.pid())) != of("self");
}

// `tc` is often in /usr/sbin, which the PATH of an ordinary user lacks.
std::string found_program(const std::string& name, const std::map<std::string, std::string>& environment) {
  const auto path = environment.find("PATH");
  for (std::string folder : split(path == environment.end() ? "" : path->second, ':'))
    for (const bool beside : {false, true}) {
      if (beside && !folder.ends_with("/bin")) continue;
      if (beside) folder.replace(folder.size() - 3, 3, "sbin");
      const std::string candidate = cat(folder, "/", name);
      if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
  fail(ErrorKind::unsupported, "there is no program '", name, "' in PATH (iproute2 has it)");
}

// Runs the lines in the namespaces. Throws with what the program said first.
void run_lines(const std::string& program, const std::vector<std::string>& lines, const Namespaces& namespaces) {
  if (lines.empty()) return;
  const TemporaryFolder folder("tbd-links");
  const std::filesystem::path said = folder.path() / "said";
  Subprocess process({.argv = {program, "-batch", "-"},
                      .environment = {{"LC_ALL", "C"}},
                      .stderr_file = said,
                      .cpus = {},
                      .namespaces = namespaces});
  process.write_line(join(lines, "\n"), kCommandSeconds);
  process.close_input();
  const auto status = process.wait(kCommandSeconds);
  if (status && status->ok()) return;
  const std::string first(trim(split(read_file(said), '\n').front()));
  fail(ErrorKind::unsupported, std::filesystem::path(program).filename().string(), ": ",
       !first.empty() ? first
       : status       ? status->words()
                      : cat("no end within ", kCommandSeconds, " s"));
}

void with_reason(std::string_view what, const auto& work) {
  try {
    work();
  } catch (const Error& e) {
    fail(ErrorKind::unsupported, what, " (", e.what(), ")");
  }
}

}  // namespace

struct EmulatedLinks::Space {
  KeptDescriptor user, network;
  Namespaces namespaces() const { return {.user = user.number(), .network = network.number()}; }
};

std::string link_address(int64_t rank) { return cat("10.98.", (rank + 1) / 256, ".", (rank + 1) % 256); }

LinkCommands bridge_commands(const LinkLimits& limits, std::span<const pid_t> holders, double tick_s) {
  LinkCommands commands{.ip = {"link add bridge0 type bridge", "link set bridge0 up"}, .rate = {}, .delay = {}};
  for (size_t rank = 0; rank < holders.size(); ++rank) {
    commands.ip.push_back(cat("link add rank", rank, " type veth peer name link0 netns ", holders[rank]));
    commands.ip.push_back(cat("link set rank", rank, " master bridge0 up"));
    commands.rate.push_back(cat("qdisc add dev rank", rank, " root ", queue_of(limits, tick_s)));
  }
  return commands;
}

// Packets are delayed where they leave a rank, so once each way.
LinkCommands rank_commands(const LinkLimits& limits, int64_t rank, double tick_s) {
  LinkCommands commands{
      .ip = {"link set lo up", cat("addr add ", link_address(rank), "/16 dev link0"), "link set link0 up"},
      .rate = {cat("qdisc add dev link0 root handle 1: ", queue_of(limits, tick_s))},
      .delay = {}};
  if (limits.delay_s > 0)
    commands.delay = {cat("qdisc add dev link0 parent 1: handle 2: netem limit 100000 delay ",
                          std::llround(limits.delay_s * 1e6), "us")};
  return commands;
}

EmulatedLinks::EmulatedLinks(const Link& link, int64_t ranks, const std::map<std::string, std::string>& environment) {
  const LinkLimits limits = limits_of(link);
  const std::string ip = found_program("ip", environment), tc = found_program("tc", environment);
  std::vector<std::unique_ptr<Holder>> holders;
  std::vector<pid_t> of_ranks;
  for (int64_t i = 0; i <= ranks; ++i) {
    const int user = i == 0 ? -1 : spaces_.front()->user.number();
    const Holder& holder = *holders.emplace_back(std::make_unique<Holder>(user));
    spaces_.push_back(std::make_unique<Space>(
        Space{.user = user >= 0 || has_user_namespace_of_its_own(holder) ? holder.open("user") : KeptDescriptor(),
              .network = holder.open("net")}));
    if (i > 0) of_ranks.push_back(holder.pid());
  }
  const double tick_s = kernel_tick();
  std::vector<LinkCommands> commands = {bridge_commands(limits, of_ranks, tick_s)};
  for (int64_t rank = 0; rank < ranks; ++rank) commands.push_back(rank_commands(limits, rank, tick_s));
  const auto in_each = [&](const std::string& program, std::vector<std::string> LinkCommands::*lines) {
    for (size_t i = 0; i < spaces_.size(); ++i) run_lines(program, commands[i].*lines, spaces_[i]->namespaces());
  };
  with_reason("its interfaces cannot be made", [&] { in_each(ip, &LinkCommands::ip); });
  with_reason("its rate cannot be limited: the kernel needs the queue tbf", [&] { in_each(tc, &LinkCommands::rate); });
  with_reason("packets cannot be delayed: the kernel needs the queue netem",
              [&] { in_each(tc, &LinkCommands::delay); });
}

EmulatedLinks::~EmulatedLinks() = default;

std::vector<Namespaces> EmulatedLinks::namespaces() const {
  std::vector<Namespaces> of_ranks;
  for (size_t i = 1; i < spaces_.size(); ++i) of_ranks.push_back(spaces_[i]->namespaces());
  return of_ranks;
}

std::vector<std::string> EmulatedLinks::addresses() const {
  std::vector<std::string> of_ranks;
  for (size_t i = 1; i < spaces_.size(); ++i) of_ranks.push_back(link_address(static_cast<int64_t>(i) - 1));
  return of_ranks;
}

// "link0: <bytes received> and seven counts <bytes sent> ..." of the process's own namespace.
std::optional<LinkBytes> link_bytes(pid_t process) {
  const auto table = read_system_file(cat("/proc/", process, "/net/dev"));
  for (const std::string& line : split(table.value_or(""), '\n')) {
    const std::string_view text = trim(line);
    if (!text.starts_with("link0:")) continue;
    std::vector<std::string> numbers = split(std::string(text.substr(6)), ' ');
    std::erase(numbers, "");
    if (numbers.size() < 9) return std::nullopt;
    const auto received = parse_int(numbers[0]), sent = parse_int(numbers[8]);
    if (received && sent) return LinkBytes{.sent = *sent, .received = *received};
  }
  return std::nullopt;
}

}  // namespace tbd
