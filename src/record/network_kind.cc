#include "record/network_kind.h"

#include "record/record.h"

namespace tbd {

NetworkKind network_kind(std::span<const OpRow> ops, std::string_view domain) {
  NetworkKind kind{.reinforcement = domain == "reinforcement learning"};
  double all = 0, convolutions = 0;
  for (const OpRow& row : ops) {
    const auto flops = static_cast<double>(row.forward.flop_model + row.backward.flop_model);
    all += flops;
    if (row.op.starts_with("conv")) convolutions += flops;
    if (row.op == "lstm" || row.op == "lstm_cell") kind.lstm = true;
    if (row.op == "gru") kind.recurrent = true;
  }
  kind.recurrent = kind.recurrent || kind.lstm;
  kind.convolutional = !kind.recurrent && !kind.reinforcement && convolutions > all / 2;
  return kind;
}

}  // namespace tbd
