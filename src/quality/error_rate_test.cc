#include "quality/error_rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/edit_distance.h"
#include "base/error.h"
#include "base/philox.h"

namespace tbd {
namespace {

int64_t distance(std::string_view from, std::string_view to) { return edit_distance<char>(from, to); }

// The definition: of what the first elements allow, the cheapest.
int64_t by_recursion(std::string_view from, std::string_view to) {
  if (from.empty() || to.empty()) return static_cast<int64_t>(from.size() + to.size());
  if (from[0] == to[0]) return by_recursion(from.substr(1), to.substr(1));
  return 1 + std::min({by_recursion(from.substr(1), to), by_recursion(from, to.substr(1)),
                       by_recursion(from.substr(1), to.substr(1))});
}

// Words of up to `longest` letters of three.
std::vector<std::string> random_words(size_t count, size_t longest) {
  const Philox stream(11, "test/words");
  std::vector<std::string> words(count);
  uint64_t next = 0;
  for (std::string& word : words) {
    const auto length = static_cast<size_t>(stream.uniform(next++) * static_cast<double>(longest + 1));
    while (word.size() < length) word += static_cast<char>('a' + static_cast<int>(stream.uniform(next++) * 3));
  }
  return words;
}

TEST(EditDistance, MatchesKnownPairs) {
  EXPECT_EQ(distance("kitten", "sitting"), 3);
  EXPECT_EQ(distance("sunday", "saturday"), 3);
  EXPECT_EQ(distance("", "abc"), 3);
  EXPECT_EQ(distance("abc", ""), 3);
  EXPECT_EQ(distance("", ""), 0);
  EXPECT_EQ(distance("ab", "ba"), 2);
}

TEST(EditDistance, MatchesTheRecursiveDefinition) {
  const std::vector<std::string> words = random_words(24, 6);
  for (const std::string& a : words)
    for (const std::string& b : words) ASSERT_EQ(distance(a, b), by_recursion(a, b)) << a << " " << b;
}

TEST(EditDistance, IsAMetric) {
  const std::vector<std::string> words = random_words(25, 12);
  for (const std::string& a : words)
    for (const std::string& b : words) {
      ASSERT_EQ(distance(a, b), distance(b, a));
      ASSERT_EQ(distance(a, b) == 0, a == b);
      const auto longer = static_cast<int64_t>(std::max(a.size(), b.size()));
      ASSERT_LE(distance(a, b), longer);
      ASSERT_GE(distance(a, b), longer - static_cast<int64_t>(std::min(a.size(), b.size())));
      for (const std::string& c : words) ASSERT_LE(distance(a, c), distance(a, b) + distance(b, c));
    }
}

TEST(EditDistance, CountsAnyElements) {
  const std::vector<std::string> from = {"the", "cat", "sat"}, to = {"a", "cat", "sat", "down"};
  EXPECT_EQ(edit_distance<std::string>(from, to), 2);
}

using Texts = std::vector<std::string>;

TEST(ErrorRate, SumsOverTheCorpusAndNotItsRates) {
  const Texts references = {"A", "ONE TWO THREE FOUR"}, spelled = {"B", "ONE TWO THREE FOUR"};
  EXPECT_EQ(word_errors(references, spelled), (ErrorCount{1, 5}));
  EXPECT_DOUBLE_EQ(*word_errors(references, spelled).rate(), 0.2);
  EXPECT_EQ(character_errors(references, spelled), (ErrorCount{1, 16}));
}

TEST(ErrorRate, CharacterErrorsIgnoreSpacesAndWordErrorsCollapseThem) {
  EXPECT_EQ(character_errors(Texts{"IT IS"}, Texts{"ITIS"}), (ErrorCount{0, 4}));
  EXPECT_EQ(word_errors(Texts{"IT IS"}, Texts{"ITIS"}), (ErrorCount{2, 2}));
  EXPECT_EQ(word_errors(Texts{"IT IS"}, Texts{"  IT   IS "}), (ErrorCount{0, 2}));
}

TEST(ErrorRate, EmptyReferenceAddsOnlyEdits) {
  EXPECT_EQ(word_errors(Texts{"", "A B"}, Texts{"X Y Z", "A B"}), (ErrorCount{3, 2}));
  EXPECT_DOUBLE_EQ(*word_errors(Texts{"", "A B"}, Texts{"X Y Z", "A B"}).rate(), 1.5);
  EXPECT_FALSE(word_errors(Texts{""}, Texts{"X"}).rate());
  EXPECT_FALSE(word_errors({}, {}).rate());
}

TEST(ErrorRate, EmptyHypothesisHasRateOne) { EXPECT_DOUBLE_EQ(*character_errors(Texts{"HELLO"}, Texts{""}).rate(), 1); }

TEST(ErrorRate, RefusesReferencesWithoutHypotheses) {
  try {
    word_errors(Texts{"A", "B"}, Texts{"A"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "2 references, but 1 spelled texts");
  }
}

}  // namespace
}  // namespace tbd
