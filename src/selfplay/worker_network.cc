#include "selfplay/worker_network.h"

#include <algorithm>

#include "go/features.h"

namespace tbd {
namespace {

constexpr const char* kPolicy = "policy_logits";
constexpr const char* kValue = "value";

const Phase& answers_of(const Trainable& cell) { return cell.prepared.program.phase(cell.answers); }

void copy(const TensorMap& answers, const char* name, std::span<float> to) {
  const HostTensor& answer = answers.at(name);
  const HostTensor floats = answer.dtype() == DType::f32 ? answer : converted(answer, DType::f32);
  const std::span<const float> values = floats.as<float>();
  require(values.size() == to.size(), "the network's ", name, " has ", values.size(), " values instead of ", to.size());
  std::ranges::copy(values, to.begin());
}

}  // namespace

int board_of(const Trainable& cell) {
  const Phase& answers = answers_of(cell);
  const auto plays = [&] {
    if (answers.inputs.size() != 1 || answers.inputs[0].name != "x" || answers.inputs[0].shape.size() != 4)
      return false;
    const std::vector<Dim>& shape = answers.inputs[0].shape;
    return shape[1].extent == go::kPlanes && shape[2] == shape[3] && answers.outputs.contains(kPolicy) &&
           answers.outputs.contains(kValue);
  };
  if (!plays())
    fail(ErrorKind::usage, cell.prepared.run.workload.model,
         " plays no Go: its evaluation has to read the planes x and to answer ", kPolicy, " and ", kValue);
  const int64_t board = answers.inputs[0].shape[2].extent;
  go::require_size(board);
  return static_cast<int>(board);
}

WorkerNetwork::WorkerNetwork(TrainingWorker& worker, const Trainable& cell)
    : worker_(worker),
      rows_(cell.prepared.cell.batch),
      board_(board_of(cell)),
      dtype_(answers_of(cell).inputs[0].dtype),
      planes_([this](std::span<const float> x, std::span<float> logits,
                     std::span<float> values) { forward(x, logits, values); },
              static_cast<int>(rows_)) {}

void WorkerNetwork::forward(std::span<const float> x, std::span<float> logits, std::span<float> values) {
  HostTensor planes(DType::f32, {rows_, go::kPlanes, board_, board_}, x);
  if (dtype_ != DType::f32) planes = converted(planes, dtype_);
  double seconds = 0;
  const TensorMap answers = worker_.answer({{"x", std::move(planes)}}, seconds);
  seconds_ += seconds;
  copy(answers, kPolicy, logits);
  copy(answers, kValue, values);
}

}  // namespace tbd
