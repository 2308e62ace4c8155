// The toy programs one by one (toy_programs.h says what each is), and what they share.
#pragma once
#include "graph/builder.h"

namespace tbd::toys {

inline Program named(std::string config) { return {.model = "toy", .config = std::move(config)}; }

inline Tensor features(Builder& g, int64_t width) { return g.input("x", {Builder::batch(), width}); }
inline Tensor labels(Builder& g) { return g.input("label", {Builder::batch()}, DType::i32); }

inline void classify(Builder& g, const Tensor& logits, const Tensor& label) {
  g.output("logits", logits);
  g.loss("ce", g.softmax_cross_entropy(logits, label));
}

Program mlp20();
Program conv_forms();
Program norms();
Program elementwise();
Program tied();
Program frozen();
Program host_labels();
Program penalty();
Program tokens();
Program recurrent();
Program speech();
Program growing();
Program boxes();
Program regions();

}  // namespace tbd::toys
