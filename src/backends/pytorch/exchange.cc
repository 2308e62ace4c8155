#include "backends/pytorch/exchange.h"

#include <ATen/ops/from_blob.h>

#include <chrono>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <type_traits>

#include "backends/pytorch/guard.h"

namespace tbd::pytorch {
namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

// Gloo throws its own exceptions, torch throws c10::Error: either way a rank did not do its part.
template <class Work>
auto exchanging(const char* what, Work&& work) try {
  return work();
} catch (const c10::Error& e) {
  fail(ErrorKind::io, what, ": ", sentence_of(e));
} catch (const Error&) {
  throw;
} catch (const std::exception& e) {
  const std::string text = e.what();
  fail(ErrorKind::io, what, ": ", text.substr(0, text.find('\n')));
}

at::ScalarType type_of(const WireType& wire) {
  if (wire == WireType::kBf16) return at::kBFloat16;
  if (wire == WireType::kFp16) return at::kHalf;
  fail(ErrorKind::unsupported, "gradients do not travel in ", wire);
}

// The sum as it is: norms hold the samples of all ranks already, so nothing is divided.
class Sum final : public c10d::CppCommHookInterface<Group> {
 public:
  using CppCommHookInterface::CppCommHookInterface;
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    std::vector<at::Tensor> tensors = {bucket.getBufferRef()};
    return state_->allreduce(tensors)->getFuture();
  }
};

// Rounded to the type of the wire, in which Gloo sums; what comes back has its own type again.
class RoundedSum final : public c10d::CppCommHookInterface<Group> {
 public:
  RoundedSum(Group& group, at::ScalarType type) : CppCommHookInterface(group), type_(type) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const at::Tensor own = bucket.getBufferRef();
    std::vector<at::Tensor> tensors = {own.to(type_)};
    const at::Tensor sum = tensors.front();
    return state_->allreduce(tensors)->getFuture()->then(
        [own, sum](c10::ivalue::Future& done) {
          (void)done.value();  // throws where a rank did not do its part
          own.copy_(sum);
          return c10::IValue(own);
        },
        c10::TensorType::get());
  }

 private:
  at::ScalarType type_;
};

std::unique_ptr<c10d::CommHookInterface> sum_of_buckets(Group group, const WireType& wire) {
  if (wire == WireType::kSame) return std::make_unique<Sum>(group);
  return std::make_unique<RoundedSum>(group, type_of(wire));
}

// torch 2.11 has fewer arguments than 2.15: what comes after `use_python_reducer` has its default, where it can.
template <class Reducer>
std::unique_ptr<Reducer> make_reducer(const std::vector<at::Tensor>& parameters,
                                      std::vector<std::vector<size_t>> buckets, const Group& group, int64_t first_bytes,
                                      int64_t bucket_bytes) {
  const std::vector<bool> dense(parameters.size(), false);
  const std::unordered_map<size_t, std::string> no_names;
  if constexpr (std::is_constructible_v<Reducer, std::vector<at::Tensor>, std::vector<std::vector<size_t>>, Group,
                                        std::vector<bool>, int64_t, bool, bool, std::unordered_map<size_t, std::string>,
                                        int64_t, bool, bool, std::vector<int64_t>>)
    return std::make_unique<Reducer>(parameters, std::move(buckets), group, dense, bucket_bytes, false, true, no_names,
                                     first_bytes, false, false, std::vector<int64_t>());
  else
    return std::make_unique<Reducer>(parameters, std::move(buckets), group, dense, bucket_bytes, false, true, no_names,
                                     first_bytes, false, false);
}

// DDP's order: the last parameters' gradients come first.
class Buckets final : public GradientExchange {
 public:
  Buckets(const std::vector<at::Tensor>& parameters, const Group& group, const World& world) {
    const int64_t bytes = world.bucket_bytes, first = std::min(kFirstBucketBytes, bytes);
    auto [buckets, limits] =
        c10d::compute_bucket_assignment_by_size(parameters, {static_cast<size_t>(first), static_cast<size_t>(bytes)});
    std::ranges::reverse(buckets);
    reducer_ = make_reducer<c10d::Reducer>(parameters, std::move(buckets), group, first, bytes);
    reducer_->register_comm_hook(sum_of_buckets(group, world.wire));
  }
  void before_forward() override {
    exchanging("arranging the buckets of gradients", [&] {
      if (reducer_->should_rebuild_buckets()) reducer_->rebuild_buckets();
      reducer_->prepare_for_forward();
    });
  }
  void before_backward() override { reducer_->prepare_for_backward({}); }

 private:
  std::unique_ptr<c10d::Reducer> reducer_;
};

// Where the ranks have no file in common.
c10::intrusive_ptr<c10d::Store> store_of_rank_0(const World& world, std::chrono::milliseconds timeout) try {
  require(!world.ports.empty(), "pytorch needs a port for rank 0, or a file that all ranks see");
  return c10::make_intrusive<c10d::TCPStore>(world.address(0),
                                             c10d::TCPStoreOptions{.port = static_cast<uint16_t>(world.ports[0]),
                                                                   .isServer = world.place.rank == 0,
                                                                   .numWorkers = static_cast<size_t>(world.place.world),
                                                                   .timeout = timeout});
} catch (const c10::Error& e) {
  const std::string said = sentence_of(e);
  if (world.place.rank != 0 || said.find("ddress already in use") == std::string::npos) throw;
  fail(ErrorKind::io, kPortIsTaken, " ", world.address(0), ":", world.ports[0], ": ", said);
}

class Gloo final : public Exchange {
 public:
  explicit Gloo(const World& world) : world_(world) {
    const auto timeout = std::chrono::milliseconds(static_cast<int64_t>(1e3 * world.timeout_seconds));
    const auto rank = static_cast<int>(world.place.rank), size = static_cast<int>(world.place.world);
    if (world.store.empty())
      store_ = store_of_rank_0(world, timeout);
    else
      store_ = c10::make_intrusive<c10d::FileStore>(world.store, size);
    store_->setTimeout(timeout);
    const auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->threads = 1;
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(world.address(world.place.rank)));
    const auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<c10d::PrefixStore>("gloo", store_), rank, size, options);
    group_ = c10::make_intrusive<c10d::ProcessGroup>(store_, rank, size);
    group_->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::GLOO, gloo);
    group_->setDefaultBackend(c10d::ProcessGroup::GLOO);
  }

  std::vector<std::string> gather(const std::string& name, const std::string& own) override {
    return exchanging("waiting for the other ranks", [&] {
      const auto key = [&](int64_t rank) { return cat(name, "/", rank); };
      store_->set(key(world_.place.rank), std::vector<uint8_t>(own.begin(), own.end()));
      std::vector<std::string> all;
      for (int64_t rank = 0; rank < world_.place.world; ++rank) {
        const std::vector<uint8_t> said = store_->get(key(rank));
        all.emplace_back(said.begin(), said.end());
      }
      return all;
    });
  }

  void sum(std::span<double> values) override {
    exchanging("summing over the ranks", [&] {
      std::vector<at::Tensor> tensors = {
          at::from_blob(values.data(), {static_cast<int64_t>(values.size())}, at::TensorOptions(at::kDouble))};
      group_->allreduce(tensors)->wait();
    });
  }

  std::function<void()> of_values(const at::Tensor& values) override {
    return [this, values] {
      exchanging("summing over the ranks", [&] {
        std::vector<at::Tensor> tensors = {values};
        group_->allreduce(tensors)->wait();
      });
    };
  }

  std::unique_ptr<GradientExchange> of_gradients(const std::vector<at::Tensor>& parameters) override {
    return exchanging("arranging the buckets of gradients",
                      [&] { return std::make_unique<Buckets>(parameters, group_, world_); });
  }

 private:
  World world_;
  c10::intrusive_ptr<c10d::Store> store_;
  Group group_;
};

}  // namespace

std::unique_ptr<Exchange> join(const World& world) {
  return exchanging("meeting the other ranks", [&] { return std::make_unique<Gloo>(world); });
}

}  // namespace tbd::pytorch
