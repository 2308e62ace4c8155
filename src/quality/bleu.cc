// The tokenizer works on bytes: all signs that it knows are ASCII, which no byte of another character is. White space
// alone is Unicode's.
#include "quality/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "quality/python_text.h"

namespace tbd {
namespace {

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  size_t begin = 0;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, begin)) {
    replaced += text.substr(begin, at - begin);
    replaced += to;
    begin = at + from.size();
  }
  replaced += text.substr(begin);
  return replaced;
}

bool is_period_or_comma(char c) { return c == '.' || c == ','; }
// All signs of ASCII, and the space, but ' , - . which the rules about digits are for.
bool stands_alone(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/' ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

std::string part_signs(std::string_view line) {
  std::string parted;
  for (const char c : line) {
    if (stands_alone(c)) {
      parted += {' ', c, ' '};
    } else {
      parted += c;
    }
  }
  return parted;
}

// Puts `before`, `between` and `behind` around and between each two bytes that `is_pair` names. Both are then passed
// over: the second begins no pair.
struct Spacing {
  std::string_view before, between, behind;
};
template <class IsPair>
std::string part_pairs(std::string_view line, const IsPair& is_pair, const Spacing& spacing) {
  std::string parted;
  for (size_t i = 0; i < line.size(); ++i) {
    if (i + 1 == line.size() || !is_pair(line[i], line[i + 1])) {
      parted += line[i];
      continue;
    }
    parted += spacing.before;
    parted += line[i];
    parted += spacing.between;
    parted += line[i + 1];
    parted += spacing.behind;
    ++i;
  }
  return parted;
}

// Tokens as numbers: equal tokens of all texts that one of these has seen have equal numbers.
class Numbering {
 public:
  std::vector<int32_t> numbers(std::string_view tokens) {
    std::vector<int32_t> numbered;
    for (const std::string_view token : python_split(tokens))
      numbered.push_back(known_.try_emplace(std::string(token), static_cast<int32_t>(known_.size())).first->second);
    return numbered;
  }

 private:
  std::map<std::string, int32_t> known_;
};

using Ngram = std::array<int32_t, kBleuOrders>;  // shorter ones end in -1
using NgramCounts = std::map<Ngram, int64_t>;

NgramCounts ngrams(const std::vector<int32_t>& tokens) {
  NgramCounts counts;
  for (size_t begin = 0; begin < tokens.size(); ++begin) {
    Ngram ngram;
    ngram.fill(-1);
    for (size_t n = 0; n < kBleuOrders && begin + n < tokens.size(); ++n) {
      ngram[n] = tokens[begin + n];
      ++counts[ngram];
    }
  }
  return counts;
}
// 0 for one token.
size_t order_of(const Ngram& ngram) { return static_cast<size_t>(std::ranges::find(ngram, -1) - ngram.begin()) - 1; }

int64_t closest(int64_t length, const std::vector<int64_t>& references) {
  return std::ranges::min(references, {},
                          [&](int64_t reference) { return std::pair(std::abs(reference - length), reference); });
}

// sacrebleu's floor of the logarithm, far enough down to make a score 0.
double floored_log(double value) { return value == 0 ? -9999999999.0 : std::log(value); }

enum class Orders { all, effective };

Bleu score(const BleuCounts& counts, Orders orders) {
  Bleu bleu;
  const auto length = static_cast<double>(counts.length), reference = static_cast<double>(counts.reference_length);
  bleu.brevity_penalty = length >= reference ? 1 : length > 0 ? std::exp(1 - reference / length) : 0;
  if (std::ranges::count(counts.correct, 0) == static_cast<std::ptrdiff_t>(kBleuOrders)) return bleu;
  double smoothing = 1;
  size_t seen = 0;
  for (; seen < kBleuOrders && counts.total[seen] > 0; ++seen) {
    const auto correct = static_cast<double>(counts.correct[seen]), total = static_cast<double>(counts.total[seen]);
    if (correct == 0) smoothing *= 2;
    bleu.precisions[seen] = correct == 0 ? 100 / (smoothing * total) : 100 * correct / total;
  }
  const size_t used = orders == Orders::all ? kBleuOrders : seen;
  double sum = 0;
  for (size_t n = 0; n < used; ++n) sum += floored_log(bleu.precisions[n]);
  bleu.score = bleu.brevity_penalty * std::exp(sum / static_cast<double>(used));
  return bleu;
}

}  // namespace

std::string tokenize_13a(std::string_view line) {
  std::string text = replace_all(python_rstrip(line), "<skipped>", "");
  text = replace_all(text, "-\n", "");
  text = replace_all(text, "\n", " ");
  text = replace_all(text, "&quot;", "\"");
  text = replace_all(text, "&amp;", "&");
  text = replace_all(text, "&lt;", "<");
  text = replace_all(text, "&gt;", ">");
  text = part_signs(cat(" ", text, " "));
  const auto behind_no_digit = [](char first, char second) { return !is_digit(first) && is_period_or_comma(second); };
  const auto before_no_digit = [](char first, char second) { return is_period_or_comma(first) && !is_digit(second); };
  const auto dash_behind_digit = [](char first, char second) { return is_digit(first) && second == '-'; };
  text = part_pairs(text, behind_no_digit, {.between = " ", .behind = " "});
  text = part_pairs(text, before_no_digit, {.before = " ", .between = " "});
  text = part_pairs(text, dash_behind_digit, {.between = " ", .behind = " "});
  std::string tokens;
  for (const std::string_view token : python_split(text)) {
    if (!tokens.empty()) tokens += ' ';
    tokens += token;
  }
  return tokens;
}

BleuCounts& BleuCounts::operator+=(const BleuCounts& other) {
  for (size_t n = 0; n < kBleuOrders; ++n) {
    correct[n] += other.correct[n];
    total[n] += other.total[n];
  }
  length += other.length;
  reference_length += other.reference_length;
  return *this;
}

BleuCounts bleu_counts(const Translation& translation) {
  require(!translation.references.empty(), "a translation without references");
  Numbering numbering;
  NgramCounts allowed;
  std::vector<int64_t> lengths;
  for (const std::string& reference : translation.references) {
    const std::vector<int32_t> tokens = numbering.numbers(tokenize_13a(reference));
    lengths.push_back(static_cast<int64_t>(tokens.size()));
    for (const auto& [ngram, count] : ngrams(tokens)) allowed[ngram] = std::max(allowed[ngram], count);
  }
  const std::vector<int32_t> tokens = numbering.numbers(tokenize_13a(translation.text));
  BleuCounts counts;
  counts.length = static_cast<int64_t>(tokens.size());
  counts.reference_length = closest(counts.length, lengths);
  for (const auto& [ngram, count] : ngrams(tokens)) {
    const auto found = allowed.find(ngram);
    counts.total[order_of(ngram)] += count;
    if (found != allowed.end()) counts.correct[order_of(ngram)] += std::min(count, found->second);
  }
  return counts;
}

BleuCounts bleu_counts(std::span<const Translation> corpus) {
  BleuCounts counts;
  for (size_t i = 0; i < corpus.size(); ++i) try {
      counts += bleu_counts(corpus[i]);
    } catch (const Error& e) {
      throw e.within(cat("translation ", i));
    }
  return counts;
}

Bleu bleu(const BleuCounts& counts) { return score(counts, Orders::all); }
Bleu sentence_bleu(const BleuCounts& counts) { return score(counts, Orders::effective); }

std::string bleu_signature(std::span<const Translation> corpus) {
  const auto count = [](const Translation& translation) { return translation.references.size(); };
  const bool one_count = std::ranges::adjacent_find(corpus, std::ranges::not_equal_to(), count) == corpus.end();
  const std::string references = one_count && !corpus.empty() ? std::to_string(count(corpus[0])) : "var";
  return cat("nrefs:", references, "|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
}

}  // namespace tbd
