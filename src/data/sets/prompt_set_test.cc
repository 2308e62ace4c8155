#include "data/sets/prompt_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "base/subprocess.h"
#include "data/sets/prompt_text.h"
#include "data/speech/testing_speech.h"
#include "data/text/testing_text.h"
#include "data/text/text_file.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_speech::tone;
using testing_text::refusal_of;

TEST(PromptText, SpellsSingleDigitsAndDropsPunctuation) {
  EXPECT_EQ(prompt_transcript("Press 1, or press 2."), "PRESS ONE OR PRESS TWO");
  EXPECT_EQ(prompt_transcript("De-activated."), "DE ACTIVATED");
  EXPECT_EQ(prompt_transcript("I'm sorry, that's \"it\"!"), "I'M SORRY THAT'S IT");
}

TEST(PromptText, RefusesWhatIsNotSaidAsItStands) {
  for (const char* text : {"[tone]", "at [@]", "(2 seconds of silence)", "<beep>"})
    EXPECT_EQ(refusal_of([&] { prompt_transcript(text); }), "a tone, silence or a note in brackets") << text;
  for (const char* text : {"dial 500", "3D audio", "H.323", "folder5", "8.5 minutes"})
    EXPECT_EQ(refusal_of([&] { prompt_transcript(text); }), "a number that can be read in several ways") << text;
  EXPECT_EQ(refusal_of([] { prompt_transcript("press ..."); }), "a part of a sentence");
  EXPECT_THAT(refusal_of([] { prompt_transcript("press * now"); }), HasSubstr("'*' (U+002A) at character 7"));
}

TEST(PromptText, ReadsAListPackedOrNot) {
  const TemporaryFolder root;
  const fs::path file = root.path() / "list.txt";
  write_file(file, "; a comment\n\na/b: One.\nc:  Two: three.\n");
  const auto plain = read_prompt_list(file);
  ASSERT_EQ(plain.size(), 2);
  EXPECT_EQ(plain[0].name + "|" + plain[0].text, "a/b|One.");
  EXPECT_EQ(plain[1].name + "|" + plain[1].text, "c|Two: three.");
  Subprocess gzip({.argv = {"gzip", file.string()}, .environment = {{"PATH", "/usr/bin:/bin"}}});
  ASSERT_TRUE(gzip.wait(10)->ok());
  EXPECT_EQ(read_prompt_list(root.path() / "list.txt.gz").size(), 2);
  write_file(file, "a: b\nnothing here\n");
  EXPECT_EQ(refusal_of([&] { read_prompt_list(file); }), file.string() + ":2: expected NAME: TEXT");
}

class PromptSet : public testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  void write_prompt(const std::string& name, double seconds) const {
    const fs::path file = path("in/voice-wav/usr/share/asterisk/sounds/en_US_f_Allison/" + name + ".wav");
    make_folder(file.parent_path());
    write_audio(file, tone(static_cast<int64_t>(8000 * seconds), 440, 8000), 8000);
  }
  void write_list(const std::string& text) const {
    make_folder(path("in/list"));
    write_file(path("in/list/core-sounds-en.txt"), text);
  }
  // Prompts that say a word each: p0: aba, p1: abb ...
  std::string many(int64_t count) const {
    std::string list;
    for (int64_t i = 0; i < count; ++i) {
      write_prompt(cat("p", i), 0.5);
      list +=
          cat("p", i, ": ", std::string{static_cast<char>('a' + i / 26), 'b', static_cast<char>('a' + i % 26)}, "\n");
    }
    return list;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(PromptSet, WritesWhatTheSpeechReaderReads) {
  write_list(many(60));
  const PromptSetSummary made = make_prompt_set(path("in"), path("out"));
  EXPECT_EQ(made.train.utterances + made.val.utterances, 60);
  EXPECT_NEAR(made.train.seconds + made.val.seconds, 30, 1e-9);
  EXPECT_EQ(made.held_out.utterances, 0);
  SourceSpec spec{.kind = SourceKind::speech, .path = path("out").string()};
  const auto train = open_source(spec);
  EXPECT_EQ(train->size(), made.train.utterances);
  EXPECT_EQ(train->data_hash(), made.set.content_sha256);
  EXPECT_THAT(testing_text::ints(train->next(1), "frames"), testing::ElementsAre(51));
  spec.split = Split::val;
  EXPECT_EQ(open_source(spec)->size(), made.val.utterances);
}

TEST_F(PromptSet, NoTextIsInBothSplits) {
  std::string list = many(40);
  for (int64_t i = 0; i < 40; ++i) {
    write_prompt(cat("q", i), 0.6);
    list +=
        cat("q", i, ": ", std::string{static_cast<char>('A' + i / 26), 'b', static_cast<char>('a' + i % 26)}, "!\n");
  }
  write_list(list);
  make_prompt_set(path("in"), path("out"));
  std::set<std::string> train;
  const auto texts = [&](const std::string& split) {
    const TextFile file(path("out/" + split + "/allison/prompts/allison-prompts.trans.txt"));
    std::vector<std::string> out;
    for (size_t i = 0; i < file.size(); ++i) out.emplace_back(file[i].substr(file[i].find(' ')));
    return out;
  };
  for (const std::string& text : texts("train")) train.insert(text);
  for (const std::string& text : texts("val")) EXPECT_FALSE(train.contains(text)) << text;
  EXPECT_EQ(texts("train").size() + texts("val").size(), 80);
}

TEST_F(PromptSet, NamesWhatItLeavesOut) {
  const std::string list = many(60);
  write_prompt("long", 17);
  write_prompt("fast", 0.1);
  write_prompt("beep", 0.5);
  write_list(list + "long: long\nfast: much too fast for this\nbeep: [a beep]\nnone: nothing\n");
  const PromptSetSummary made = make_prompt_set(path("in"), path("out"));
  ASSERT_EQ(made.left_out.size(), 4);
  EXPECT_EQ(made.left_out[0].path + ": " + made.left_out[0].reason, "long: longer than 1600 frames");
  EXPECT_EQ(made.left_out[1].reason, "too fast for its transcript");
  EXPECT_EQ(made.left_out[2].reason, "a tone, silence or a note in brackets");
  EXPECT_EQ(made.left_out[3].reason, "no recording");
  EXPECT_EQ(made.set.files, 62);
}

TEST_F(PromptSet, SentencesOfAnotherVoiceAreHeldOut) {
  write_list(many(60));
  const fs::path folder = path("in/pocketsphinx-testdata/usr/share/pocketsphinx/test/data/librivox");
  make_folder(folder);
  write_audio(folder / "s-0870.wav", tone(16000), 16000);
  write_file(folder / "transcription", "<s> he was not </s> (s-0870)\n");
  const PromptSetSummary made = make_prompt_set(path("in"), path("out"));
  EXPECT_EQ(made.held_out.utterances, 1);
  EXPECT_EQ(read_file(path("out/held_out/pocketsphinx/librivox/pocketsphinx-librivox.trans.txt")),
            "pocketsphinx-librivox-0000 HE WAS NOT\n");
  SourceSpec spec{.kind = SourceKind::speech, .path = path("out/held_out").string(), .split = Split::val};
  EXPECT_EQ(open_source(spec)->size(), 1);
}

TEST_F(PromptSet, RefusesASourceThatGivesNothing) {
  make_folder(path("in"));
  EXPECT_THAT(refusal_of([&] { make_prompt_set(path("in"), path("out")); }), HasSubstr("has no list of prompts"));
  write_list("a: b\n");
  EXPECT_THAT(refusal_of([&] { make_prompt_set(path("in"), path("out")); }),
              HasSubstr("gives 0 prompts for training and 0 for validation"));
  EXPECT_FALSE(fs::exists(path("out")));
}

}  // namespace
}  // namespace tbd
