// Words are one array of symbols whose neighbours are linked: a merge costs what its places are, whatever the words'
// length. Places that later merges take are left behind and passed over when they are met.
#include "data/text/merges.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <unordered_set>

#include "base/error.h"

namespace tbd {
namespace {

uint64_t pair_key(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

// Symbols in a row that are merged in place; the result has the place of the left one.
class LinkedSymbols {
 public:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  // Words are apart: their ends have no neighbour.
  void add_word(std::span<const int32_t> word) {
    const size_t first = links_.size();
    for (size_t i = 0; i < word.size(); ++i)
      links_.push_back({.symbol = word[i],
                        .before = i == 0 ? kNone : first + i - 1,
                        .after = i + 1 == word.size() ? kNone : first + i + 1});
  }
  size_t size() const { return links_.size(); }
  int32_t symbol(size_t place) const { return links_[place].symbol; }
  size_t before(size_t place) const { return links_[place].before; }
  size_t after(size_t place) const { return links_[place].after; }
  // Of the place and the one after it; nullopt where either is gone.
  std::optional<uint64_t> pair_at(size_t place) const {
    if (place == kNone || links_[place].symbol < 0 || after(place) == kNone) return std::nullopt;
    return pair_key(symbol(place), symbol(after(place)));
  }
  void merge(size_t place, int32_t result) {
    const size_t gone = after(place), next = after(gone);
    links_[place] = {.symbol = result, .before = before(place), .after = next};
    links_[gone].symbol = kGone;
    if (next != kNone) links_[next].before = place;
  }

 private:
  static constexpr int32_t kGone = -1;
  struct Link {
    int32_t symbol;
    size_t before, after;
  };
  std::vector<Link> links_;
};

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
  using Found = std::pair<size_t, size_t>;  // rank, place
  LinkedSymbols word;
  word.add_word(symbols);
  std::vector<Found> made;
  const auto look_at = [&](size_t place) {
    const auto pair = word.pair_at(place);
    if (!pair) return;
    if (const auto found = pairs_.find(*pair); found != pairs_.end()) made.emplace_back(found->second.rank, place);
  };
  for (size_t place = 0; place < word.size(); ++place) look_at(place);
  std::priority_queue<Found, std::vector<Found>, std::greater<>> queue;
  while (!made.empty() || !queue.empty()) {
    for (const Found& each : made) queue.push(each);
    made.clear();
    // All places of the lowest rank, left to right; what they make waits until they are done.
    for (const size_t rank = queue.top().first; !queue.empty() && queue.top().first == rank;) {
      const size_t place = queue.top().second;
      queue.pop();
      const auto pair = word.pair_at(place);
      const auto found = pair ? pairs_.find(*pair) : pairs_.end();
      if (found == pairs_.end() || found->second.rank != rank) continue;
      word.merge(place, found->second.result);
      look_at(word.before(place));
      look_at(place);
    }
  }
  symbols.clear();
  for (size_t place = 0; place < word.size(); ++place)
    if (word.symbol(place) >= 0) symbols.push_back(word.symbol(place));
}

namespace {

class Learner {
 public:
  explicit Learner(const std::vector<CountedWord>& words) {
    for (const CountedWord& word : words) {
      symbols_.add_word(word.symbols);
      weights_.resize(symbols_.size(), word.count);
    }
    for (size_t place = 0; place < symbols_.size(); ++place) count_pair(place, 1);
    for (const auto& [pair, at] : pairs_) queue_.push({at.count, pair});
  }

  // The most frequent pair; false when none occurs twice. A queue entry whose count has fallen goes back with the new
  // one; a count that rose was queued anew.
  bool best(uint64_t& pair) {
    while (!queue_.empty()) {
      const Entry top = queue_.top();
      queue_.pop();
      const int64_t count = pairs_[top.pair].count;
      if (count == top.count && count >= 2) {
        pair = top.pair;
        return true;
      }
      if (count >= 2 && count < top.count) queue_.push({count, top.pair});
    }
    return false;
  }

  void merge(uint64_t pair, int32_t result) {
    std::vector<size_t> places = std::move(pairs_[pair].places);
    pairs_[pair].places.clear();
    std::ranges::sort(places);
    made_.clear();
    for (const size_t place : places)
      if (symbols_.pair_at(place) == pair) merge_at(place, result);
    for (const uint64_t each : made_) queue_.push({pairs_[each].count, each});
  }

 private:
  struct Entry {
    int64_t count;
    uint64_t pair;
    bool operator<(const Entry& other) const {  // the queue gives the greatest
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };
  struct Pair {
    int64_t count = 0;
    std::vector<size_t> places;  // where it is, or once was
  };

  void merge_at(size_t place, int32_t result) {
    const size_t before = symbols_.before(place);
    for (const size_t each : {before, place, symbols_.after(place)}) count_pair(each, -1);
    symbols_.merge(place, result);
    for (const size_t each : {before, place}) count_pair(each, 1);
  }
  void count_pair(size_t place, int64_t sign) {
    const auto pair = symbols_.pair_at(place);
    if (!pair) return;
    Pair& known = pairs_[*pair];
    known.count += sign * weights_[place];
    if (sign < 0) return;
    known.places.push_back(place);
    made_.insert(*pair);
  }

  LinkedSymbols symbols_;
  std::vector<int64_t> weights_;  // by place: how often its word comes
  std::unordered_map<uint64_t, Pair> pairs_;
  std::priority_queue<Entry> queue_;
  std::unordered_set<uint64_t> made_;  // pairs that became more frequent
};

}  // namespace

std::vector<Merge> learn_merges(const std::vector<CountedWord>& words, Symbols& symbols, size_t limit,
                                const JoinedText& joined) {
  Learner learner(words);
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
