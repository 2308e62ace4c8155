// The store's calls wait for ever, so the meeting is left to a thread of its own, which may stay behind, and a watcher
// ends the process whose later waits last too long or whose server is gone.
#include "backends/mxnet/exchange.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "backends/mxnet/api_store.h"
#include "base/subprocess.h"
#include "measure/clock.h"

namespace tbd::mxnet {
namespace {

constexpr const char* kServes = "kvstore";  // the first argument of a process that does
constexpr const char *kServer = "server", *kScheduler = "scheduler", *kWorker = "worker";
constexpr auto kLook = std::chrono::milliseconds(100);  // the watcher's period
constexpr double kGrace = 2;                            // seconds for an orderly end

// ps-lite listens at numbers alone.
std::string numeric(const std::string& host) {
  const addrinfo wanted{.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found); code != 0)
    fail(ErrorKind::io, "the host ", host, " has no address: ", ::gai_strerror(code));
  char text[INET_ADDRSTRLEN] = "";
  const auto* address = reinterpret_cast<const sockaddr_in*>(found->ai_addr);
  ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
  ::freeaddrinfo(found);
  return text;
}

StorePlace place_of(const World& world, const std::string& role) {
  return {.role = role,
          .scheduler = numeric(world.address(0)),
          .port = world.ports.at(0),
          .ranks = world.place.world,
          .host = numeric(world.address(world.place.rank))};
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) out[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return out;
}

// A server or the scheduler, on the cores of its rank.
class Companion {
 public:
  Companion(const World& world, const std::string& role)
      : name_(cat("the key-value ", role, " of rank ", world.place.rank)), process_(spawn(place_of(world, role))) {}

  // Why it has ended; empty while it runs.
  std::string fault() {
    const auto status = process_.poll();
    if (!status) return "";
    std::string sentence, line;
    while (process_.read_line(line, 0) == Subprocess::Read::line) sentence = line;
    if (!sentence.empty()) return sentence;
    return cat(name_, status->signal ? " was " : " ", status->words());
  }
  void await_end(double seconds) { process_.wait(seconds); }

 private:
  static SpawnOptions spawn(const StorePlace& place) {
    return {.argv = {std::filesystem::read_symlink("/proc/self/exe").string(), kServes, place.role, place.scheduler,
                     cat(place.port), cat(place.ranks), place.host},
            .environment = own_environment()};
  }

  std::string name_;
  Subprocess process_;
};

class Companions {
 public:
  explicit Companions(const World& world) {
    if (world.place.rank == 0) all_.push_back(std::make_unique<Companion>(world, kScheduler));
    all_.push_back(std::make_unique<Companion>(world, kServer));
  }
  // Why the first has ended; empty while all run.
  std::string fault() {
    for (const auto& each : all_)
      if (std::string found = each->fault(); !found.empty()) return found;
    return "";
  }
  void await_end(double seconds) {
    for (const auto& each : all_) each->await_end(seconds);
  }

 private:
  std::vector<std::unique_ptr<Companion>> all_;
};

// Ends the process when a companion has ended or a wait takes longer than the world's timeout.
class Watcher {
 public:
  Watcher(Companions& companions, double timeout_seconds)
      : companions_(companions),
        timeout_seconds_(timeout_seconds),
        thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  // From its construction to its destruction.
  class Wait {
   public:
    explicit Wait(Watcher& watcher) : watcher_(watcher) { watcher_.waiting_since_ns_ = now_ns(); }
    ~Wait() { watcher_.waiting_since_ns_ = 0; }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    Watcher& watcher_;
  };

 private:
  void watch(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    while (!ended_.wait_for(lock, stop, kLook, [&] { return stop.stop_requested(); })) {
      std::string fault = companions_.fault();
      const int64_t since_ns = waiting_since_ns_;
      if (since_ns > 0 && 1e-9 * static_cast<double>(now_ns() - since_ns) > timeout_seconds_)
        fault = cat("the other ranks did not answer for ", format_seconds(timeout_seconds_));
      if (fault.empty()) continue;
      std::fprintf(stderr, "tbd worker: summing over the ranks: %s\n", fault.c_str());
      std::_Exit(1);
    }
  }

  Companions& companions_;
  double timeout_seconds_;
  std::atomic<int64_t> waiting_since_ns_ = 0;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

// From the last gradient to the first, as backward makes them, and before what else could run: what waits for other
// processes begins early.
class KeyedGradients final : public GradientExchange {
 public:
  KeyedGradients(KeyValueStore& store, std::span<const Array> gradients, std::vector<int> keys)
      : store_(store), gradients_(gradients.begin(), gradients.end()), keys_(std::move(keys)) {}
  void sum() override {
    for (size_t i = gradients_.size(); i-- > 0;) store_.sum(keys_[i], gradients_[i], static_cast<int>(i) + 1);
  }

 private:
  KeyValueStore& store_;
  std::vector<Array> gradients_;
  std::vector<int> keys_;
};

class StoreExchange final : public Exchange {
 public:
  explicit StoreExchange(const World& world)
      : companions_(world), store_(met(world)), watcher_(std::in_place, companions_, world.timeout_seconds) {}

  // A store is freed together with the others'. Where they are gone this one's call stays behind.
  ~StoreExchange() override {
    watcher_.reset();
    sums_.clear();
    auto freed = std::make_shared<std::promise<void>>();
    std::thread([freed, store = std::move(store_)]() mutable {
      store.reset();
      freed->set_value();
    }).detach();
    if (freed->get_future().wait_for(std::chrono::duration<double>(kGrace)) == std::future_status::ready)
      companions_.await_end(kGrace);
  }

  void sum(std::span<double> values) override {
    if (values.empty()) return;
    const Shape shape = {std::ssize(values)};
    const auto [at, is_new] = sums_.try_emplace(values.size());
    if (is_new) {
      at->second.array = Array(DType::f64, shape);
      at->second.key = declared(std::span(&at->second.array, 1)).front();
    }
    const Array& array = at->second.array;
    array.set(HostTensor(DType::f64, shape, std::span<const double>(values)));
    store_->sum(at->second.key, array, std::numeric_limits<int>::max());
    wait([&] { std::ranges::copy(as_doubles(array.host()), values.begin()); });
  }

  std::unique_ptr<GradientExchange> of_gradients(std::span<const Array> gradients) override {
    return std::make_unique<KeyedGradients>(*store_, gradients, declared(gradients));
  }

  std::function<void()> of_bytes(DType dtype, int64_t bytes) override {
    if (dtype != DType::f32 && dtype != DType::f64)
      fail(ErrorKind::unsupported, "mxnet's key-value store is asked to sum f32 and f64, not ", name(dtype));
    const Shape shape = {bytes / size_of(dtype)};
    const Array array(dtype, shape);
    const int key = declared(std::span(&array, 1)).front();
    return [this, array, key] {
      store_->sum(key, array, 1);
      wait(wait_for_all);
    };
  }

  void wait(const std::function<void()>& work) override {
    const Watcher::Wait waiting(*watcher_);
    work();
  }

 private:
  struct HostSum {
    int key = 0;
    Array array;
  };

  std::unique_ptr<KeyValueStore> met(const World& world) try {
    auto made = std::make_shared<std::promise<std::unique_ptr<KeyValueStore>>>();
    std::future<std::unique_ptr<KeyValueStore>> store = made->get_future();
    std::thread([made, place = place_of(world, kWorker)] {
      try {
        made->set_value(std::make_unique<KeyValueStore>(place));
      } catch (...) {
        made->set_exception(std::current_exception());
      }
    }).detach();
    const double began = now_seconds();
    while (store.wait_for(kLook) != std::future_status::ready) {
      if (const std::string fault = companions_.fault(); !fault.empty()) fail(ErrorKind::io, fault);
      if (now_seconds() - began > world.timeout_seconds)
        fail(ErrorKind::io, "not all came within ", format_seconds(world.timeout_seconds));
    }
    return store.get();
  } catch (const Error& e) {
    throw e.within("meeting the other ranks");
  }

  std::vector<int> declared(std::span<const Array> arrays) {
    std::vector<int> keys(arrays.size());
    std::iota(keys.begin(), keys.end(), next_key_);
    next_key_ += static_cast<int>(keys.size());
    wait([&] { store_->declare(keys, arrays); });
    return keys;
  }

  Companions companions_;
  std::unique_ptr<KeyValueStore> store_;
  std::optional<Watcher> watcher_;
  int next_key_ = 0;
  std::map<size_t, HostSum> sums_;  // by count: a key's array has one shape
};

}  // namespace

std::unique_ptr<Exchange> join_world(const World& world) {
  require(std::ssize(world.ports) == world.place.world, "mxnet needs the ports of ", world.place.world, " ranks, got ",
          world.ports.size());
  return std::make_unique<StoreExchange>(world);
}

std::optional<int> serve(std::span<char* const> arguments) {
  if (arguments.size() != 7 || std::string_view(arguments[1]) != kServes) return std::nullopt;
  const StorePlace place = {.role = arguments[2],
                            .scheduler = arguments[3],
                            .port = parse_int(arguments[4]).value_or(0),
                            .ranks = parse_int(arguments[5]).value_or(0),
                            .host = arguments[6]};
  try {
    KeyValueStore(place).serve();
    return 0;
  } catch (const Error& e) {
    std::string sentence = cat("the key-value ", place.role, ": ", e.what());
    if (place.role == kScheduler && std::string_view(e.what()).find("bind failed") != std::string_view::npos)
      sentence = cat(kPortIsTaken, " ", place.scheduler, ":", place.port);
    std::fprintf(stdout, "%s\n", sentence.c_str());
    std::fflush(stdout);
    return 1;
  }
}

}  // namespace tbd::mxnet
