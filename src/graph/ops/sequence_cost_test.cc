// Ops of sequences against naive loops over numbers that count their arithmetic.
#include <gtest/gtest.h>

#include "graph/ops/brute_force.h"

namespace tbd::brute {
namespace {

Operands with_integers(const Op& op, std::vector<Shape> data, size_t integers, Random& r) {
  Operands o = operands(op, std::move(data), r);
  o.in_dtypes[integers] = DType::i32;
  o.needs_gradient[integers] = false;
  return o;
}

// dx[row] += dy, from zeros.
void scatter(Random& r, int64_t elements) {
  Row dx = r.row(elements);
  for (Number& each : dx) each += Number{1};
}

TEST(GatherCost, MatchesNaiveLoop) {
  Random r(30);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t n = r.between(1, 3), p = r.between(1, 4);
    const Shape x = {n, r.between(1, 5), r.between(1, 4)};
    const Operands o = with_integers(Gather{}, {x, {n, p}}, 1, r);
    const int64_t taken = n * p * x[2];
    EXPECT_EQ(forward_cost(Gather{}, o), (Cost{.bytes = 4 * (2 * taken + n * p)})) << "only rows that are taken";
    EXPECT_EQ(without_bytes(backward_cost(Gather{}, o)), count([&] {
                if (o.needs(0)) scatter(r, taken);
              }));
    EXPECT_EQ(backward_cost(Gather{}, o).bytes, o.needs(0) ? 4 * (taken + n * p + x.elements()) : 0);
  }
}

TEST(EmbeddingCost, MatchesNaiveLoop) {
  Random r(31);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Embedding op = {.rows = r.between(1, 9), .width = r.between(1, 5), .pad = 0};
    const Shape ids = {r.between(1, 3), r.between(1, 4)};
    const Operands o = with_integers(op, {ids}, 0, r);
    const int64_t taken = ids.elements() * op.width;
    EXPECT_EQ(forward_cost(op, o), (Cost{.bytes = 4 * (2 * taken + ids.elements())}));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                if (o.needs(1)) scatter(r, taken);
              }));
    EXPECT_EQ(backward_cost(op, o).bytes, o.needs(1) ? 4 * (taken + ids.elements() + op.rows * op.width) : 0);
  }
}

TEST(ConcatCost, MovesAndComputesNothing) {
  Random r(32);
  Operands o = operands(Concat{}, {{2, 3}, {2, 4}}, r);
  o.needs_gradient = {true, true};
  EXPECT_EQ(forward_cost(Concat{}, o), (Cost{.bytes = 4 * 28}));
  EXPECT_EQ(backward_cost(Concat{}, o), Cost{});
  o = operands(Slice{.end = 2}, {{2, 6}}, r);
  o.needs_gradient = {true};
  EXPECT_EQ(backward_cost(Slice{.end = 2}, o), (Cost{.bytes = 4 * (4 + 12)}));
}

TEST(ConstantsCost, MatchNaiveLoop) {
  Random r(33);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Shape x = {r.between(1, 4), r.between(1, 5)};
    EXPECT_EQ(without_bytes(forward_cost(Equals{}, with_integers(Equals{}, {x}, 0, r))), count([&] {
                for (const Number each : r.row(x.elements())) where_positive(each, Number{1}, Number{0});
              }));
    const Sinusoid op = {.width = 2 * r.between(2, 4)};
    const Operands o = operands(op, {x}, r);
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                for (const Number valid : r.row(x.elements()))
                  for (const Number each : r.row(op.width)) (void)(valid * each);
              }));
    EXPECT_EQ(backward_cost(op, o), Cost{});
  }
}

void rotate(Random& r, int64_t pairs) {
  const Number cos{0.6}, sin{0.8};
  for (const Number a : r.row(pairs)) {
    const Number b{2};
    (void)(a * cos - b * sin);
    (void)(b * cos + a * sin);
  }
}

TEST(RotaryCost, MatchesNaiveLoop) {
  Random r(34);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Shape x = {r.between(1, 3), r.between(1, 4), r.between(1, 3), 2 * r.between(1, 3)};
    const Operands o = operands(Rotary{}, {x}, r);
    EXPECT_EQ(without_bytes(forward_cost(Rotary{}, o)), count([&] { rotate(r, x.elements() / 2); }));
    EXPECT_EQ(without_bytes(backward_cost(Rotary{}, o)), count([&] {
                if (o.needs(0)) rotate(r, x.elements() / 2);
              }));
  }
}

struct Scores {  // of one head and query
  Attention op;
  int64_t query, keys, width;
  bool additive;
  bool sees(int64_t key) const { return !op.causal || key <= query; }
};

Row score_row(const Scores& s, Random& r) {
  Row scores;
  for (const Number product : r.row(s.keys)) {
    const int64_t key = static_cast<int64_t>(scores.size());
    multiply_accumulates(s.width, s.sees(key));
    Number score = product * Number{0.5};
    if (s.additive) score = score + Number{0};
    if (s.op.causal) score = simd(s.sees(key) ? score.value : -1e30);
    scores.push_back(score);
  }
  return scores;
}

void attend(const Scores& s, Random& r) {
  Row p = softmax(score_row(s, r));
  for (Number& each : p) {
    if (s.op.dropout > 0) each = each * (Number{1} * Number{1 / 0.9});
    multiply_accumulates(s.width, s.sees(&each - p.data()));
  }
}

void attend_backward(const Scores& s, const Operands& o, Random& r) {
  const bool scored = o.needs(0) || o.needs(1);
  Row dp = r.row(s.keys);
  for (int64_t key = 0; key < s.keys; ++key) {
    if (o.needs(2)) multiply_accumulates(s.width, s.sees(key));  // dv += p dy
    if (!scored) continue;
    multiply_accumulates(s.width, s.sees(key));  // dp = dy v
    if (s.op.dropout > 0) dp[static_cast<size_t>(key)] = dp[static_cast<size_t>(key)] * Number{1};
  }
  if (!scored) return;
  Row ds = softmax_backward(r.row(s.keys), dp);
  for (int64_t key = 0; key < s.keys; ++key) {
    ds[static_cast<size_t>(key)] = ds[static_cast<size_t>(key)] * Number{0.5};
    for (const size_t operand : {0u, 1u})
      if (o.needs(operand)) multiply_accumulates(s.width, s.sees(key));
  }
}

TEST(AttentionCost, MatchesNaiveLoop) {
  Random r(35);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t groups = r.between(1, 2), kv_heads = r.between(1, 2), d = r.between(1, 3), n = r.between(1, 2);
    const Attention op = {.heads = groups * kv_heads,
                          .kv_heads = groups == 1 && r.coin() ? 0 : kv_heads,
                          .causal = r.coin(),
                          .dropout = r.coin() ? 0.1 : 0};
    const int64_t queries = r.between(1, 4), keys = op.causal ? queries : r.between(1, 4);
    const Shape q = {n, queries, op.heads * d}, k = {n, keys, kv_heads * d};
    const bool additive = r.coin(), given = op.dropout > 0 && r.coin();
    std::vector<Shape> data = {q, k, k};
    if (additive) data.push_back({n, keys});
    if (given) data.push_back({n, op.heads, queries, keys});
    Operands o = operands(op, data, r);
    for (size_t i = 3; i < o.in.size(); ++i) o.needs_gradient[i] = false;
    const auto each_row = [&](auto visit) {
      for (int64_t row = 0; row < n * op.heads; ++row)
        for (int64_t query = 0; query < queries; ++query) visit(Scores{op, query, keys, d, additive});
    };
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] { each_row([&](const Scores& s) { attend(s, r); }); }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)),
              count([&] { each_row([&](const Scores& s) { attend_backward(s, o, r); }); }));
    int64_t operands_bytes = 0;
    for (const Shape& shape : data) operands_bytes += 4 * shape.elements();
    EXPECT_EQ(forward_cost(op, o).bytes, operands_bytes + 4 * q.elements());
    if (o.needs(0) && o.needs(1) && o.needs(2)) {
      EXPECT_EQ(backward_cost(op, o).bytes, operands_bytes + 4 * (2 * q.elements() + 2 * k.elements()));
    }
  }
}

}  // namespace
}  // namespace tbd::brute
