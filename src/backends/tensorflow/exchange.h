// Sums over the ranks of a world by TensorFlow's own engine: every rank is a server, whose graphs hold collective ops
// that wait for those of the same number on the other servers.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/tensorflow/graph.h"
#include "worker/place.h"

namespace tbd::tensorflow {

// A gradient of the graph, as it lies in memory.
struct Summand {
  TF_Output output = {nullptr, 0};
  Shape shape;
  DType dtype = DType::f32;
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  // For a session whose graph holds sums: this rank's server runs it.
  virtual SessionSettings on_server(SessionSettings settings) const = 0;
  // All ranks in the same order of calls, with as many values.
  virtual void sum(std::span<double> values) = 0;
  // One all-reduce of so many bytes that lie in the graph, as a bucket of gradients is summed.
  virtual std::function<void()> of_bytes(DType dtype, int64_t bytes) = 0;
  // Adds ops to the graph whose outputs, put in the place of those given, are the sums over all ranks. All ranks in the
  // same order of calls.
  virtual void sum_gradients(TfGraph& graph, std::span<Summand> gradients) = 0;
};

// Starts this rank's server. The other ranks are met with the first sum. Throws Error(io), with kPortIsTaken, where the
// server cannot listen.
std::unique_ptr<Exchange> start_exchange(const World& world, const SessionSettings& settings);
using StartExchange = std::function<std::unique_ptr<Exchange>(const World&, const SessionSettings&)>;

// Which gradients are summed together, by index: from the last to the first, as they come, those of one type until they
// have `bucket_bytes`; the first bucket has kFirstBucketBytes, so that the exchange begins early.
std::vector<std::vector<size_t>> buckets_of(std::span<const Summand> gradients, int64_t bucket_bytes);

}  // namespace tbd::tensorflow
