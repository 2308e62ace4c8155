#include "quality/bleu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"

namespace tbd {
namespace {

constexpr double kBleuTolerance = 1e-9;

// What sacrebleu 2.6.0 gives; pairs of a translation and its references, and corpora of some of them.
const Json& golden() {
  static const Json all = parse_json(read_file(TBD_SOURCE_DIR "/src/quality/golden/bleu.json"), "bleu.json");
  return all;
}

Translation translation_of(const Json& pair) {
  return {pair.at("hyp").get<std::string>(), pair.at("refs").get<std::vector<std::string>>()};
}
// The corpora that are not of the pairs as they are say in their names what is put in the place of a translation.
std::vector<Translation> corpus_of(const Json& corpus, const Json& pairs) {
  const std::string name = corpus.at("name").get<std::string>();
  std::vector<Translation> translations;
  for (const Json& index : corpus.at("pairs")) {
    Translation translation = translation_of(pairs.at(index.get<size_t>()));
    if (name.starts_with("perfect")) translation.text = translation.references.front();
    if (name.starts_with("brevity")) translation.text = split(translation.text, ' ').front();
    translations.push_back(std::move(translation));
  }
  return translations;
}

TEST(BleuGolden, TokenizesAs13a) {
  for (const Json& pair : golden().at("pairs")) {
    EXPECT_EQ(tokenize_13a(pair.at("hyp").get<std::string>()), pair.at("hyp_13a").get<std::string>());
    for (size_t i = 0; i < pair.at("refs").size(); ++i)
      EXPECT_EQ(tokenize_13a(pair.at("refs")[i].get<std::string>()), pair.at("refs_13a")[i].get<std::string>());
  }
}

TEST(BleuGolden, ScoresSentences) {
  for (const Json& pair : golden().at("pairs"))
    EXPECT_NEAR(sentence_bleu(bleu_counts(translation_of(pair))).score,
                pair.at("sentence_effective_order").get<double>(), kBleuTolerance * 100)
        << pair.at("hyp");
}

TEST(BleuGolden, CountsAndScoresCorpora) {
  const Json& all = golden();
  for (const Json& corpus : all.at("corpora")) {
    SCOPED_TRACE(corpus.at("name").get<std::string>());
    const std::vector<Translation> translations = corpus_of(corpus, all.at("pairs"));
    const BleuCounts counts = bleu_counts(translations);
    EXPECT_EQ(Json(counts.correct), corpus.at("correct"));
    EXPECT_EQ(Json(counts.total), corpus.at("total"));
    EXPECT_EQ(counts.length, corpus.at("sys_len").get<int64_t>());
    EXPECT_EQ(counts.reference_length, corpus.at("ref_len").get<int64_t>());
    const Bleu score = bleu(counts);
    EXPECT_NEAR(score.score, corpus.at("score").get<double>(), kBleuTolerance * 100);
    EXPECT_NEAR(score.brevity_penalty, corpus.at("bp").get<double>(), kBleuTolerance);
    for (size_t n = 0; n < kBleuOrders; ++n)
      EXPECT_NEAR(score.precisions[n], corpus.at("precisions")[n].get<double>(), kBleuTolerance * 100);
  }
}

TEST(BleuGolden, NamesItsSignature) {
  const Json& all = golden();
  const Translation one = {"a", {"a"}}, two = {"a", {"a", "b"}};
  EXPECT_EQ(bleu_signature(std::vector{one, one}), all.at("signature").get<std::string>());
  EXPECT_TRUE(bleu_signature(std::vector{two}).starts_with("nrefs:2|"));
  EXPECT_TRUE(bleu_signature(std::vector{one, two}).starts_with("nrefs:var|"));
}

TEST(Tokenizer13a, ResolvesEntitiesInOrder) {
  EXPECT_EQ(tokenize_13a("&amp;lt;"), "<");
  EXPECT_EQ(tokenize_13a("&amp;quot;"), "& quot ;");
}
TEST(Tokenizer13a, JoinsWhatALineBreakHyphenates) {
  EXPECT_EQ(tokenize_13a("hyphen-\nated\nline"), "hyphenated line");
  EXPECT_EQ(tokenize_13a("end-\n"), "end-");  // the end is stripped first
}
TEST(Tokenizer13a, PairsDoNotOverlap) {
  EXPECT_EQ(tokenize_13a("a..1"), "a . .1");  // the second period is preceded by the first, which "a." has used up
  EXPECT_EQ(tokenize_13a("a...1"), "a . . . 1");
  EXPECT_EQ(tokenize_13a("1..2"), "1 . . 2");
}
TEST(Tokenizer13a, DigitsAreAscii) { EXPECT_EQ(tokenize_13a("٣.٤ 3.4 ٣-٤"), "٣ . ٤ 3.4 ٣-٤"); }
TEST(Tokenizer13a, SplitsAtUnicodeWhiteSpace) {
  EXPECT_EQ(tokenize_13a("a\u2009b\u3000c\u200Bd\u00A0"),
            "a b c\u200B"
            "d");
}
TEST(Tokenizer13a, RefusesWhatIsNotUtf8) { EXPECT_THROW(tokenize_13a("a \xFF"), Error); }

// A text of a few words, so that n-grams meet.
std::string random_text(const Philox& stream, uint32_t number) {
  const Philox draws = stream.at(0, number);
  std::string text;
  const auto length = static_cast<size_t>(draws.uniform(0) * 12);
  for (size_t i = 0; i < length; ++i)
    text += cat(static_cast<char>('a' + static_cast<int>(draws.uniform(i + 1) * 4)), " ");
  return text;
}
std::vector<Translation> random_corpus(size_t size) {
  const Philox texts(3, "test/texts"), references(3, "test/references");
  std::vector<Translation> corpus;
  for (uint32_t i = 0; i < size; ++i)
    corpus.push_back({random_text(texts, i), {random_text(references, 2 * i), random_text(references, 2 * i + 1)}});
  return corpus;
}

// The definition, n-gram by n-gram: those of the text, less those that no reference has left.
int64_t correct_by_definition(const Translation& translation, size_t order) {
  const auto ngrams = [order](const std::string& text) {
    std::vector<std::string> tokens = split(std::string(trim(text)), ' ');
    std::erase(tokens, "");
    std::vector<std::string> found;
    for (size_t i = 0; i + order <= tokens.size(); ++i) found.push_back(join(std::span(tokens).subspan(i, order), " "));
    return found;
  };
  std::vector<std::string> distinct = ngrams(translation.text);
  const std::vector<std::string> all = distinct;
  std::ranges::sort(distinct);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  int64_t correct = 0;
  for (const std::string& ngram : distinct) {
    int64_t most = 0;
    for (const std::string& reference : translation.references)
      most = std::max(most, static_cast<int64_t>(std::ranges::count(ngrams(reference), ngram)));
    correct += std::min(most, static_cast<int64_t>(std::ranges::count(all, ngram)));
  }
  return correct;
}

TEST(Bleu, CountsMatchTheDefinition) {
  for (const Translation& translation : random_corpus(200)) {
    const BleuCounts counts = bleu_counts(translation);
    for (size_t n = 0; n < kBleuOrders; ++n) {
      ASSERT_EQ(counts.correct[n], correct_by_definition(translation, n + 1)) << translation.text;
      ASSERT_EQ(counts.total[n], std::max<int64_t>(0, counts.length - static_cast<int64_t>(n)));
    }
  }
}

TEST(Bleu, OrderOfTranslationsAndReferencesDoesNotMatter) {
  std::vector<Translation> corpus = random_corpus(50);
  const BleuCounts counts = bleu_counts(corpus);
  std::ranges::reverse(corpus);
  for (Translation& translation : corpus) std::ranges::reverse(translation.references);
  EXPECT_EQ(bleu_counts(corpus), counts);
}

TEST(Bleu, ScoreIsWithinItsRange) {
  for (const Translation& translation : random_corpus(200)) {
    const BleuCounts counts = bleu_counts(translation);
    for (const Bleu& score : {bleu(counts), sentence_bleu(counts)}) {
      ASSERT_GE(score.score, 0);
      ASSERT_LE(score.score, 100 + 1e-9);
    }
    ASSERT_GE(sentence_bleu(counts).score, bleu(counts).score - 1e-9);
  }
}

TEST(Bleu, CorpusWithoutLongNgramsScoresZero) {
  EXPECT_EQ(bleu(bleu_counts(Translation{"one two three", {"one two three"}})).score, 0);
  EXPECT_EQ(bleu({}).score, 0);
}

TEST(Bleu, AnEmptyReferenceCounts) {
  const Translation both = {"a b", {"", "a b c d e"}};
  EXPECT_EQ(bleu_counts(both).reference_length, 0);  // 2 away, the other 3
}

TEST(Bleu, RefusesATranslationWithoutReferences) {
  const std::vector<Translation> corpus = {{"a", {"a"}}, {"b", {}}};
  try {
    bleu_counts(corpus);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "translation 1: a translation without references");
  }
}

}  // namespace
}  // namespace tbd
