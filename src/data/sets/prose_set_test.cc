#include "data/sets/prose_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "base/json.h"
#include "data/sets/cloze.h"
#include "data/text/plain_text.h"
#include "data/text/squad_file.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_text::refusal_of;

// Pages of three sentences each, of which the last stands in all, and one in German.
void write_pages(const fs::path& root, int64_t count = 40) {
  const fs::path folder = root / "debian-faq/usr/share/doc";
  make_folder(folder);
  for (int64_t i = 0; i < count; ++i)
    write_file(folder / cat("page", i, ".en.html"),
               cat("<html lang=\"en\"><p>Größe: the boot loader", i, " reads a file. It then starts its kernel", i,
                   " at once.</p><p>This is on every page.</p></html>"));
  write_file(folder / "page.de.html", "<html lang=\"de\"><p>Das ist ein deutscher Satz.</p></html>");
  write_file(folder / "bad.html", "<p>gr\xf6\xdf</p>");
}

SourceSpec prose_spec(SourceKind kind, const fs::path& path, Split split) {
  SourceSpec spec{.kind = kind, .path = path.string(), .split = split};
  spec.text.length = 32;
  return spec;
}

TEST(ProseSet, WritesWhatThePlainTextReaderReads) {
  const TemporaryFolder root;
  write_pages(root.path() / "in");
  const fs::path out = root.path() / "out";
  const ProseSetSummary made = make_prose_set(root.path() / "in", out);
  EXPECT_EQ(made.train.documents + made.val.documents, 40);
  EXPECT_EQ(made.train.sentences + made.val.sentences, 81);
  ASSERT_EQ(made.left_out.size(), 1);
  EXPECT_EQ(made.left_out[0].reason, "byte 6 is not UTF-8");
  const PlainText train(find_plain_text(prose_spec(SourceKind::pretraining_text, out, Split::train)));
  EXPECT_EQ(train.documents().size(), static_cast<size_t>(made.train.documents));
  EXPECT_GT(open_source(prose_spec(SourceKind::pretraining_text, out, Split::train))->size(), 0);
  EXPECT_GT(open_source(prose_spec(SourceKind::packed_text, out, Split::val))->size(), 0);
  const Json json = parse_json(read_file(out / "data.json"), "data.json");
  EXPECT_EQ(json["sources"][0]["package"], "debian-faq");
  EXPECT_EQ(json["content_sha256"], made.set.content_sha256);
}

TEST(ProseSet, NoSentenceIsInBothSplits) {
  const TemporaryFolder root;
  write_pages(root.path() / "in");
  make_prose_set(root.path() / "in", root.path() / "out");
  const TextFile train(root.path() / "out/train.txt"), val(root.path() / "out/val.txt");
  std::set<std::string_view> known;
  for (size_t i = 0; i < train.size(); ++i) known.insert(train[i]);
  ASSERT_GT(val.size(), 1);
  for (size_t i = 0; i < val.size(); ++i) EXPECT_TRUE(val[i].empty() || !known.contains(val[i])) << val[i];
}

TEST(ProseSet, IsDeterministicAndLeavesNothingBehindWhenItFails) {
  const TemporaryFolder root;
  write_pages(root.path() / "in");
  const std::string one = make_prose_set(root.path() / "in", root.path() / "one").set.content_sha256;
  EXPECT_EQ(make_prose_set(root.path() / "in", root.path() / "two").set.content_sha256, one);
  make_folder(root.path() / "empty");
  EXPECT_THAT(refusal_of([&] { make_prose_set(root.path() / "empty", root.path() / "out"); }),
              HasSubstr("gives 0 pages of English text for training"));
  EXPECT_THROW(make_cloze_set(root.path() / "empty", root.path() / "out"), Error);
  EXPECT_THROW(make_prose_set(root.path() / "in", root.path() / "one"), Error);  // not empty
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path()), fs::directory_iterator()), 4);
}

TEST(Cloze, AsksForTheWordsBehindADeterminer) {
  const std::string sentence = "The boot loader of this machine reads a file.";
  std::set<std::string> asked;
  for (const char* ending : {"", " 1", " 2", " 3", " 4", " 5", " 6", " 7", " 8"}) {
    const std::string text = sentence + ending;
    const auto cloze = cloze_of(text, text);
    ASSERT_TRUE(cloze);
    const std::string answer = text.substr(cloze->begin, cloze->end - cloze->begin);
    asked.insert(answer);
    std::string restored = cloze->question;
    EXPECT_EQ(restored.replace(restored.find(kAskedFor), kAskedFor.size(), answer), text);
  }
  EXPECT_EQ(asked, (std::set<std::string>{"boot loader", "machine reads", "file"}));
}

TEST(Cloze, LeavesOutWhatIsNoShortPhraseOrStandsTwice) {
  EXPECT_FALSE(cloze_of("Nothing here is asked for.", "Nothing here is asked for."));
  EXPECT_FALSE(cloze_of("See the a/b path.", "See the a/b path."));
  EXPECT_FALSE(cloze_of("See the one two three four five.", "See the one two three four five."));
  EXPECT_FALSE(cloze_of("Read the file.", "Read the file. Then close the file."));
  EXPECT_TRUE(cloze_of("Read the file.", "Read the file. Then close it."));
}

TEST(ClozeSet, WritesQuestionsWhoseAnswersStandWhereTheySay) {
  const TemporaryFolder root;
  write_pages(root.path() / "in");
  const fs::path out = root.path() / "out";
  const ClozeSetSummary made = make_cloze_set(root.path() / "in", out);
  EXPECT_EQ(made.train_contexts + made.val_contexts, 40);  // the sentence that stands alone is no context
  const SquadFile train = read_squad(out / "train-v1.1.json", /*strict=*/true);
  EXPECT_EQ(train.questions.size(), static_cast<size_t>(made.train_questions));
  EXPECT_GE(made.train_questions, made.train_contexts);
  for (const SquadQuestion& question : train.questions) EXPECT_THAT(question.question, HasSubstr("placeholder"));
  EXPECT_EQ(read_squad(out / "dev-v1.1.json", true).questions.size(), static_cast<size_t>(made.val_questions));
}

}  // namespace
}  // namespace tbd
