// The C API has no calls for collectives, so all of them are ops: a bucket is one CollectiveReduceV2 in the graph of
// the step, and numbers of the host go through a small graph of their own, with one op for each count of numbers.
#include "backends/tensorflow/exchange.h"

#include <algorithm>
#include <map>

namespace tbd::tensorflow {
namespace {

constexpr const char* kJob = "worker";
constexpr int64_t kGroup = 1;

std::string address(const World& world, size_t rank) {
  return cat(world.address(static_cast<int64_t>(rank)), ":", world.ports[rank]);
}

// ServerDef (tensorflow/core/protobuf/tensorflow_server.proto). Without the leader, which numbers the runs of all
// ranks, each would wait for another's run.
std::string server_definition(const World& world, const SessionSettings& settings) {
  constexpr uint32_t kCluster = 1, kJobName = 2, kTask = 3, kConfig = 4, kProtocol = 5;
  constexpr uint32_t kJobs = 1, kName = 1, kTasks = 2, kKey = 1, kValue = 2, kExperimental = 16, kLeader = 1;
  WireMessage job = WireMessage().text(kName, kJob);
  for (size_t rank = 0; rank < world.ports.size(); ++rank)
    job.message(kTasks, WireMessage().integer(kKey, static_cast<int64_t>(rank)).text(kValue, address(world, rank)));
  const WireMessage leader = WireMessage().text(kLeader, cat("/job:", kJob, "/replica:0/task:0"));
  return WireMessage()
      .message(kCluster, WireMessage().message(kJobs, job))
      .text(kJobName, kJob)
      .integer(kTask, world.place.rank)
      .text(kConfig, session_config(settings) + WireMessage().message(kExperimental, leader).bytes())
      .text(kProtocol, "grpc")
      .bytes();
}

// It is never deleted: TensorFlow ends the process that tries.
TF_Server* started_server(const World& world, const SessionSettings& settings) {
  const std::string definition = server_definition(world, settings);
  try {
    const Status status;
    TF_Server* server = TF_NewServer(definition.data(), definition.size(), status);
    status.check();
    TF_ServerStart(server, status);
    status.check();
    return server;
  } catch (const Error& e) {
    fail(ErrorKind::io, kPortIsTaken, " ", address(world, static_cast<size_t>(world.place.rank)), ": ", e.what());
  }
}

// Of a gradient between the ranks.
DType type_of(const WireType& wire, DType own) {
  if (wire == WireType::kBf16) return DType::bf16;
  if (wire == WireType::kFp16) return DType::f16;
  if (wire != WireType::kSame) fail(ErrorKind::unsupported, "gradients do not travel in ", wire);
  return own;
}

std::vector<int64_t> list_of(const Shape& shape) { return {shape.extents().begin(), shape.extents().end()}; }

struct HostSum {
  TF_Output from, to;
};

class Collectives final : public Exchange {
 public:
  Collectives(const World& world, const SessionSettings& settings)
      : world_(world),
        server_(started_server(world, settings)),
        session_(std::make_unique<TfSession>(graph_, on_server(settings))) {}

  SessionSettings on_server(SessionSettings settings) const override {
    settings.server = TF_ServerTarget(server_);
    settings.only_device = cat("/job:", kJob, "/task:", world_.place.rank);
    return settings;
  }

  void sum(std::span<double> values) override {
    try {
      const HostSum& ops = sum_of(static_cast<int64_t>(values.size()));
      const HostTensor own(DType::f64, {static_cast<int64_t>(values.size())}, std::span<const double>(values));
      const TensorHandle tensor = to_tensor(own, DType::f64, Layout::row);
      const Feed feed = {ops.from, tensor.get()};
      const std::vector<TensorHandle> sums = session_->run(std::span(&feed, 1), std::span(&ops.to, 1), {});
      std::ranges::copy(as_doubles(to_host(sums[0].get(), own.shape(), Layout::row)), values.begin());
    } catch (const Error& e) {
      throw e.within("summing over the ranks");
    }
  }

  std::function<void()> of_bytes(DType dtype, int64_t bytes) override {
    TF_Operation* const op = reduced(graph_, graph_.filled(0, dtype, {bytes / size_of(dtype)})).oper;
    return [this, op] {
      try {
        session_->run({}, {}, std::span(&op, 1));
      } catch (const Error& e) {
        throw e.within("summing over the ranks");
      }
    };
  }

  void sum_gradients(TfGraph& graph, std::span<Summand> gradients) override {
    for (const std::vector<size_t>& bucket : buckets_of(gradients, world_.bucket_bytes)) {
      std::vector<TF_Output> parts;
      std::vector<int64_t> sizes;
      for (const size_t i : bucket) {
        parts.push_back(reshaped(graph, gradients[i].output, {-1}));
        sizes.push_back(gradients[i].shape.elements());
      }
      const DType own = gradients[bucket.front()].dtype, wire = type_of(world_.wire, own);
      const TF_Output sum = reduced(graph, cast(graph, joined(graph, parts), own, wire));
      const std::vector<TF_Output> sums = split(graph, cast(graph, sum, wire, own), sizes);
      for (size_t i = 0; i < bucket.size(); ++i)
        gradients[bucket[i]].output = reshaped(graph, sums[i], list_of(gradients[bucket[i]].shape));
    }
  }

 private:
  const HostSum& sum_of(int64_t count) {
    const auto [at, is_new] = sums_.try_emplace(count);
    if (!is_new) return at->second;
    at->second.from = graph_.placeholder(DType::f64, {count});
    at->second.to = reduced(graph_, at->second.from);
    return at->second;
  }

  // Elementwise, in a ring. Each has a number of its own on all ranks.
  TF_Output reduced(TfGraph& graph, TF_Output values) {
    const auto number = [&](int64_t value) { return graph.constant(static_cast<double>(value), DType::i32); };
    const TF_Output size = number(world_.place.world), group = number(kGroup), instance = number(next_instance_++);
    return graph.op("CollectiveReduceV2")
        .in(values)
        .in(size)
        .in(group)
        .in(instance)
        .list({})
        .text("merge_op", "Add")
        .text("final_op", "Id")
        .text("communication_hint", "ring")
        .real("timeout_seconds", world_.timeout_seconds)
        .out();
  }

  static TF_Output reshaped(TfGraph& graph, TF_Output x, const std::vector<int64_t>& extents) {
    return graph.op("Reshape").in(x).in(graph.constant(extents)).out();
  }
  static TF_Output cast(TfGraph& graph, TF_Output x, DType from, DType to) {
    return from == to ? x : graph.op("Cast").in(x).type("DstT", to).out();
  }
  static TF_Output joined(TfGraph& graph, const std::vector<TF_Output>& parts) {
    if (parts.size() == 1) return parts[0];
    return graph.op("ConcatV2").list(parts).in(graph.constant(0, DType::i32)).out();
  }
  static std::vector<TF_Output> split(TfGraph& graph, TF_Output whole, const std::vector<int64_t>& sizes) {
    if (sizes.size() == 1) return {whole};
    const TF_Output axis = graph.constant(0, DType::i32);
    TF_Operation* const parts = graph.op("SplitV")
                                    .in(whole)
                                    .in(graph.constant(sizes))
                                    .in(axis)
                                    .integer("num_split", static_cast<int64_t>(sizes.size()))
                                    .finish();
    std::vector<TF_Output> out;
    for (int i = 0; i < static_cast<int>(sizes.size()); ++i) out.push_back({parts, i});
    return out;
  }

  World world_;
  TF_Server* server_;
  int64_t next_instance_ = 1;
  TfGraph graph_;  // of sums of numbers of the host
  std::map<int64_t, HostSum> sums_;
  std::unique_ptr<TfSession> session_;
};

}  // namespace

std::unique_ptr<Exchange> start_exchange(const World& world, const SessionSettings& settings) {
  require(std::ssize(world.ports) == world.place.world, "tensorflow needs the ports of ", world.place.world,
          " ranks, got ", world.ports.size());
  (void)type_of(world.wire, DType::f32);  // what it cannot do it says before it meets the others
  return std::make_unique<Collectives>(world, settings);
}

std::vector<std::vector<size_t>> buckets_of(std::span<const Summand> gradients, int64_t bucket_bytes) {
  std::vector<std::vector<size_t>> out;
  std::map<DType, std::pair<std::vector<size_t>, int64_t>> open;
  const auto close = [&](std::vector<size_t>& bucket) { out.push_back(std::exchange(bucket, {})); };
  for (size_t i = gradients.size(); i-- > 0;) {
    auto& [bucket, bytes] = open[gradients[i].dtype];
    bucket.push_back(i);
    bytes += gradients[i].shape.elements() * size_of(gradients[i].dtype);
    if (bytes < (out.empty() ? std::min(kFirstBucketBytes, bucket_bytes) : bucket_bytes)) continue;
    close(bucket);
    bytes = 0;
  }
  for (auto& [dtype, last] : open)
    if (!last.first.empty()) close(last.first);
  return out;
}

}  // namespace tbd::tensorflow
