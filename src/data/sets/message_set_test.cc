#include "data/sets/message_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "base/json.h"
#include "data/sets/testing_catalogue.h"
#include "data/text/text_file.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_catalogue::catalogue_bytes;
using testing_catalogue::kUtf8Header;

std::vector<Message> many(int64_t count) {
  std::vector<Message> messages = {kUtf8Header};
  for (int64_t i = 0; i < count; ++i)
    messages.push_back({cat("cannot open file", i, ": %s"), cat("Datei", i, " geht nicht auf: %s")});
  return messages;
}

void write_catalogue(const fs::path& root, const std::string& name, const std::vector<Message>& messages) {
  const fs::path folder = root / "coreutils/usr/share/locale/de/LC_MESSAGES";
  make_folder(folder);
  write_file(folder / name, catalogue_bytes(messages));
}

SourceSpec message_spec(const fs::path& path, Split split) {
  SourceSpec spec{.kind = SourceKind::parallel_text, .path = path.string(), .split = split};
  spec.text.languages = {"en", "de"};
  return spec;
}

TEST(MessageSet, WritesWhatTheParallelReaderReads) {
  const TemporaryFolder root;
  write_catalogue(root.path() / "in", "a.mo", many(200));
  const fs::path out = root.path() / "out";
  const MessageSetSummary made = make_message_set(root.path() / "in", out);
  EXPECT_EQ(made.train_pairs + made.val_pairs, 200);
  EXPECT_EQ(made.set.files, 4);
  const auto train = open_source(message_spec(out, Split::train)), val = open_source(message_spec(out, Split::val));
  EXPECT_EQ(train->size(), made.train_pairs);
  EXPECT_EQ(val->size(), made.val_pairs);
  EXPECT_EQ(train->data_hash(), made.set.content_sha256);
  const TextFile source(out / "train.en"), target(out / "train.de");
  EXPECT_EQ(source[0], "cannot open file1 : <x>");  // file0 is of val
  EXPECT_EQ(target[0], "Datei1 geht nicht auf : <x>");
  const Json json = parse_json(read_file(out / "data.json"), "data.json");
  EXPECT_EQ(json["sources"][0]["package"], "coreutils");
  EXPECT_EQ(json["sources"][0]["pairs"], 200);
}

TEST(MessageSet, NoSourceSentenceIsInBothSplits) {
  const TemporaryFolder root;
  std::vector<Message> again = many(300);
  for (Message& message : again) message.translation += " !";  // other translations of the same sentences
  write_catalogue(root.path() / "in", "a.mo", many(300));
  write_catalogue(root.path() / "in", "b.mo", {again[0], again[1]});
  again[0] = kUtf8Header;
  write_catalogue(root.path() / "in", "c.mo", again);
  make_message_set(root.path() / "in", root.path() / "out");
  const TextFile train(root.path() / "out/train.en"), val(root.path() / "out/val.en");
  std::set<std::string_view> known;
  for (size_t i = 0; i < train.size(); ++i) known.insert(train[i]);
  ASSERT_GT(val.size(), 5);
  for (size_t i = 0; i < val.size(); ++i) EXPECT_FALSE(known.contains(val[i])) << val[i];
}

TEST(MessageSet, LeavesOutWhatTeachesNothing) {
  const TemporaryFolder root;
  std::vector<Message> messages = many(200);
  for (const Message& useless : {Message{"%s: %d of %s", "%s: %d von %s"}, Message{"two words", "zwei Worte"},
                                 Message{"the very same", "the very same"}, Message{"has no word", "%s"}, messages[1]})
    messages.push_back(useless);
  write_catalogue(root.path() / "in", "a.mo", messages);
  write_file(root.path() / "in/coreutils/usr/share/locale/de/LC_MESSAGES/bad.mo", "text");
  const MessageSetSummary made = make_message_set(root.path() / "in", root.path() / "out");
  EXPECT_EQ(made.train_pairs + made.val_pairs, 200);
  ASSERT_EQ(made.left_out.size(), 1);
  EXPECT_THAT(made.left_out[0].path, HasSubstr("bad.mo"));
  EXPECT_THAT(made.left_out[0].reason, HasSubstr("fewer than a catalogue's header"));
}

TEST(MessageSet, IsDeterministicAndLeavesNothingBehindWhenItFails) {
  const TemporaryFolder root;
  write_catalogue(root.path() / "in", "a.mo", many(100));
  const auto one = make_message_set(root.path() / "in", root.path() / "one");
  EXPECT_EQ(make_message_set(root.path() / "in", root.path() / "two").set.content_sha256, one.set.content_sha256);
  EXPECT_THROW(make_message_set(root.path() / "in", root.path() / "vi", {.language = "vi"}), Error);
  EXPECT_THROW(make_message_set(root.path() / "in", root.path() / "one"), Error);  // not empty
  EXPECT_THROW(make_message_set(root.path() / "none", root.path() / "out"), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path()), fs::directory_iterator()), 3);
}

}  // namespace
}  // namespace tbd
