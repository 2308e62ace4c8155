#include "data/text/bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "data/text/testing_text.h"

namespace tbd {
namespace {
using testing::ElementsAre;
using testing_text::refusal_of;

// The words of Sennrich et al. 2016, section 3.2.
WordCounts paper_words() { return {{"low", 5}, {"lowest", 2}, {"newer", 6}, {"wider", 3}}; }

TEST(Merges, ThePairsOfFallingFrequencyAreMerged) {
  // e r</w> 9; then er is a symbol: "newer" 6 + "wider" 3.  l o 7, lo w 7 (ties by symbol numbers).
  EXPECT_EQ(learn_bpe(paper_words(), 1), "#version: 0.2\ne r</w>\n");
  const std::string three = learn_bpe(paper_words(), 3);
  EXPECT_EQ(std::count(three.begin(), three.end(), '\n'), 4);
  EXPECT_NE(three.find("l o\n"), std::string::npos);
}

TEST(Merges, StopWhereNoPairComesTwice) {
  EXPECT_EQ(learn_bpe({{"ab", 1}, {"cd", 1}}, 10), "#version: 0.2\n");
  EXPECT_EQ(learn_bpe({{"ab", 2}, {"cd", 1}}, 10), "#version: 0.2\na b</w>\n");
}

// The same by counting all pairs anew after each merge.
std::string learnt_slowly(const WordCounts& counts, size_t limit) {
  Symbols symbols;
  std::vector<CountedWord> words;
  for (const std::string& word : most_frequent(counts, counts.size())) {
    CountedWord counted{.count = counts.find(word)->second};
    for (size_t i = 0; i < word.size(); ++i)
      counted.symbols.push_back(symbols.add(cat(word[i], i + 1 == word.size() ? "</w>" : "")));
    words.push_back(counted);
  }
  std::string text = "#version: 0.2\n";
  for (const size_t end = symbols.size() + limit; symbols.size() < end;) {
    std::map<std::pair<int32_t, int32_t>, int64_t> pairs;
    for (const CountedWord& word : words)
      for (size_t i = 0; i + 1 < word.symbols.size(); ++i) pairs[{word.symbols[i], word.symbols[i + 1]}] += word.count;
    auto best = pairs.end();
    for (auto it = pairs.begin(); it != pairs.end(); ++it)
      if (it->second >= 2 && (best == pairs.end() || it->second > best->second)) best = it;
    if (best == pairs.end()) break;
    const auto [left, right] = best->first;
    text += cat(symbols.text(left), " ", symbols.text(right), "\n");
    const Merge merge{left, right, symbols.add(symbols.text(left) + symbols.text(right))};
    for (CountedWord& word : words) MergeTable({&merge, 1}).apply(word.symbols);
  }
  return text;
}

TEST(Merges, MatchARecountAfterEveryMerge) {
  WordCounts counts;
  uint32_t state = 7;
  for (int i = 0; i < 60; ++i) {
    std::string word;
    for (int k = 0; k < 3 + i % 6; ++k)
      word += static_cast<char>('a' + ((state = state * 1664525 + 1013904223) >> 24) % 4);
    counts[word] += 1 + i % 5;
  }
  const std::string fast = learn_bpe(counts, 60);
  EXPECT_EQ(fast, learnt_slowly(counts, 60));
  EXPECT_GT(std::count(fast.begin(), fast.end(), '\n'), 40);
}

std::string random_word(size_t letters, uint32_t kinds) {
  std::string word;
  for (uint32_t state = 3; word.size() < letters;)
    word += static_cast<char>('a' + ((state = state * 1664525 + 1013904223) >> 16) % kinds);
  return word;
}

// Of the pair of lowest rank all places, one after the other, until there is none.
std::vector<int32_t> applied_slowly(const std::vector<Merge>& merges, std::vector<int32_t> symbols) {
  for (size_t m = 0; m < merges.size();) {
    const auto pair = [&](int32_t a, int32_t b) { return a == merges[m].left && b == merges[m].right; };
    const auto first = std::ranges::adjacent_find(symbols, pair);
    if (first == symbols.end()) {
      ++m;
      continue;
    }
    for (auto at = first; at != symbols.end(); at = std::adjacent_find(at, symbols.end(), pair)) {
      *at = merges[m].result;
      symbols.erase(at + 1);
    }
    m = 0;
  }
  return symbols;
}

TEST(Merges, AreAppliedInOrder) {
  const std::string word = random_word(300, 3);
  Symbols symbols;
  CountedWord counted{.count = 2};
  for (const char letter : word) counted.symbols.push_back(symbols.add(std::string(1, letter)));
  const auto joined = [](const std::string& left, const std::string& right) { return left + right; };
  std::vector<Merge> merges = learn_merges({counted}, symbols, 60, joined);
  ASSERT_GT(merges.size(), 20u);
  for (const bool reversed : {false, true}) {  // learnt merges come in order of what they need, others need not
    if (reversed) std::ranges::reverse(merges);
    std::vector<int32_t> fast = counted.symbols;
    MergeTable(merges).apply(fast);
    EXPECT_EQ(fast, applied_slowly(merges, counted.symbols));
  }
}

TEST(Merges, LearnAndApplyInLinearTimeForALongWord) {
  const std::string word = random_word(40'000, 26);
  const auto began = std::chrono::steady_clock::now();
  const Bpe bpe(TextFile("merges", learn_bpe({{word, 2}}, 30'000)));
  EXPECT_EQ(join(bpe.pieces(word), "").substr(0, 2), word.substr(0, 2));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

TEST(Bpe, MarksAllPiecesButTheLast) {
  const Bpe bpe(TextFile("merges", "#version: 0.2\nl o\nlo w</w>\ne r</w>\nn e\n"));
  EXPECT_THAT(bpe.pieces("low"), ElementsAre("low"));
  EXPECT_THAT(bpe.pieces("lower"), ElementsAre("lo@@", "w@@", "er"));
  EXPECT_THAT(bpe.pieces("newer"), ElementsAre("ne@@", "w@@", "er"));
  EXPECT_THAT(bpe.pieces("ng\xc6\xb0"), ElementsAre("n@@", "g@@", "\xc6\xb0"));
  EXPECT_THAT(bpe.pieces("x"), ElementsAre("x"));
}

TEST(Bpe, MergesByRankAndNotByPlace) {
  const Bpe bpe(TextFile("merges", "b c\na b\n"));
  EXPECT_THAT(bpe.pieces("abcd"), ElementsAre("a@@", "bc@@", "d"));
  EXPECT_THAT(bpe.pieces("abab!"), ElementsAre("ab@@", "ab@@", "!"));
}

TEST(Bpe, LearntMergesRestoreTheWords) {
  const Bpe bpe(TextFile("merges", learn_bpe(paper_words(), 100)));
  EXPECT_THAT(bpe.pieces("newer"), ElementsAre("newer"));
  EXPECT_THAT(bpe.pieces("lowest"), ElementsAre("lowest"));
}

TEST(Bpe, PiecesAreJoinedAtTheirMarks) {
  EXPECT_EQ(without_bpe_marks("un@@ der@@ stand it"), "understand it");
  EXPECT_EQ(without_bpe_marks("it un@@"), "it un");
  EXPECT_EQ(without_bpe_marks(""), "");
}

TEST(Bpe, NamesABadLine) {
  EXPECT_EQ(refusal_of([] { Bpe(TextFile("m", "#version: 0.1\na b\n")); }),
            "m:1: merges of version '0.1', only version 0.2 is supported");
  EXPECT_EQ(refusal_of([] { Bpe(TextFile("m", "a b\na\n")); }), "m:2: a merge consists of two symbols, found 1");
  EXPECT_EQ(refusal_of([] { Bpe(TextFile("m", "a b\nb c\na b\n")); }), "m:3: the merge 'a b' occurs twice");
}

}  // namespace
}  // namespace tbd
