// MXNet's C API with ownership and errors: arrays, symbols, executors, imperative calls. Only api.cc sees its headers.
// Every call that fails throws Error with MXNet's first sentence; faults of queued work surface where it is waited for.
#pragma once
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"

namespace tbd::mxnet {

// Attributes of an op, spelled as MXNet parses them.
using Attributes = std::vector<std::pair<std::string, std::string>>;
std::string text(double value);  // all digits
inline std::string text(std::same_as<bool> auto value) { return value ? "True" : "False"; }
std::string text(std::span<const int64_t> extents);  // "(1,2)"

// A dense array in the memory of the device; copies share it. Work on it is queued: whatever reads it on the host
// waits.
class Array {
 public:
  Array() = default;
  Array(DType dtype, const Shape& shape);  // all zero; throws Error(unsupported) on a type without kernels
  explicit Array(void* owned) : handle_(share(owned)) {}
  // A scalar is stored with one axis, as MXNet's ops want it; `shape` is what the host sees.
  Array with_shape(const Shape& shape) const;
  // Views of the same memory: under another shape; of the first axis from `begin` to `end`.
  Array viewed(const Shape& shape) const;
  Array part(int64_t begin, int64_t end) const;

  explicit operator bool() const { return handle_ != nullptr; }
  void* handle() const { return handle_.get(); }
  const Shape& shape() const { return shape_; }
  DType dtype() const;
  void set(const HostTensor& value) const;  // converted to the array's type; the shapes must hold equally many elements
  HostTensor host() const;

 private:
  static std::shared_ptr<void> share(void* owned);
  std::shared_ptr<void> handle_;
  Shape shape_;
};

// A value of a graph under construction, or several; copies share it.
class Symbol {
 public:
  Symbol() = default;
  explicit Symbol(void* owned);
  static Symbol variable(const std::string& name);
  static Symbol group(std::span<const Symbol> symbols);
  // The op applied to `in`; auxiliary states (running statistics) are operands too.
  static Symbol apply(const std::string& op, const std::string& name, std::span<const Symbol> in,
                      const Attributes& attributes);

  explicit operator bool() const { return handle_ != nullptr; }
  void* handle() const { return handle_.get(); }
  Symbol output(uint32_t index) const;
  std::vector<std::string> arguments() const;    // variables in the order of binding
  std::vector<std::string> auxiliaries() const;  // those that ops change

 private:
  std::shared_ptr<void> handle_;
};

// What a variable of a symbol is bound to.
enum class Gradient : uint32_t { none = 0, write = 1, add = 3 };
struct Bound {
  Array value, gradient;  // no gradient array where `request` is none
  Gradient request = Gradient::none;
};

class ExecutorObserver {
 public:
  virtual ~ExecutorObserver() = default;
  // An op of the graph was just queued; called once for each of its results, "<op's name>_<result>".
  virtual void queued(std::string_view result, const Array& array) = 0;
};

// A symbol bound to arrays: memory planned once, run many times. Always in training mode.
class Executor {
 public:
  Executor(const Symbol& symbol, std::span<const Bound> arguments, std::span<const Array> auxiliaries);
  const std::vector<Array>& outputs() const { return outputs_; }
  void forward();
  // One gradient per output; those of outputs behind BlockGrad are not read, but must be there.
  void backward(std::span<const Array> of_outputs);
  // MXNet's own print of the graph that it runs, backward ops included, and of the memory it planned for it.
  std::string plan() const;
  // From now on, of every op as it is queued, on the calling thread. Ops are then queued one by one instead of in
  // bulks, for good. Must not throw; must outlive the executor.
  void observe(ExecutorObserver& observer);

 private:
  std::shared_ptr<void> handle_;
  std::vector<Array> outputs_;
};

// Queues one op outside a graph. The second form writes to `out`, which may be an operand.
Array call(const std::string& op, std::span<const Array> in, const Attributes& attributes = {});
void call_into(const Array& out, const std::string& op, std::span<const Array> in, const Attributes& attributes = {});

// Tells of every op queued by call and call_into and of every sum of a KeyValueStore (kStoreSum), with its first
// result; an empty function ends it. One per process.
void observe_calls(std::function<void(const std::string& op, const Array& result)> observer);

void wait_for_all();  // throws what queued work threw
void seed_generators(uint64_t seed);
void use_threads(int64_t threads);
// Arrays and executors made from now on are of this GPU, as MXNet counts them; nullopt: of the CPU, as at first. Of the
// process.
void use_gpu(std::optional<int64_t> index);
std::string library_version();                // "1.9.1"
std::vector<std::string> library_features();  // those that are on: "MKLDNN", "OPENMP", ...

}  // namespace tbd::mxnet
