// A thread reads what the program writes and stamps each step as it arrives. Bytes come through a named pipe, which
// hooks open by its path where the program or what started it has closed the descriptor that it inherited.
#include "runner/exec/watched_command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "measure/clock.h"
#include "runner/exec/hook_texts.h"

namespace tbd {
namespace {

constexpr size_t kMostStamps = 1 << 20;

int opened(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) fail(ErrorKind::io, "cannot open ", path, ": ", std::strerror(errno));
  return descriptor;
}

// To a person who watches; what cannot be shown is left out.
void show(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

// "pytorch 4242 2.15.0 cpu": who stepped first.
void read_stepping(const std::vector<std::string>& words, HookFacts& facts) {
  if (words.size() > 1) facts.framework = words[1];
  if (words.size() > 3) facts.framework_version = words[3];
  if (words.size() > 4) facts.device = words[4];
}

// "traced 312 316 /path to/trace.json.gz": the steps of a window.
std::optional<std::array<int64_t, 2>> window_of(const std::vector<std::string>& words) {
  if (words.size() < 3) return std::nullopt;
  const auto first = parse_int(words[1]), last = parse_int(words[2]);
  if (!first || !last || *first < 1 || *last < *first) return std::nullopt;
  return std::array{*first, *last};
}

void read_window(const std::string& line, const std::vector<std::string>& words, HookFacts& facts) {
  const std::optional<std::array<int64_t, 2>> window = window_of(words);
  if (!window) return;
  if (words[0] == "tracing") facts.tracing = window;
  if (words[0] != "traced" || words.size() < 4) return;
  facts.traced = window;
  facts.trace_file = line.substr(words[0].size() + words[1].size() + words[2].size() + 3);
}

}  // namespace

HookFacts hook_facts(std::string_view text) {
  HookFacts facts;
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    const bool has_value = words.size() > 1;
    if (words[0] == "python" && has_value && facts.python.empty()) facts.python = words[1];
    if (words[0] == "steps") read_stepping(words, facts);
    if (words[0] == "tracing" || words[0] == "traced") read_window(line, words, facts);
    if (words[0] == "untraced" && has_value) facts.untraced = line.substr(line.find(' ') + 1);
    if (words[0] == "unhooked") facts.unhooked.push_back(line.substr(line.find(' ') + 1));
    if (words[0] == "hooked" && has_value && std::ranges::count(facts.hooked, words[1]) == 0)
      facts.hooked.push_back(words[1]);
  }
  return facts;
}

std::string looked_for(const HookFacts& facts, bool by_regex) {
  if (by_regex) return "no line of its output matched --step-regex";
  const std::string bytes =
      cat("no byte came on descriptor ", WatchedCommand::kStepDescriptor, " (TBD_STEP_FD) and no hook saw a step: ");
  if (!facts.unhooked.empty()) return cat(bytes, "a framework takes no hook: ", join(facts.unhooked, "; "));
  if (facts.python.empty())
    return cat(bytes,
               "no Python read the hooks for PyTorch, Keras and MXNet (there is none, or -E, -I or -S is given)");
  if (facts.hooked.empty())
    return cat(bytes, "Python ", facts.python, " read the hooks, and imported none of PyTorch, Keras and MXNet");
  return cat(bytes, join(facts.hooked, " and "),
             " took its hook, and made no step of an optimizer (PyTorch), of fit or train_on_batch (Keras) or of a "
             "Trainer (MXNet)");
}

WatchedCommand::WatchedCommand(const WatchOptions& options) : options_(options), wake_(new_pipe()) {
  SpawnOptions spawn{.argv = options.argv, .environment = options.environment};
  const Descriptor nothing(opened("/dev/null", O_RDONLY));
  spawn.descriptors = {{STDIN_FILENO, nothing.number()}, {STDOUT_FILENO, STDERR_FILENO}};
  const bool by_regex = !options.step_regex.empty();
  if (by_regex)
    add_output_pipes(spawn);
  else
    add_hooks(spawn);
  last_ns_ = now_ns();
  process_ = std::make_unique<Subprocess>(spawn);
  for (Pipe& output : sources_)
    if (by_regex) output.write.close();
  reader_ = std::jthread([this] { read_all(); });
}

WatchedCommand::~WatchedCommand() {
  if (reader_.joinable()) terminate(0);
}

void WatchedCommand::Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

WatchedCommand::Pipe WatchedCommand::new_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(ErrorKind::io, "cannot make a pipe: ", std::strerror(errno));
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void WatchedCommand::add_output_pipes(SpawnOptions& spawn) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    matchers_.push_back(std::make_unique<LineMatcher>(options_.step_regex));
    sources_.push_back(new_pipe());
    spawn.descriptors[stream] = sources_.back().write.number();
  }
  spawn.environment["PYTHONUNBUFFERED"] = std::string("1");  // else lines arrive by the block
}

// The pipe is one with a name. Our own end for writing stays open, so that it has no end.
void WatchedCommand::add_hooks(SpawnOptions& spawn) {
  write_file(cat(options_.folder, "/sitecustomize.py"), sitecustomize_text());
  write_file(cat(options_.folder, "/tbd_step.py"), step_module_text());
  const std::string steps = cat(options_.folder, "/steps");
  if (::mkfifo(steps.c_str(), 0600) != 0) fail(ErrorKind::io, "cannot make ", steps, ": ", std::strerror(errno));
  Descriptor read(opened(steps, O_RDONLY | O_NONBLOCK));
  sources_.push_back({std::move(read), Descriptor(opened(steps, O_WRONLY))});
  spawn.descriptors[kStepDescriptor] = sources_.back().write.number();
  spawn.environment["TBD_STEP_FD"] = cat(kStepDescriptor);
  if (options_.traces) {
    const std::string traces = cat(options_.folder, "/trace");
    make_folder(traces);
    spawn.environment["TBD_TRACE_FOLDER"] = traces;
  }
  std::string& path = spawn.environment["PYTHONPATH"];
  path = path.empty() ? options_.folder : cat(options_.folder, ":", path);
}

std::vector<int64_t> WatchedCommand::take_steps(double seconds) {
  std::unique_lock lock(mutex_);
  if (stamps_.empty() && seconds > 0) changed_.wait_for(lock, std::chrono::duration<double>(seconds));
  return std::exchange(stamps_, {});
}

HookFacts WatchedCommand::facts() const {
  const std::string file = cat(options_.folder, "/facts");
  return is_file(file) ? hook_facts(read_file(file)) : HookFacts();
}

void WatchedCommand::ask_for_trace(int64_t steps, int64_t from) {
  write_file_atomic(cat(options_.folder, "/window"), cat(steps, " ", from, "\n"));
}

int64_t WatchedCommand::bunched() const {
  const std::lock_guard lock(mutex_);
  return bunched_;
}

ExitStatus WatchedCommand::terminate(double grace_seconds) {
  const ExitStatus status = process_->terminate(grace_seconds);
  wake_.write.close();
  if (reader_.joinable()) reader_.join();
  return status;
}

// Until the program has ended and all that it left in its pipes is read.
void WatchedCommand::read_all() {
  std::vector<pollfd> waiting;
  for (const Pipe& source : sources_) waiting.push_back({source.read.number(), POLLIN, 0});
  waiting.push_back({wake_.read.number(), POLLIN, 0});
  while (waiting.back().revents == 0) {
    ::poll(waiting.data(), waiting.size(), -1);
    for (size_t i = 0; i < sources_.size(); ++i)
      if (waiting[i].revents != 0 && read_some(i) == Read::end) waiting[i].fd = -1;
  }
  for (size_t i = 0; i < sources_.size(); ++i)
    while (read_some(i) == Read::some) {
    }
  for (const auto& matcher : matchers_) add_steps(matcher->finish());
}

WatchedCommand::Read WatchedCommand::read_some(size_t source) {
  char chunk[1 << 16];
  const ssize_t count = ::read(sources_[source].read.number(), chunk, sizeof chunk);
  if (count == 0) return Read::end;
  if (count < 0) return errno == EINTR ? Read::some : Read::nothing;
  const std::string_view piece(chunk, static_cast<size_t>(count));
  if (!matchers_.empty()) show(piece);
  add_steps(matchers_.empty() ? count : matchers_[source]->feed(piece));
  return Read::some;
}

void WatchedCommand::add_steps(int64_t count) {
  if (count == 0) return;
  const std::lock_guard lock(mutex_);
  const int64_t now = std::max(now_ns(), last_ns_ + count);
  const double share = static_cast<double>(now - last_ns_) / static_cast<double>(count);
  if (stamps_.size() < kMostStamps)  // nobody measures more: they are taken twenty times a second
    for (int64_t i = 1; i <= count; ++i)
      stamps_.push_back(last_ns_ + static_cast<int64_t>(share * static_cast<double>(i)));
  last_ns_ = now;
  if (count > 1) bunched_ += count;
  changed_.notify_one();
}

}  // namespace tbd
