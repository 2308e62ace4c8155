#include "op_speech_cases.h"

namespace tbd {
namespace {

using Cases = std::vector<OpCase>;
using Values = OpCase::Values;

const Shape kMaskedImage = {3, 4, 7, 6};

Cases strided_length_cases() {
  return {{.op = StridedLength{}, .operands = {{6}}, .integers = {0}, .given = {{0, {1, 2, 3, 4, 7, 100}}}},
          {.op = StridedLength{3}, .operands = {{5}}, .integers = {0}, .given = {{0, {1, 3, 4, 6, 7}}}},
          {.op = StridedLength{1}, .operands = {{2}}, .integers = {0}, .given = {{0, {1, 9}}}}};
}

OpCase masked(int64_t axis, const Shape& x, const std::vector<double>& lengths) {
  return {.op = SequenceMask{axis}, .operands = {x, {x[0]}}, .integers = {1}, .given = {{1, lengths}}};
}
Cases sequence_mask_cases() {
  return {masked(1, {3, 5, 4}, {5, 1, 3}),    masked(1, {2, 6}, {2, 6}),          masked(2, {3, 2, 4}, {4, 4, 1}),
          masked(3, kMaskedImage, {6, 1, 4}), masked(2, kMaskedImage, {3, 7, 1}), masked(1, kMaskedImage, {2, 4, 1})};
}

OpCase gru(Gru op, int64_t samples, int64_t steps, int64_t width, const std::vector<double>& lengths = {},
           const std::vector<size_t>& unread = {}) {
  OpCase c = {.op = op, .operands = {{samples, steps, width}}, .unread = unread};
  if (lengths.empty()) return c;
  c.operands.push_back({samples});
  c.integers = {1};
  c.given = {{1, lengths}};
  return c;
}
Cases gru_cases() {
  return {gru({.hidden = 3}, 3, 5, 4),
          gru({.hidden = 3, .reverse = true}, 3, 5, 4),
          gru({.hidden = 3}, 3, 5, 4, {5, 1, 3}),
          gru({.hidden = 3, .reverse = true}, 3, 5, 4, {1, 5, 2}),
          gru({.hidden = 2}, 2, 1, 3),
          gru({.hidden = 2}, 1, 3, 1),
          gru({.hidden = 2}, 3, 4, 3, {4, 2, 1}, {1}),
          gru({.hidden = 2, .reverse = true}, 3, 4, 3, {2, 4, 3}, {0})};
}

// Targets that sum to 1, that do not, and that are 0.
Cases soft_cross_entropy_cases() {
  const std::vector<double> shares = {0.5, 0.25, 0, 0.125, 0.125}, loose = {0.5, 1, 0.25, 0, 2};
  const auto with = [](const Shape& shape, const std::vector<double>& target) -> OpCase {
    return {.op = SoftCrossEntropy{}, .operands = {shape, shape}, .fixed = {1}, .given = {{1, target}}};
  };
  return {with({4, 5}, shares), with({3, 5}, loose), with({2, 3, 5}, shares), with({2, 4}, {0, 0, 1, 0, 0, 0, 0, 0})};
}

struct Spoken {
  std::vector<double> lengths, labels, label_lengths;
};
OpCase ctc(int64_t steps, int64_t classes, int64_t most_labels, const Spoken& spoken, int64_t blank = 0) {
  const auto samples = static_cast<int64_t>(spoken.lengths.size());
  return {.op = CtcLoss{blank},
          .operands = {{samples, steps, classes}, {samples}, {samples, most_labels}, {samples}},
          .integers = {1, 2, 3},
          .given = {{1, spoken.lengths}, {2, spoken.labels}, {3, spoken.label_lengths}}};
}
// Plain, with repeats, as many steps as the labels need, none but blanks, no path at all, another blank.
Cases ctc_loss_cases() {
  return {ctc(6, 5, 3, {{6, 5}, {1, 2, 4, 3, 1, 0}, {3, 2}}),
          ctc(7, 4, 3, {{7, 5}, {2, 2, 2, 1, 1, 3}, {3, 3}}),
          ctc(5, 4, 4, {{5, 4, 2}, {1, 1, 2, 0, 1, 2, 3, 1, 3, 2, 0, 0}, {3, 4, 2}}),
          ctc(4, 3, 2, {{4, 1}, {0, 0, 1, 0}, {0, 1}}),
          ctc(4, 3, 3, {{3, 4}, {1, 1, 2, 1, 2, 0}, {3, 2}}),
          ctc(5, 4, 2, {{5, 3}, {0, 2, 1, 1}, {2, 1}}, 3),
          ctc(5, 4, 2, {{4, 5}, {0, 3, 3, 0}, {2, 1}}, 1)};
}

}  // namespace

std::vector<OpCase> speech_cases(const std::string& kind) {
  if (kind == "strided_length") return strided_length_cases();
  if (kind == "sequence_mask") return sequence_mask_cases();
  if (kind == "gru") return gru_cases();
  if (kind == "soft_cross_entropy") return soft_cross_entropy_cases();
  if (kind == "ctc_loss") return ctc_loss_cases();
  return {};
}

std::vector<OpCase> large_speech_cases() {
  return {masked(3, {3, 32, 13, 33}, {33, 7, 20}),
          gru({.hidden = 40}, 5, 17, 33, {17, 1, 9, 16, 2}),
          gru({.hidden = 33, .reverse = true}, 4, 12, 40),
          {.op = SoftCrossEntropy{}, .operands = {{24, 362}, {24, 362}}, .fixed = {1}, .values = Values::positive},
          ctc(60, 29, 12, {{60, 31, 44}, {3, 3, 9, 28, 1, 7, 20, 2, 2, 14, 15, 5}, {12, 7, 10}})};
}

}  // namespace tbd
