#include "op_sequence_cases.h"

namespace tbd {
namespace {

using Cases = std::vector<OpCase>;
using Values = OpCase::Values;

constexpr double kMasked = -1e4;
const Shape kJoinedImage = {2, 4, 7, 6};

Cases concat_cases() {
  Cases cases = {{.op = Concat{1}, .operands = {{2, 3, 5}, {2, 4, 5}}},
                 {.op = Concat{0}, .operands = {{2, 3}, {1, 3}}},
                 {.op = Concat{2}, .operands = {{2, 3, 4}, {2, 3, 1}, {2, 3, 2}}},
                 {.op = Concat{0}, .operands = {{3}, {2}}},
                 {.op = Concat{1}, .operands = {{2, 3}, {2, 2}}, .integers = {0, 1}}};
  for (const int64_t axis : {0, 1, 2, 3}) {
    Shape other = kJoinedImage;
    other[axis] += 1;
    cases.push_back({.op = Concat{axis}, .operands = {kJoinedImage, other, kJoinedImage}});
  }
  return cases;
}

Cases slice_cases() {
  return {{.op = Slice{.begin = 1, .end = 3}, .operands = {{2, 5}}},
          {.op = Slice{.begin = 3, .end = 4}, .operands = {{3, 7}}},
          {.op = Slice{.axis = 0, .begin = 2}, .operands = {{5}}},
          {.op = Slice{.axis = 0, .end = 1}, .operands = {{3, 2}}},
          {.op = Slice{.axis = 2, .begin = 1, .end = 5}, .operands = {{2, 5, 6}}},
          {.op = Slice{}, .operands = {{2, 3, 4}}},
          {.op = Slice{.axis = 1, .begin = 1, .end = 3}, .operands = {kJoinedImage}},
          {.op = Slice{.axis = 2, .begin = 2}, .operands = {kJoinedImage}},
          {.op = Slice{.axis = 3, .end = 5}, .operands = {kJoinedImage}},
          {.op = Slice{.begin = 1, .end = 4}, .operands = {{2, 5}}, .integers = {0}}};
}

Cases transpose_cases() {
  return {{.op = Transpose{{0}}, .operands = {{4}}},
          {.op = Transpose{{1, 0}}, .operands = {{3, 4}}},
          {.op = Transpose{{0, 2, 1}}, .operands = {{2, 3, 4}}},
          {.op = Transpose{{2, 0, 1}}, .operands = {{2, 3, 4}}},
          {.op = Transpose{{1, 0, 2}}, .operands = {{2, 3, 4}}},
          {.op = Transpose{{0, 1, 2}}, .operands = {{2, 3, 4}}},
          {.op = Transpose{{0, 2, 1, 3}}, .operands = {kJoinedImage}},
          {.op = Transpose{{0, 3, 1, 2}}, .operands = {kJoinedImage}},
          {.op = Transpose{{3, 2, 1, 0}}, .operands = {kJoinedImage}},
          {.op = Transpose{{0, 3, 1, 4, 2}}, .operands = {{2, 2, 3, 1, 2}}},
          {.op = Transpose{{1, 0}}, .operands = {{2, 3}}, .integers = {0}}};
}

// Positions that are taken twice, the first and the last one, more places than rows.
Cases gather_cases() {
  return {{.op = Gather{}, .operands = {{2, 5, 3}, {2, 4}}, .integers = {1}, .given = {{1, {0, 2, 2, 4, 3, 3, 3, 0}}}},
          {.op = Gather{}, .operands = {{3, 6}, {3, 2}}, .integers = {1}},
          {.op = Gather{}, .operands = {{2, 3, 2, 4}, {2, 1}}, .integers = {1}, .given = {{1, {2, 0}}}},
          {.op = Gather{}, .operands = {{2, 3, 4}, {2, 7}}, .integers = {1}},
          {.op = Gather{}, .operands = {{1, 1, 2}, {1, 3}}, .integers = {1}},
          {.op = Gather{}, .operands = {{2, 5}, {2, 3}}, .integers = {0, 1}}};
}

// Places of the padding row are left to the large cases: it gets no gradient, though the result depends on it.
Cases embedding_cases() {
  return {{.op = Embedding{.rows = 7, .width = 3},
           .operands = {{2, 5}},
           .integers = {0},
           .given = {{0, {0, 6, 3, 3, 1, 0, 3, 5, 5, 6}}}},
          {.op = Embedding{.rows = 7, .width = 3, .pad = 1},
           .operands = {{2, 3}},
           .integers = {0},
           .given = {{0, {2, 6, 0, 2, 2, 4}}}},
          {.op = Embedding{.rows = 9, .width = 1}, .operands = {{4}}, .integers = {0}},
          {.op = Embedding{.rows = 5, .width = 4}, .operands = {{2, 2, 3}}, .integers = {0}},
          {.op = Embedding{.rows = 1, .width = 2}, .operands = {{3, 1}}, .integers = {0}}};
}

Cases equals_cases() {
  return {{.op = Equals{}, .operands = {{3, 4}}, .integers = {0}},
          {.op = Equals{.value = 3}, .operands = {{2, 5}}, .integers = {0}, .given = {{0, {3, 0, 3, 4, 7, 2, 3}}}},
          {.op = Equals{.value = 1}, .operands = {{7}}, .integers = {0}},
          {.op = Equals{.value = 2, .to = DType::f64}, .operands = {{2, 2, 3}}, .integers = {0}}};
}

Cases sinusoid_cases() {
  return {{.op = Sinusoid{.width = 6}, .operands = {{2, 5}}, .fixed = {0}},
          {.op = Sinusoid{.first = 2, .width = 4}, .operands = {{3, 7}}, .fixed = {0}},
          {.op = Sinusoid{.first = 5, .width = 8}, .operands = {{1, 1}}, .fixed = {0}}};
}

Cases rotary_cases() {
  return {{.op = Rotary{}, .operands = {{2, 5, 3, 4}}},
          {.op = Rotary{.theta = 500000}, .operands = {{1, 7, 2, 8}}},
          {.op = Rotary{}, .operands = {{2, 1, 1, 2}}}};
}

enum Masks { none, additive, drop, both };

// N = 2. The additive mask leaves each sample's first key, so that no query is without one.
OpCase attention(Attention op, int64_t queries, int64_t keys, int64_t head, Masks masks = none, int64_t samples = 2) {
  const Shape q = {samples, queries, op.heads * head}, k = {samples, keys, op.key_heads() * head};
  OpCase c = {.op = op, .operands = {q, k, k}};
  if (masks == additive || masks == both) c.operands.push_back({samples, keys});
  if (masks == drop || masks == both) c.operands.push_back({samples, op.heads, queries, keys});
  for (size_t i = 3; i < c.operands.size(); ++i) c.fixed.push_back(i);
  return c;
}

Cases attention_cases() {
  return {attention({}, 5, 5, 4),
          attention({.heads = 2}, 3, 6, 4),
          attention({.heads = 2}, 1, 7, 3),
          attention({.heads = 2}, 4, 1, 2),
          attention({.heads = 4, .kv_heads = 2}, 5, 3, 3),
          attention({.heads = 3, .kv_heads = 1}, 4, 5, 2),
          attention({.heads = 2, .kv_heads = 2}, 3, 4, 1),
          attention({.heads = 2, .causal = true}, 6, 6, 3),
          attention({.heads = 6, .kv_heads = 2, .causal = true}, 5, 5, 2),
          attention({.heads = 2}, 4, 6, 3, additive),
          attention({.heads = 2, .causal = true}, 5, 5, 3, additive),
          attention({.heads = 2, .dropout = 0.25}, 3, 6, 4, drop),
          attention({.heads = 2, .dropout = 0.5}, 5, 4, 3, both),
          attention({.heads = 4, .kv_heads = 2, .causal = true, .dropout = 0.25}, 4, 4, 2, both)};
}

OpCase lstm(Lstm op, int64_t samples, int64_t steps, int64_t width, const std::vector<double>& lengths = {},
            const std::vector<size_t>& unread = {}) {
  OpCase c = {.op = op, .operands = {{samples, steps, width}}, .unread = unread};
  if (lengths.empty()) return c;
  c.operands.push_back({samples});
  c.integers = {1};
  c.given = {{1, lengths}};
  return c;
}

Cases lstm_cases() {
  return {lstm({.hidden = 3}, 3, 5, 4),
          lstm({.hidden = 3, .reverse = true}, 3, 5, 4),
          lstm({.hidden = 3}, 3, 5, 4, {5, 1, 3}),
          lstm({.hidden = 3, .reverse = true}, 3, 5, 4, {1, 5, 2}),
          lstm({.hidden = 5}, 2, 4, 2, {3, 3}),
          lstm({.hidden = 2}, 2, 1, 3),
          lstm({.hidden = 2, .reverse = true}, 2, 1, 3, {1, 1}),
          lstm({.hidden = 2}, 1, 3, 1),
          lstm({.hidden = 2}, 3, 4, 3, {4, 2, 1}, {1, 2}),
          lstm({.hidden = 2, .reverse = true}, 3, 4, 3, {}, {1, 2}),
          lstm({.hidden = 2}, 3, 4, 3, {2, 4, 3}, {0}),
          lstm({.hidden = 2, .reverse = true}, 3, 4, 3, {2, 4, 3}, {0, 2})};
}

Cases lstm_cell_cases() {
  return {{.op = LstmCell{3}, .operands = {{3, 4}, {3, 3}, {3, 3}}},
          {.op = LstmCell{5}, .operands = {{2, 2}, {2, 5}, {2, 5}}},
          {.op = LstmCell{2}, .operands = {{1, 1}, {1, 2}, {1, 2}}, .values = Values::positive},
          {.op = LstmCell{2}, .operands = {{3, 4}, {3, 2}, {3, 2}}, .unread = {0}},
          {.op = LstmCell{2}, .operands = {{3, 4}, {3, 2}, {3, 2}}, .unread = {1}}};
}

OpCase cross_entropy(SoftmaxCrossEntropy op, const Shape& logits, const std::vector<double>& labels = {},
                     const std::vector<double>& weights = {}) {
  const auto extents = logits.extents();
  const Shape rows(std::vector<int64_t>(extents.begin(), extents.end() - 1));
  OpCase c = {.op = op, .operands = {logits, rows}, .integers = {1}};
  if (!labels.empty()) c.given[1] = labels;
  if (weights.empty()) return c;
  c.operands.push_back(rows);
  c.fixed = {2};
  c.given[2] = weights;
  return c;
}

Cases softmax_cross_entropy_cases() {
  using enum SoftmaxCrossEntropy::Spread;
  Cases cases;
  for (const double smoothing : {0.0, 0.1})
    for (const int64_t classes : {5, 33}) cases.push_back(cross_entropy({smoothing}, {6, classes}));
  const std::vector<double> some = {1, 0, 4, 1, 2, 1}, weights = {1, 0.5, 0, 2, 1, 0.25};
  for (const OpCase& c :
       {cross_entropy({0.1, others}, {6, 7}), cross_entropy({0.2, others}, {5, 2}), cross_entropy({}, {2, 3, 7}),
        cross_entropy({0.1}, {2, 2, 3, 5}), cross_entropy({.ignore = 1}, {6, 5}, some),
        cross_entropy({.ignore = 9}, {4, 5}, {9, 0, 4}), cross_entropy({0.1, all, 1}, {2, 3, 5}, some),
        cross_entropy({0.1, others, 0}, {6, 5}, some), cross_entropy({}, {6, 5}, some, weights),
        cross_entropy({0.1}, {2, 3, 5}, some, weights), cross_entropy({0.1, others, 1}, {2, 3, 5}, some, weights)})
    cases.push_back(c);
  return cases;
}

}  // namespace

std::vector<OpCase> sequence_cases(const std::string& kind) {
  if (kind == "concat") return concat_cases();
  if (kind == "slice") return slice_cases();
  if (kind == "transpose") return transpose_cases();
  if (kind == "gather") return gather_cases();
  if (kind == "embedding") return embedding_cases();
  if (kind == "equals") return equals_cases();
  if (kind == "sinusoid") return sinusoid_cases();
  if (kind == "rotary") return rotary_cases();
  if (kind == "attention") return attention_cases();
  if (kind == "lstm") return lstm_cases();
  if (kind == "lstm_cell") return lstm_cell_cases();
  if (kind == "softmax_cross_entropy") return softmax_cross_entropy_cases();
  return {};
}

std::vector<OpCase> large_sequence_cases() {
  const Shape image = {3, 32, 13, 11};
  Cases cases = {{.op = Concat{1}, .operands = {image, {3, 16, 13, 11}}},
                 {.op = Slice{.begin = 8, .end = 24}, .operands = {image}},
                 {.op = Transpose{{0, 2, 1, 3}}, .operands = {{3, 17, 8, 16}}},
                 {.op = Gather{}, .operands = {{3, 64, 40}, {3, 20}}, .integers = {1}},
                 {.op = Embedding{.rows = 7, .width = 3, .pad = 1},
                  .operands = {{2, 5}},
                  .integers = {0},
                  .given = {{0, {1, 6, 1, 3, 1, 0, 3, 1, 5, 6}}}},
                 {.op = Embedding{.rows = 90, .width = 48, .pad = 0}, .operands = {{3, 65}}, .integers = {0}},
                 {.op = Embedding{.rows = 40, .width = 64, .pad = 39}, .operands = {{2, 65}}, .integers = {0}},
                 {.op = Sinusoid{.first = 2, .width = 64}, .operands = {{3, 130}}, .fixed = {0}},
                 {.op = Rotary{}, .operands = {{2, 130, 4, 32}}}};
  for (const OpCase& c :
       {attention({.heads = 8}, 33, 50, 16, additive, 3), attention({.heads = 4, .causal = true}, 65, 65, 32, additive),
        attention({.heads = 6, .kv_heads = 2, .causal = true}, 65, 65, 64),
        attention({.heads = 4, .dropout = 0.1}, 33, 33, 16, both, 3),
        lstm({.hidden = 40}, 5, 17, 33, {17, 1, 9, 16, 2}),
        lstm({.hidden = 40, .reverse = true}, 5, 17, 33, {17, 1, 9, 16, 2}), lstm({.hidden = 33}, 4, 12, 40)})
    cases.push_back(c);
  cases.push_back({.op = LstmCell{40}, .operands = {{17, 33}, {17, 40}, {17, 40}}});
  cases.push_back(cross_entropy({0.1, SoftmaxCrossEntropy::Spread::others, 1}, {3, 17, 1000}));
  return cases;
}

OpCase drawn_attention() {
  constexpr int64_t kKeys = 40;
  OpCase c = attention({.dropout = 0.25}, 50, kKeys, kKeys, none, 1);
  c.name = "attention.drawn";
  std::vector<double> identity(static_cast<size_t>(kKeys * kKeys));
  for (size_t i = 0; i < identity.size(); i += static_cast<size_t>(kKeys) + 1) identity[i] = 1;
  c.given = {{0, {0}}, {2, identity}};
  return c;
}

}  // namespace tbd
