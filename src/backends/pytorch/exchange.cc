#include "backends/pytorch/exchange.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <chrono>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <type_traits>

#include "backends/pytorch/guard.h"
#include "backends/pytorch/low_rank.h"
#include "backends/pytorch/nccl_library.h"

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

at::Tensor told_of(const TellBuffer& tell, at::Tensor made) {
  if (tell) tell(made);
  return made;
}

// Rounded to the type of the wire, in which Gloo sums; what comes back has its own type again.
class RoundedSum final : public c10d::CppCommHookInterface<Group> {
 public:
  RoundedSum(Group& group, at::ScalarType type, TellBuffer tell)
      : CppCommHookInterface(group), type_(type), tell_(std::move(tell)) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const at::Tensor own = bucket.getBufferRef();
    std::vector<at::Tensor> tensors = {told_of(tell_, own.to(type_))};
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
  TellBuffer tell_;
};

// Waits for each: what travels is small, and all ranks make their sums in one order.
class ProductSum final : public c10d::CppCommHookInterface<Group> {
 public:
  ProductSum(Group& group, int64_t columns, int64_t ranks, TellBuffer tell)
      : CppCommHookInterface(group),
        sum_(
            columns, ranks,
            [group](const at::Tensor& values) {
              std::vector<at::Tensor> tensors = {values};
              group->allreduce(tensors)->wait();
            },
            std::move(tell)) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    sum_.apply(bucket.getParameters(), bucket.getGradients());
    const at::Tensor& sums = bucket.getBufferRef();
    std::vector<c10::Device> devices;
    if (sums.is_cuda()) devices.push_back(sums.device());
    auto done = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get(), std::move(devices));
    done->markCompleted(c10::IValue(sums));
    return done;
  }

 private:
  LowRankSum sum_;
};

// torch 2.15 has another name for what 2.11 calls alltoall_base.
template <class AnyGroup>
auto exchange_parts(AnyGroup& group, at::Tensor& to, at::Tensor& from, std::vector<int64_t> to_sizes,
                    std::vector<int64_t> from_sizes) {
  if constexpr (requires { group.all_to_all_single(to, from, to_sizes, from_sizes); })
    return group.all_to_all_single(to, from, to_sizes, from_sizes);
  else
    return group.alltoall_base(to, from, to_sizes, from_sizes);
}

// Each rank sends the others their parts and adds up what it gets of its own: with Gloo half of the bytes of an
// all-reduce, where its reduce-scatter is one and its reduce to a rank sends more.
class SumOnOwners final : public c10d::CppCommHookInterface<Group> {
 public:
  SumOnOwners(Group& group, const World& world, std::map<const void*, int64_t> owners, TellBuffer tell)
      : CppCommHookInterface(group), place_(world.place), owners_(std::move(owners)), tell_(std::move(tell)) {
    if (world.wire != WireType::kSame) type_ = type_of(world.wire);
  }
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const at::Tensor own = bucket.getBufferRef();
    std::vector<std::vector<at::Tensor>> parts(static_cast<size_t>(place_.world));
    int64_t begin = 0;
    for (const at::Tensor& parameter : bucket.getParameters()) {
      parts[static_cast<size_t>(owners_.at(parameter.unsafeGetTensorImpl()))].push_back(
          own.narrow(0, begin, parameter.numel()));
      begin += parameter.numel();
    }
    std::vector<at::Tensor> all;
    std::vector<int64_t> sizes;
    for (const std::vector<at::Tensor>& part : parts) {
      all.insert(all.end(), part.begin(), part.end());
      int64_t& size = sizes.emplace_back(0);
      for (const at::Tensor& each : part) size += each.numel();
    }
    at::Tensor sent = told_of(tell_, at::cat(all));
    if (type_) sent = told_of(tell_, sent.to(*type_));
    const std::vector<at::Tensor> mine = parts[static_cast<size_t>(place_.rank)];
    const int64_t size = sizes[static_cast<size_t>(place_.rank)];
    at::Tensor got = told_of(tell_, at::empty({place_.world * size}, sent.options()));
    const std::vector<int64_t> got_sizes(static_cast<size_t>(place_.world), size);
    return exchange_parts(*state_, got, sent, got_sizes, sizes)
        ->getFuture()
        ->then(
            // `sent` lives until it is sent
            [own, sent, got, mine, size, ranks = place_.world, tell = tell_](c10::ivalue::Future& done) {
              (void)done.value();  // throws where a rank did not do its part
              const at::Tensor sum =
                  told_of(tell, got.view({ranks, size}).sum(at::IntArrayRef(kRanks), false, own.scalar_type()));
              int64_t at = 0;
              for (const at::Tensor& each : mine) {
                each.copy_(sum.narrow(0, at, each.numel()));
                at += each.numel();
              }
              return c10::IValue(own);
            },
            c10::TensorType::get());
  }

 private:
  static constexpr std::array<int64_t, 1> kRanks = {0};  // the dimension of

  RankPlace place_;
  std::map<const void*, int64_t> owners_;  // by parameter
  std::optional<at::ScalarType> type_;     // of the wire; absent: the gradients' own
  TellBuffer tell_;
};

std::optional<int64_t> columns_of(const WireType& wire) {
  constexpr std::string_view kPrefix = "low_rank_";
  if (!wire.text().starts_with(kPrefix)) return std::nullopt;
  return parse_int(wire.text().substr(kPrefix.size()));
}

std::unique_ptr<c10d::CommHookInterface> sum_of_buckets(Group group, const World& world, const TellBuffer& tell) {
  if (world.wire == WireType::kSame) return std::make_unique<Sum>(group);
  if (const auto columns = columns_of(world.wire))
    return std::make_unique<ProductSum>(group, *columns, world.place.world, tell);
  return std::make_unique<RoundedSum>(group, type_of(world.wire), tell);
}

// The elements in the order of memory.
at::Tensor in_memory(const at::Tensor& tensor) {
  require(tensor.is_non_overlapping_and_dense(), "a tensor with gaps is not sent to other ranks");
  return tensor.detach().as_strided({tensor.numel()}, {1});
}

// What travels together: tensors in their order, of one type, up to so many bytes, and at least one.
std::vector<std::vector<at::Tensor>> in_pieces(const std::vector<at::Tensor>& tensors, int64_t most_bytes) {
  std::vector<std::vector<at::Tensor>> pieces;
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    const auto own = static_cast<int64_t>(tensor.nbytes());
    const bool fits = bytes + own <= most_bytes;
    if (pieces.empty() || !fits || pieces.back().back().scalar_type() != tensor.scalar_type()) {
      pieces.emplace_back();
      bytes = 0;
    }
    pieces.back().push_back(in_memory(tensor));
    bytes += own;
  }
  return pieces;
}

void write_back(const std::vector<at::Tensor>& piece, const at::Tensor& all) {
  int64_t begin = 0;
  for (const at::Tensor& each : piece) {
    each.copy_(all.narrow(0, begin, each.numel()));
    begin += each.numel();
  }
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
  Buckets(const std::vector<at::Tensor>& parameters, const std::vector<int64_t>& owners, const Group& group,
          const World& world, const TellBuffer& tell) {
    const int64_t bytes = world.bucket_bytes, first = std::min(kFirstBucketBytes, bytes);
    auto [buckets, limits] =
        c10d::compute_bucket_assignment_by_size(parameters, {static_cast<size_t>(first), static_cast<size_t>(bytes)});
    std::ranges::reverse(buckets);
    reducer_ = make_reducer<c10d::Reducer>(parameters, std::move(buckets), group, first, bytes);
    reducer_->register_comm_hook(owners.empty() ? sum_of_buckets(group, world, tell)
                                                : sum_on_owners(group, world, parameters, owners, tell));
  }
  void before_forward() override {
    exchanging("arranging the buckets of gradients", [&] {
      if (reducer_->should_rebuild_buckets()) reducer_->rebuild_buckets();
      reducer_->prepare_for_forward();
    });
  }
  void before_backward() override { reducer_->prepare_for_backward({}); }

 private:
  static std::unique_ptr<c10d::CommHookInterface> sum_on_owners(Group group, const World& world,
                                                                const std::vector<at::Tensor>& parameters,
                                                                const std::vector<int64_t>& owners,
                                                                const TellBuffer& tell) {
    std::map<const void*, int64_t> by_parameter;
    for (size_t i = 0; i < parameters.size(); ++i) by_parameter[parameters[i].unsafeGetTensorImpl()] = owners.at(i);
    return std::make_unique<SumOnOwners>(group, world, std::move(by_parameter), tell);
  }

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

// Tensors of the host are summed by Gloo, those of a GPU by NCCL.
class Groups final : public Exchange {
 public:
  Groups(const World& world, bool on_gpu) : world_(world) {
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
    if (on_gpu) add_nccl(timeout);
  }

  void tell_buffers(TellBuffer tell) override { tell_ = std::move(tell); }

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

  std::unique_ptr<GradientExchange> of_gradients(const std::vector<at::Tensor>& parameters,
                                                 const std::vector<int64_t>& owners) override {
    return exchanging("arranging the buckets of gradients",
                      [&] { return std::make_unique<Buckets>(parameters, owners, group_, world_, tell_); });
  }

  void spread(const std::vector<at::Tensor>& tensors, const std::vector<int64_t>& owners) override {
    const at::NoGradGuard no_grad;
    std::vector<std::vector<at::Tensor>> owned(static_cast<size_t>(world_.place.world));
    for (size_t i = 0; i < tensors.size(); ++i) owned.at(static_cast<size_t>(owners.at(i))).push_back(tensors[i]);
    Pieces pieces;
    for (const std::vector<at::Tensor>& of_rank : owned) pieces.push_back(in_pieces(of_rank, world_.bucket_bytes));
    size_t rounds = 0;
    for (const auto& of_rank : pieces) rounds = std::max(rounds, of_rank.size());
    exchanging("sending weights to the other ranks", [&] {
      for (size_t round = 0; round < rounds; ++round) spread_round(pieces, round);
    });
  }

  void average(const std::vector<at::Tensor>& tensors) override {
    const at::NoGradGuard no_grad;
    exchanging("averaging weights over the ranks", [&] {
      for (const std::vector<at::Tensor>& piece : in_pieces(tensors, world_.bucket_bytes)) {
        std::vector<at::Tensor> all = {told_of(tell_, at::cat(piece))};
        group_->allreduce(all)->wait();
        write_back(piece, all[0].div_(world_.place.world));
      }
    });
  }

 private:
  using Pieces = std::vector<std::vector<std::vector<at::Tensor>>>;  // by owner

  void add_nccl(std::chrono::milliseconds timeout) {
    const auto own_keys = c10::make_intrusive<c10d::PrefixStore>("nccl", store_);
    const c10::intrusive_ptr<c10d::Store> store = own_keys;
    c10::intrusive_ptr<c10d::Backend> nccl;
    load_nccl()(&store, static_cast<int>(world_.place.rank), static_cast<int>(world_.place.world), timeout.count(),
                &nccl);
    group_->setBackend(c10::DeviceType::CUDA, c10d::ProcessGroup::NCCL, nccl);
  }

  // Each rank sends its piece of this round to all others, all at the same time. NCCL takes sends and receipts in turn
  // unless they are told as one.
  void spread_round(const Pieces& pieces, size_t round) {
    const bool on_gpu = std::ranges::any_of(
        pieces, [&](const auto& of_rank) { return round < of_rank.size() && of_rank[round].front().is_cuda(); });
    if (on_gpu) group_->startCoalescing(c10::DeviceType::CUDA);
    const auto own = static_cast<size_t>(world_.place.rank);
    const auto tag = static_cast<int>(round);
    std::vector<c10::intrusive_ptr<c10d::Work>> works;
    std::vector<std::vector<at::Tensor>> got(pieces.size());
    for (size_t owner = 0; owner < pieces.size(); ++owner) {
      if (owner == own || round >= pieces[owner].size()) continue;
      int64_t elements = 0;
      for (const at::Tensor& each : pieces[owner][round]) elements += each.numel();
      got[owner] = {told_of(tell_, at::empty({elements}, pieces[owner][round].front().options()))};
      works.push_back(group_->recv(got[owner], static_cast<int>(owner), tag));
    }
    std::vector<at::Tensor> sent;
    if (round < pieces[own].size()) sent = {told_of(tell_, at::cat(pieces[own][round]))};
    for (size_t rank = 0; !sent.empty() && rank < pieces.size(); ++rank)
      if (rank != own) works.push_back(group_->send(sent, static_cast<int>(rank), tag));
    if (on_gpu) works = {group_->endCoalescing(c10::DeviceType::CUDA)};
    for (const auto& work : works) work->wait();
    for (size_t owner = 0; owner < pieces.size(); ++owner)
      if (!got[owner].empty()) write_back(pieces[owner][round], got[owner].front());
  }

  World world_;
  TellBuffer tell_;
  c10::intrusive_ptr<c10d::Store> store_;
  Group group_;
};

}  // namespace

std::unique_ptr<Exchange> join(const World& world, bool on_gpu) {
  return exchanging("meeting the other ranks", [&] { return std::make_unique<Groups>(world, on_gpu); });
}

}  // namespace tbd::pytorch
