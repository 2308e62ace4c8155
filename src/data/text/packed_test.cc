#include "data/text/packed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "data/text/byte_bpe.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_text;

SourceSpec packed_spec(const fs::path& root, int64_t vocabulary) {
  SourceSpec spec{.kind = SourceKind::packed_text, .path = root.string(), .batch = 1, .seed = 2};
  spec.text.vocabulary = vocabulary;
  spec.text.length = 4;
  return spec;
}

TEST(ByteBpe, CutsTextBeforeMerging) {
  const auto cut = [](const char* text) {
    std::vector<std::string> out;
    for (const std::string_view word : byte_bpe_words(text)) out.emplace_back(word);
    return out;
  };
  EXPECT_THAT(cut("Hello world"), ElementsAre("Hello", " world"));
  EXPECT_THAT(cut("it's 42nd?!  So"), ElementsAre("it", "'s", " 42", "nd", "?!", " ", " So"));
  EXPECT_THAT(cut("a\n\n b  "), ElementsAre("a", "\n\n", " b", "  "));
  EXPECT_THAT(cut(" \n"), ElementsAre(" \n"));
  EXPECT_THAT(cut("a\nb"), ElementsAre("a", "\n", "b"));
  EXPECT_THAT(cut("we'll 'quote'"), ElementsAre("we", "'ll", " '", "quote", "'"));
  EXPECT_THAT(cut("Vi\xe1\xbb\x87t\xe2\x80\x94Nam"), ElementsAre("Vi\xe1\xbb\x87t", "\xe2\x80\x94", "Nam"));
}

TEST(ByteBpe, BytesComeFirstThenMergesThenBosAndEos) {
  ByteBpe bpe = ByteBpe::trained({{"ab", 3}, {"abc", 2}}, 260);
  EXPECT_EQ(bpe.size(), 260);
  EXPECT_EQ(bpe.bos(), 258);
  EXPECT_EQ(bpe.eos(), 259);
  EXPECT_THAT(bpe.encode("abc"), ElementsAre(257));
  EXPECT_THAT(bpe.encode("abab"), ElementsAre(256, 256));
  EXPECT_THAT(bpe.encode("\xc3\xa9"), ElementsAre(0xc3, 0xa9));
  ByteBpe bytes = ByteBpe::trained({{"ab", 3}}, 258);
  EXPECT_EQ(bytes.bos(), 256);
  EXPECT_EQ(bytes.eos(), 257);
  EXPECT_THAT(bytes.encode("ab"), ElementsAre('a', 'b'));
}

TEST(ByteBpe, DecodingRestoresTheText) {
  ByteBpe bpe = ByteBpe::trained({{"the", 9}, {" the", 9}, {" cat", 5}}, 270);
  const std::string text = "the cat\n sat, the v\xe1\xbb\x8b\xff";
  std::vector<int32_t> ids = bpe.encode(text);
  EXPECT_LT(ids.size(), text.size());
  ids.push_back(bpe.eos());
  EXPECT_EQ(bpe.decode(ids), text);
}

TEST(Packed, RowsRunAcrossDocumentsThatEndWithEos) {
  const TemporaryFolder root;
  write_file(root.path() / "train.txt", "ab\nc\n\n\nde\n\nf\n");  // a b \n c eos d e eos f eos
  const auto source = open_source(packed_spec(root.path(), 258));
  EXPECT_EQ(source->size(), 2);
  std::set<std::vector<int32_t>> rows;
  for (const int64_t step : {1, 2}) {
    const TensorMap batch = source->batch_at(step);
    ASSERT_EQ(batch.at("ids").shape(), (Shape{1, 4}));
    auto whole = row(batch, "ids", 0);
    const auto labels = row(batch, "labels", 0);
    EXPECT_TRUE(std::equal(whole.begin() + 1, whole.end(), labels.begin()));
    whole.push_back(labels.back());
    rows.insert(whole);
    EXPECT_EQ(count(batch, "tokens"), 4);
    EXPECT_EQ(count(batch, "slots"), 4);
    EXPECT_FALSE(batch.contains("count/ce"));
  }
  EXPECT_EQ(rows, (std::set<std::vector<int32_t>>{{'a', 'b', '\n', 'c', 257}, {'d', 'e', 257, 'f', 257}}));
}

TEST(Packed, ValidationUsesTheTokensOfTraining) {
  const TemporaryFolder root;
  write_file(root.path() / "train.txt", "abab abab\n");
  write_file(root.path() / "val.txt", "ababababab abab\n");
  SourceSpec spec = packed_spec(root.path(), 259);
  spec.split = Split::val;
  spec.text.length = 2;
  const TensorMap batch = open_source(spec)->batch_at(1);
  EXPECT_THAT(row(batch, "ids", 0), ElementsAre(256, 256));
}

// A tokenizer.json of all bytes and the merge "a b".
Json tokenizer() {
  Json vocabulary = Json::object();
  int32_t next = 0;
  for (int32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    const int32_t c = printable ? byte : 256 + next++;
    std::string text;
    if (c < 0x80) text = static_cast<char>(c);
    if (c >= 0x80) text = {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    vocabulary[text] = 300 - byte;
  }
  vocabulary["ab"] = 7;
  return {{"added_tokens", Json::array({{{"id", 301}, {"content", "<|endoftext|>"}}})},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array({"a b"})}}}};
}

TEST(Packed, ReadsATokenizerFileWithItsIds) {
  const TemporaryFolder root;
  write_file(root.path() / "train.txt", "aab c\n");
  write_file(root.path() / "tokenizer.json", tokenizer().dump());
  const TensorMap batch = open_source(packed_spec(root.path(), 302))->batch_at(1);
  EXPECT_THAT(row(batch, "ids", 0), ElementsAre(300 - 'a', 7, 300 - ' ', 300 - 'c'));
  EXPECT_THAT(row(batch, "labels", 0), ElementsAre(7, 300 - ' ', 300 - 'c', 301));
}

TEST(Packed, RefusesATokenizerThatDoesNotFit) {
  const TemporaryFolder root;
  write_file(root.path() / "train.txt", "aab c\n");
  const fs::path file = root.path() / "tokenizer.json";
  const auto refusal = [&](const Json& content) {
    write_file(file, content.is_string() ? content.get<std::string>() : content.dump());
    const std::string whole = refusal_of([&] { open_source(packed_spec(root.path(), 302)); });
    return whole.substr(std::min(whole.size(), file.string().size()));
  };
  Json faulty = tokenizer();
  faulty["added_tokens"][0]["id"] = 302;
  EXPECT_EQ(refusal(faulty), ": token 302 lies outside the network's 302 rows");
  faulty = tokenizer();
  faulty["model"]["vocab"].erase("q");
  EXPECT_EQ(refusal(faulty), ": the token 'q' is not in the vocabulary");
  faulty = tokenizer();
  faulty["model"]["vocab"]["q"] = -3;
  EXPECT_EQ(refusal(faulty), ": the token 'q' has the id -3");
  faulty = tokenizer();
  faulty["pre_tokenizer"]["type"] = "Metaspace";
  EXPECT_THAT(refusal(faulty), HasSubstr("only a BPE model with a ByteLevel pre-tokenizer"));
  faulty = tokenizer();
  faulty["model"]["merges"][0] = "a b c";
  EXPECT_EQ(refusal(faulty), ": a merge consists of two tokens, got \"a b c\"");
  faulty = tokenizer();
  faulty.erase("added_tokens");
  EXPECT_THAT(refusal(faulty), HasSubstr("no added token marks the end of a text"));
  EXPECT_THAT(refusal(Json(tokenizer().dump().substr(0, 50))), HasSubstr(":1: not JSON at byte "));
}

TEST(Packed, RefusesBadInputByNameAndLine) {
  const TemporaryFolder root;
  const fs::path file = root.path() / "train.txt";
  write_file(file, "abc\n\nab\x80\n");
  EXPECT_EQ(refusal_of([&] { open_source(packed_spec(root.path(), 258)); }),
            cat(file.string(), ":3: byte 0x80 at column 3 is not UTF-8"));
  write_file(file, "abc\n");
  EXPECT_EQ(refusal_of([&] { open_source(packed_spec(root.path(), 257)); }),
            "bytes, bos and eos need 258 tokens, got room for 257");
  EXPECT_THAT(refusal_of([&] { open_source(packed_spec(root.path(), 258)); }), HasSubstr("no batch of 1 samples"));
}

}  // namespace
}  // namespace tbd
