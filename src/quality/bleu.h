// BLEU as sacrebleu 2.6.0 computes it by default: tokenizer 13a, case kept, exponential smoothing.
// Papineni et al. 2002, ACL; Post 2018, WMT, arXiv:1804.08771; tokenizer and smoothing of NIST's mteval-v13a.pl.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

constexpr size_t kBleuOrders = 4;  // n-grams of 1 to 4 tokens

// A line in tokens, one space between them. Signs of ASCII stand alone but for those between digits and within words;
// nothing beyond ASCII is parted, so that text without spaces is one token. Throws Error(invalid) for text that is not
// UTF-8.
std::string tokenize_13a(std::string_view line);

struct Translation {
  std::string text;                     // detokenised
  std::vector<std::string> references;  // raw; an empty one counts
};
// What BLEU counts. Sums over translations are the counts of a corpus.
struct BleuCounts {
  std::array<int64_t, kBleuOrders> correct{};  // n-grams of the translation that some reference has, each as often
  std::array<int64_t, kBleuOrders> total{};    // n-grams of the translation
  int64_t length = 0;                          // tokens
  int64_t reference_length = 0;  // of the reference with the closest length, the shorter of two that are equally close
  BleuCounts& operator+=(const BleuCounts& other);
  bool operator==(const BleuCounts&) const = default;
};
// Throws Error(invalid) for a translation without references, naming its number, and for text that is not UTF-8.
BleuCounts bleu_counts(const Translation& translation);
BleuCounts bleu_counts(std::span<const Translation> corpus);

struct Bleu {
  double score = 0;  // 0 to 100
  double brevity_penalty = 0;
  std::array<double, kBleuOrders> precisions{};  // 0 to 100, smoothed
};
// A corpus without a 4-gram scores 0.
Bleu bleu(const BleuCounts& counts);
// Of one translation alone, over the orders that it has ("effective order"). Means of these are not the corpus's BLEU.
Bleu sentence_bleu(const BleuCounts& counts);

// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0": the corpus score in sacrebleu's words. nrefs is "var"
// where translations differ in their number of references.
std::string bleu_signature(std::span<const Translation> corpus);

}  // namespace tbd
