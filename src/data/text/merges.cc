#include "data/text/merges.h"

#include <limits>
#include <queue>

#include "base/error.h"

namespace tbd {
namespace {

uint64_t pair_key(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

void merge_all(std::vector<int32_t>& symbols, uint64_t pair, int32_t result) {
  size_t out = 0;
  for (size_t in = 0; in < symbols.size(); ++out) {
    const bool here = in + 1 < symbols.size() && pair_key(symbols[in], symbols[in + 1]) == pair;
    symbols[out] = here ? result : symbols[in];
    in += here ? 2 : 1;
  }
  symbols.resize(out);
}

}  // namespace

int32_t Symbols::add(std::string_view text) {
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  const auto number = static_cast<int32_t>(texts_.size());
  texts_.emplace_back(text);
  numbers_.emplace(text, number);
  return number;
}

MergeTable::MergeTable(std::span<const Merge> merges) {
  for (const Merge& merge : merges) {
    const bool added =
        pairs_.try_emplace(pair_key(merge.left, merge.right), Ranked{pairs_.size(), merge.result}).second;
    require(added, "merge ", pairs_.size() + 1, " repeats an earlier one");
  }
}

void MergeTable::apply(std::vector<int32_t>& symbols) const {
  for (;;) {
    Ranked best{std::numeric_limits<size_t>::max(), 0};
    uint64_t pair = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = pairs_.find(pair_key(symbols[i], symbols[i + 1]));
      if (found == pairs_.end() || found->second.rank >= best.rank) continue;
      best = found->second;
      pair = found->first;
    }
    if (best.rank == std::numeric_limits<size_t>::max()) return;
    merge_all(symbols, pair, best.result);
  }
}

namespace {

class Learner {
 public:
  explicit Learner(std::vector<CountedWord> words) : words_(std::move(words)) {
    for (size_t word = 0; word < words_.size(); ++word) {
      add_pairs(words_[word], 1);
      for (const uint64_t pair : pairs_of(words_[word])) places_[pair].push_back(word);
    }
    for (const auto& [pair, count] : counts_) queue_.push({count, pair});
  }

  // The most frequent pair; false when none comes twice. A queue entry whose count has fallen goes back with the new
  // one; a count that rose was queued anew.
  bool best(uint64_t& pair) {
    while (!queue_.empty()) {
      const Entry top = queue_.top();
      queue_.pop();
      const int64_t count = counts_[top.pair];
      if (count == top.count && count >= 2) {
        pair = top.pair;
        return true;
      }
      if (count >= 2 && count < top.count) queue_.push({count, top.pair});
    }
    return false;
  }

  void merge(uint64_t pair, int32_t result) {
    std::unordered_map<uint64_t, bool> grown;
    for (const size_t place : places_[pair]) {
      CountedWord& word = words_[place];
      const size_t before = word.symbols.size();
      add_pairs(word, -1);
      merge_all(word.symbols, pair, result);
      add_pairs(word, 1);
      if (word.symbols.size() == before) continue;  // an earlier merge took the pair away
      for (const uint64_t made : pairs_of(word))
        if (static_cast<int32_t>(made >> 32) == result || static_cast<int32_t>(made) == result) {
          places_[made].push_back(place);
          grown[made] = true;
        }
    }
    places_.erase(pair);
    for (const auto& [made, _] : grown) queue_.push({counts_[made], made});
  }

 private:
  struct Entry {
    int64_t count;
    uint64_t pair;
    bool operator<(const Entry& other) const {  // the queue gives the greatest
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  static std::vector<uint64_t> pairs_of(const CountedWord& word) {
    std::vector<uint64_t> pairs;
    for (size_t i = 0; i + 1 < word.symbols.size(); ++i)
      pairs.push_back(pair_key(word.symbols[i], word.symbols[i + 1]));
    return pairs;
  }
  void add_pairs(const CountedWord& word, int64_t sign) {
    for (const uint64_t pair : pairs_of(word)) counts_[pair] += sign * word.count;
  }

  std::vector<CountedWord> words_;
  std::unordered_map<uint64_t, int64_t> counts_;
  std::unordered_map<uint64_t, std::vector<size_t>> places_;  // words that hold a pair, or once held it
  std::priority_queue<Entry> queue_;
};

}  // namespace

std::vector<Merge> learn_merges(std::vector<CountedWord> words, Symbols& symbols, size_t limit,
                                const JoinedText& joined) {
  Learner learner(std::move(words));
  std::vector<Merge> merges;
  for (uint64_t pair = 0; symbols.size() < limit && learner.best(pair);) {
    const auto left = static_cast<int32_t>(pair >> 32), right = static_cast<int32_t>(pair);
    const int32_t result = symbols.add(joined(symbols.text(left), symbols.text(right)));
    merges.push_back({left, right, result});
    learner.merge(pair, result);
  }
  return merges;
}

}  // namespace tbd
