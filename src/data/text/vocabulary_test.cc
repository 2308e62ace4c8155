#include "data/text/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
using testing::ElementsAre;
using testing_text::refusal_of;

TEST(Vocabulary, TakesTheMostFrequentWordsWithTiesByByteOrder) {
  WordCounts counts;
  count_words(TextFile("text", "b a b c\nc  a\td \xc3\xa9 Z\n"), counts);
  EXPECT_THAT(most_frequent(counts, 5), ElementsAre("a", "b", "c", "Z", "d"));
  EXPECT_EQ(most_frequent(counts, 100).size(), 6);
}

TEST(Vocabulary, PutsWordsOnTheIdsThatAreNotSpecial) {
  const Vocabulary ours({}, {"a", "b"});
  EXPECT_EQ(ours.id("a"), 4);
  EXPECT_EQ(ours.id("b"), 5);
  EXPECT_EQ(ours.id("c"), 3);
  EXPECT_EQ(ours.size(), 6);
  const Vocabulary spread({.bos = 5, .pad = 0, .eos = 2, .unk = 1}, {"a", "b", "c"});
  EXPECT_EQ(spread.id("a"), 3);
  EXPECT_EQ(spread.id("b"), 4);
  EXPECT_EQ(spread.id("c"), 6);
  EXPECT_EQ(spread.word(5), "<bos>");
  EXPECT_EQ(spread.word(6), "c");
}

TEST(Vocabulary, RefusesAnIdOutsideItAndEqualSpecialIds) {
  EXPECT_EQ(refusal_of([] { Vocabulary({}, {"a"}).word(5); }), "token 5 lies outside the vocabulary of 5");
  EXPECT_EQ(refusal_of([] { Vocabulary({.bos = 1}, {}); }), "<bos> and <pad> have the same id 1");
  EXPECT_EQ(refusal_of([] { Vocabulary({}, {"a", "a"}); }), "the word 'a' occurs twice");
}

TEST(Vocabulary, ReadsAFileOfOneWordALine) {
  const TemporaryFolder root;
  const auto path = root.path() / "vocab.en";
  write_file(path, "<unk>\n<s>\n</s>\nthe\r\nof 17\n");
  LineNotes notes(true);
  const Vocabulary words = read_vocabulary(path, {}, 6, notes);
  EXPECT_EQ(words.id("the"), 4);
  EXPECT_EQ(words.id("of"), 5);
  EXPECT_EQ(words.size(), 6);
}

TEST(Vocabulary, NamesTheLineOfAWordBeyondTheNetwork) {
  const TemporaryFolder root;
  const auto path = root.path() / "vocab.en";
  write_file(path, "a\nb\nc\nd\n");
  LineNotes notes(false);
  EXPECT_EQ(read_vocabulary(path, {}, 6, notes).id("c"), 3);
  ASSERT_EQ(notes.list().size(), 1);
  EXPECT_EQ(notes.list()[0].path, cat(path.string(), ":3"));
  EXPECT_EQ(notes.list()[0].reason, "a word beyond the network's 6 rows, read as unknown, and 1 line more");
  EXPECT_EQ(refusal_of([&] {
              LineNotes strict(true);
              read_vocabulary(path, {}, 6, strict);
            }),
            cat(path.string(), ":3: a word beyond the network's 6 rows, read as unknown"));
}

TEST(Vocabulary, NamesTheLineOfABadFile) {
  const TemporaryFolder root;
  const auto path = root.path() / "vocab.en";
  const auto refusal = [&](std::string_view content) {
    write_file(path, content);
    const std::string whole = refusal_of([&] {
      LineNotes notes(false);
      read_vocabulary(path, {}, 100, notes);
    });
    return whole.substr(std::min(whole.size(), path.string().size()));
  };
  EXPECT_EQ(refusal("a\nb\na\n"), ":3: the word 'a' is already in line 1");
  EXPECT_EQ(refusal("a\n\nb\n"), ":2: an empty line in a vocabulary");
  EXPECT_EQ(refusal("a\nb\xff\n"), ":2: byte 0xff at column 2 is not UTF-8");
  EXPECT_EQ(refusal("<s>\n"), " contains no words");
}

TEST(TextFile, CutsLinesAndFindsBytesThatAreNotUtf8) {
  const TextFile file("f", "one\r\n\nthree");
  ASSERT_EQ(file.size(), 3);
  EXPECT_EQ(file[0], "one");
  EXPECT_EQ(file[1], "");
  EXPECT_EQ(file[2], "three");
  EXPECT_EQ(TextFile("f", "").size(), 0);
  // A stray continuation byte, a cut-off and an overlong sequence, a surrogate, a code point beyond the last.
  for (const char* bad : {"a\x80", "a\xc3", "a\xc0\xaf", "a\xed\xa0\x80", "a\xf4\x90\x80\x80"})
    EXPECT_NE(refusal_of([&] { TextFile("f", cat("ok\n", bad, "\n")); }).find("f:2: byte 0x"), std::string::npos);
  EXPECT_EQ(refusal_of([] { TextFile("f", "Vi\xe1\xbb\x87t \xf0\x9f\x98\x80"); }), "");
}

}  // namespace
}  // namespace tbd
