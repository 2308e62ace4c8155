#include <ATen/ops/_pack_padded_sequence.h>
#include <ATen/ops/_pad_packed_sequence.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/gru.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/lstm_cell.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "backends/pytorch/lowering.h"
#include "backends/pytorch/onednn.h"
#include "base/error.h"
#include "base/text.h"

namespace tbd::pytorch {
namespace {

constexpr bool kBiases = true, kTrain = true, kBidirectional = false, kBatchFirst = true;
constexpr int64_t kLayers = 1;
constexpr double kNoDropout = 0;

using Tensors = std::vector<at::Tensor>;

// One layer and direction: h (for lstm h and c) before the first step, (1, N, H), is 0. y, then the last states.
struct Cell {
  at::Tensor zero;
  Tensors weights;
};

template <class Op>
Cell cell_of(const Op& op, const Args& in) {
  const at::Tensor& x = in[0];
  const at::Tensor zero = in.constants([&]() -> Tensors {
                              return {at::zeros({1, x.size(0), op.hidden}, x.options())};
                            }).front();
  const size_t first = in.size() - 4;
  return {zero, {in[first], in[first + 1], in[first + 2], in[first + 3]}};
}

// Of whole sequences (N, T, in).
Tensors run(const Lstm&, const at::Tensor& x, const Cell& cell) {
  const Tensors state = {cell.zero, cell.zero};
  const auto [y, h, c] =
      at::lstm(x, state, cell.weights, kBiases, kLayers, kNoDropout, kTrain, kBidirectional, kBatchFirst);
  return {y, h, c};
}
Tensors run(const Gru&, const at::Tensor& x, const Cell& cell) {
  const auto [y, h] =
      at::gru(x, cell.zero, cell.weights, kBiases, kLayers, kNoDropout, kTrain, kBidirectional, kBatchFirst);
  return {y, h};
}

// Of packed ones (valid steps, in).
Tensors run(const Lstm&, const at::Tensor& data, const at::Tensor& batch_sizes, const Cell& cell) {
  const Tensors state = {cell.zero, cell.zero};
  const auto [y, h, c] =
      at::lstm(data, batch_sizes, state, cell.weights, kBiases, kLayers, kNoDropout, kTrain, kBidirectional);
  return {y, h, c};
}
Tensors run(const Gru&, const at::Tensor& data, const at::Tensor& batch_sizes, const Cell& cell) {
  const auto [y, h] =
      at::gru(data, batch_sizes, cell.zero, cell.weights, kBiases, kLayers, kNoDropout, kTrain, kBidirectional);
  return {y, h};
}

template <class Op>
Tensors whole(const Op& op, const at::Tensor& x, const Cell& cell) {
  Tensors results = run(op, op.reverse ? x.flip(1) : x, cell);
  if (op.reverse) results[0] = results[0].flip(1);
  for (size_t i = 1; i < results.size(); ++i) results[i] = results[i].squeeze(0);
  return results;
}

// (N, T, ...) with the first lengths[n] steps of sample n in opposite order: its own inverse.
at::Tensor reversed(const at::Tensor& x, const at::Tensor& lengths) {
  const at::Tensor step = at::arange(x.size(1), lengths.options()).unsqueeze(0), length = lengths.unsqueeze(1);
  const at::Tensor from = at::where(step.lt(length), length.sub(step).sub(1), step);
  return at::gather(x, 1, from.to(x.device()).unsqueeze(-1).expand(x.sizes()));
}

// Packed: no work on padding. torch packs samples in the order of falling lengths, which it wants on the host.
template <class Op>
Tensors packed(const Op& op, const at::Tensor& x, const at::Tensor& lengths, const Cell& cell) {
  const auto [sorted, order] = at::sort(lengths.to(at::kCPU, at::kLong), /*dim=*/0, /*descending=*/true);
  const at::Tensor forth = order.to(x.device()), back = at::argsort(order).to(x.device());
  at::Tensor steps = x.index_select(0, forth);
  if (op.reverse) steps = reversed(steps, sorted);
  const auto [data, batch_sizes] = at::_pack_padded_sequence(steps, sorted, kBatchFirst);
  Tensors results = run(op, data, batch_sizes, cell);
  at::Tensor& y = results[0];
  y = std::get<0>(at::_pad_packed_sequence(y, batch_sizes, kBatchFirst, /*padding_value=*/0, x.size(1)));
  if (op.reverse) y = reversed(y, sorted);
  y = y.index_select(0, back);
  for (size_t i = 1; i < results.size(); ++i) results[i] = results[i].squeeze(0).index_select(0, back);
  return results;
}

void require_within(const at::Tensor& lengths, int64_t steps) {
  const int64_t least = lengths.min().item<int64_t>(), most = lengths.max().item<int64_t>();
  require(least >= 1 && most <= steps, "lengths of ", least, " to ", most, " are not within 1 to ", steps, " steps");
}

// Whole, with padding of 0 that the masks keep out of results and gradients: torch has one kernel of oneDNN for all
// steps of an LSTM, forward and backward, and takes it for no packed sequence. It does not tell c where a sample ends.
Tensors masked(const Lstm& op, const Args& in, const Cell& cell) {
  const at::Tensor lengths = in[1].to(at::kCPU, at::kLong);
  require_within(lengths, in[0].size(1));
  const at::Tensor step = at::arange(in[0].size(1), lengths.options()).unsqueeze(0);
  const at::Tensor beyond = step.ge(lengths.unsqueeze(1)).unsqueeze(-1);
  at::Tensor x = in[0].masked_fill(beyond, 0);
  if (op.reverse) x = reversed(x, lengths);
  at::Tensor y = run(op, x, cell)[0].masked_fill(beyond, 0);
  const at::Tensor last = lengths.sub(1).view({-1, 1, 1}).expand({-1, 1, op.hidden});
  const at::Tensor h = in.use().is_read(1) ? at::gather(y, 1, last).squeeze(1) : at::Tensor();
  if (op.reverse) y = reversed(y, lengths);
  return {y, h, at::Tensor()};
}

Tensors with_lengths(const Lstm& op, const Args& in, const Cell& cell) {
  if (prefers_onednn() && in[0].is_cpu() && !in.use().is_read(2)) return masked(op, in, cell);
  return packed(op, in[0], in[1], cell);
}
Tensors with_lengths(const Gru& op, const Args& in, const Cell& cell) { return packed(op, in[0], in[1], cell); }

template <class Op>
Tensors lowered(const Op& op, const Args& in) {
  const Cell cell = cell_of(op, in);
  return has_lengths(in.size()) ? with_lengths(op, in, cell) : whole(op, in[0], cell);
}

// `otherwise` follows what is said of lengths.
LoweredAs named_recurrent(std::string_view cell, bool reverse, bool lengths, std::string_view otherwise = "") {
  if (lengths && reverse)
    return composed(cat("gather, _pack_padded_sequence, ", cell, ", _pad_packed_sequence, gather", otherwise));
  if (lengths) return composed(cat("_pack_padded_sequence, ", cell, ", _pad_packed_sequence", otherwise));
  if (reverse) return composed(cat("flip, ", cell, ", flip"));
  return native(std::string(cell));
}

}  // namespace

Tensors lower(const Lstm& op, const Args& in) { return lowered(op, in); }
LoweredAs lowered_as(const Lstm& op, size_t operands) {
  constexpr std::string_view kOtherwise =
      "; in mode eager-onednn, where c is not read, masked_fill before and after lstm in place of packing";
  return named_recurrent("lstm", op.reverse, has_lengths(operands), kOtherwise);
}
Tensors lower(const Gru& op, const Args& in) { return lowered(op, in); }
LoweredAs lowered_as(const Gru& op, size_t operands) {
  return named_recurrent("gru", op.reverse, has_lengths(operands));
}

Tensors lower(const LstmCell&, const Args& in) {
  const at::Tensor state[] = {in[1], in[2]};
  const auto [h, c] = at::lstm_cell(in[0], state, in[3], in[4], in[5], in[6]);
  return {h, c};
}
LoweredAs lowered_as(const LstmCell&, size_t) { return native("lstm_cell"); }

}  // namespace tbd::pytorch
