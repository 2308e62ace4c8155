// The state of a program on a device, by the names of a step's files: param/<p>, buffer/<b>, state/<weight>/<slot>,
// where a weight is a parameter or a buffer. A back-end keeps the tensors; ProgramState (program_state.h) knows what
// the names mean, checks shapes and starts averages.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/tensor.h"
#include "base/text.h"

namespace tbd {

enum class MemoryClass : uint8_t;  // record/memory_log.h

inline constexpr std::string_view kParameterPrefix = "param/", kBufferPrefix = "buffer/", kStatePrefix = "state/";
inline constexpr std::string_view kUpdatesPrefix = "updates/";  // updates/<phase>: how many were applied, a scalar
// scale/<name of a tensor>, a scalar: the tensor comes as the back-end keeps it, a multiple of what it means. Both
// together, written again, give the same bits; the tensor itself would be rounded twice.
inline constexpr std::string_view kScalePrefix = "scale/";
inline constexpr std::string_view kAverageSlot = "ema";

// "fc.weight" of "param/fc.weight" and of "state/fc.weight/exp_avg".
std::string_view weight_of_state(std::string_view name);
// Running statistics and averages are auxiliary.
MemoryClass class_of_state(std::string_view name);

class Store {
 public:
  virtual ~Store() = default;
  virtual std::vector<std::string> names() const = 0;
  // Only known names, values of the weight's logical shape, in any element type. The next run sees what was written.
  virtual void write(const std::string& name, const HostTensor& value) = 0;
  // In the order of the names: logical shape, stored type.
  virtual std::vector<HostTensor> read(std::span<const std::string> names) = 0;
  // What is kept of a tensor where its kernels want a multiple of it.
  struct Multiple {
    HostTensor kept;
    double scale = 1;  // kept = scale x what the tensor means
  };
  virtual std::optional<Multiple> multiple(const std::string&) const { return std::nullopt; }
  virtual void write_multiple(const std::string& name, const Multiple&) {
    fail(ErrorKind::invalid, "this back-end keeps no multiple of '", name, "'");
  }
  // Both are of one weight.
  virtual void copy(const std::string& from, const std::string& to) = 0;
};

// A store of a back-end's own tensors.
template <class Tensor>
class NamedTensors : public Store {
 public:
  Tensor& parameter(const std::string& name) { return tensors_.at(cat(kParameterPrefix, name)); }
  Tensor& buffer(const std::string& name) { return tensors_.at(cat(kBufferPrefix, name)); }
  Tensor& weight(const std::string& name) {
    const auto found = tensors_.find(cat(kParameterPrefix, name));
    return found != tensors_.end() ? found->second : buffer(name);
  }
  // Slot `slot` of a weight ("momentum"); zero and laid out as the weight when it is new.
  Tensor& slot(const std::string& name, std::string_view slot) {
    const std::string full = cat(kStatePrefix, name, '/', slot);
    const auto found = tensors_.find(full);
    return found != tensors_.end() ? found->second : tensors_[full] = zeros_like(full, weight(name));
  }
  Tensor& average(const std::string& name) { return slot(name, kAverageSlot); }
  const Tensor& at(const std::string& full_name) const { return tensors_.at(full_name); }

  std::vector<std::string> names() const final {
    std::vector<std::string> out;
    for (const auto& [name, tensor] : tensors_) out.push_back(name);
    return out;
  }

 protected:
  virtual Tensor zeros_like(const std::string& name, const Tensor& weight) = 0;

  std::map<std::string, Tensor> tensors_;  // by full name
};

}  // namespace tbd
