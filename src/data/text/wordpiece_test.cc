#include "data/text/wordpiece.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "data/text/basic_tokens.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
using testing::ElementsAre;
using testing_text::refusal_of;

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  for (const BasicToken& token : basic_tokens(text)) out.push_back(token.text);
  return out;
}

TEST(BasicTokens, AreLowerCaseWithoutAccents) {
  EXPECT_THAT(words("  H\xc3\xa9llo\tTI\xe1\xba\xbeNG Vi\xe1\xbb\x87t "), ElementsAre("hello", "tieng", "viet"));
  EXPECT_THAT(words("e\xcc\x81t\xc3\xa9"), ElementsAre("ete"));             // a combining acute accent
  EXPECT_THAT(words("\xc4\x90\xc3\x9f"), ElementsAre("\xc4\x91\xc3\x9f"));  // d with stroke and sharp s stay
  EXPECT_THAT(words("\xcc\x81"), ElementsAre());
}

TEST(BasicTokens, PunctuationAndIdeographsAreSeparateTokens) {
  EXPECT_THAT(words("don't stop-$5.0!"), ElementsAre("don", "'", "t", "stop", "-", "$", "5", ".", "0", "!"));
  EXPECT_THAT(words("a\xe2\x80\x94"
                    "b\xc2\xbf"),
              ElementsAre("a", "\xe2\x80\x94", "b", "\xc2\xbf"));
  EXPECT_THAT(words("ab\xe4\xb8\xad\xe6\x96\x87"
                    "c"),
              ElementsAre("ab", "\xe4\xb8\xad", "\xe6\x96\x87", "c"));
  EXPECT_THAT(words("\xe3\x81\xb2\xe3\x82\x89"), ElementsAre("\xe3\x81\xb2\xe3\x82\x89"));  // kana stay together
  EXPECT_THAT(words("5\xe2\x82\xac"), ElementsAre("5\xe2\x82\xac"));  // a currency sign is no punctuation
}

TEST(BasicTokens, ControlCharactersVanishAndAllSpacesPart) {
  EXPECT_THAT(words(std::string_view("a\0b\x01"
                                     "c\xe2\x80\x8b"
                                     "d\xef\xbf\xbd",
                                     12)),
              ElementsAre("abcd"));
  EXPECT_THAT(words("a\xc2\xa0"
                    "b\xe3\x80\x80"
                    "c\r\nd"),
              ElementsAre("a", "b", "c", "d"));
}

WordPiece small() {
  return WordPiece({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "##ffa", "runn", "##ing",
                    "want", "##want", "##ed", "wa", ",", "\xc3\xa6", "##\xc3\xa6"},
                   "vocab.txt");
}
std::vector<std::string> cut(const WordPiece& pieces, std::string_view text) {
  std::vector<std::string> out;
  for (const Piece& piece : pieces.pieces(text)) out.push_back(pieces.piece(piece.id));
  return out;
}

TEST(WordPiece, TakesTheLongestPieceFirst) {
  const WordPiece pieces = small();
  EXPECT_THAT(cut(pieces,
                  "UNwant\xc3\xa9"
                  "d,running"),
              ElementsAre("un", "##want", "##ed", ",", "runn", "##ing"));
  EXPECT_THAT(cut(pieces, "unaffable wanted"), ElementsAre("un", "##aff", "##able", "want", "##ed"));
  EXPECT_THAT(cut(pieces, "\xc3\x86\xc3\xa6"), ElementsAre("\xc3\xa6", "##\xc3\xa6"));
}

TEST(WordPiece, AWordWithoutPiecesIsUnknownAsAWhole) {
  const WordPiece pieces = small();
  EXPECT_THAT(cut(pieces, "unwantedX running"), ElementsAre("[UNK]", "runn", "##ing"));
  EXPECT_THAT(cut(pieces, "##ing"), ElementsAre("[UNK]", "[UNK]", "[UNK]"));
  EXPECT_THAT(cut(pieces, ""), ElementsAre());
}

TEST(WordPiece, AWordOverAHundredCharactersIsUnknown) {
  std::string word = "\xc3\xa6";
  for (int i = 1; i < 100; ++i) word += "\xc3\xa6";
  EXPECT_EQ(small().pieces(word).size(), 100);
  EXPECT_THAT(cut(small(), word + "\xc3\xa6"), ElementsAre("[UNK]"));
}

TEST(WordPiece, PiecesKeepTheirByteOffsets) {
  const std::string text =
      "x  WANT\xc3\xa9"
      "d, un";
  const std::vector<Piece> pieces = small().pieces(text);
  ASSERT_EQ(pieces.size(), 5);
  const auto part = [&](size_t i) { return text.substr(pieces[i].begin, pieces[i].end - pieces[i].begin); };
  EXPECT_EQ(part(0), "x");
  EXPECT_EQ(part(1), "WANT");
  EXPECT_EQ(part(2),
            "\xc3\xa9"
            "d");
  EXPECT_EQ(part(3), ",");
  EXPECT_EQ(part(4), "un");
}

TEST(WordPiece, ReadsAFileAndFindsSpecialPiecesByName) {
  const TemporaryFolder root;
  const auto path = root.path() / "vocab.txt";
  write_file(path, "[PAD]\n[unused0]\n[UNK]\na\n[MASK]\n[SEP]\n[CLS]\n##b\n");
  const WordPiece pieces = read_wordpiece(path, 8);
  EXPECT_EQ(pieces.pad(), 0);
  EXPECT_EQ(pieces.unk(), 2);
  EXPECT_EQ(pieces.mask(), 4);
  EXPECT_EQ(pieces.sep(), 5);
  EXPECT_EQ(pieces.cls(), 6);
  EXPECT_THAT(cut(pieces, "abb c"), ElementsAre("a", "##b", "##b", "[UNK]"));
}

TEST(WordPiece, RefusesABadVocabularyByNameAndLine) {
  const TemporaryFolder root;
  const auto path = root.path() / "vocab.txt";
  const auto refusal = [&](const std::string& content) {
    write_file(path, content);
    const std::string whole = refusal_of([&] { read_wordpiece(path, 8); });
    return whole.substr(std::min(whole.size(), path.string().size()));
  };
  const std::string special = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  EXPECT_EQ(refusal(special + "a\nb\nc\nd\n"), ":9: token 8 ('d') lies outside the network's 8 rows");
  EXPECT_EQ(refusal(special + "a\na\n"), ":7: the piece 'a' is already in line 6");
  EXPECT_EQ(refusal(special + "\n"), ":6: an empty line in a vocabulary");
  EXPECT_EQ(refusal(special + "\xc3(\n"), ":6: byte 0xc3 at column 1 is not UTF-8");
  EXPECT_EQ(refusal("[PAD]\n[UNK]\n[CLS]\n[SEP]\n"), ": the piece [MASK] is missing");
}

TEST(WordPieceTrainer, MergesFrequentPairsOfTheWords) {
  const WordCounts counts = {{"newest", 6}, {"widest", 3}, {"low", 5}, {"z", 1}};
  const std::vector<std::string> pieces = train_wordpiece(counts, 40);
  EXPECT_THAT(std::vector(pieces.begin(), pieces.begin() + 5),
              ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"));
  EXPECT_NE(std::ranges::find(pieces, "##est"), pieces.end());
  EXPECT_NE(std::ranges::find(pieces, "newest"), pieces.end());
  EXPECT_NE(std::ranges::find(pieces, "z"), pieces.end());
  EXPECT_THAT(cut(WordPiece(pieces, "v"), "Newest low widest"), ElementsAre("newest", "low", "widest"));
}

TEST(WordPieceTrainer, LearnsNothingFromWordsThatAreNotCut) {
  WordCounts counts;
  count_basic_tokens(cat("low ", std::string(100, 'y'), " ", std::string(101, 'x'), " low"), counts);
  EXPECT_EQ(counts, (WordCounts{{"low", 2}, {std::string(100, 'y'), 1}}));
}

TEST(WordPieceTrainer, NeverExceedsItsSizeAndCutsTheAlphabetByFrequency) {
  WordCounts counts;
  for (char c = 'a'; c <= 'z'; ++c) counts[std::string(1 + (c - 'a') % 3, c)] = 1000 - c;
  const std::vector<std::string> pieces = train_wordpiece(counts, 21);
  EXPECT_LE(pieces.size(), 21);
  EXPECT_NE(std::ranges::find(pieces, "a"), pieces.end());
  EXPECT_EQ(std::ranges::find(pieces, "z"), pieces.end());
  EXPECT_NO_THROW(WordPiece(pieces, "v"));
}

}  // namespace
}  // namespace tbd
