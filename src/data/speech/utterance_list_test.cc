#include "data/speech/utterance_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/speech/testing_speech.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace testing_speech;
using testing_text::refusal_of;

class UtteranceLists : public testing::Test {
 protected:
  fs::path path(const std::string& name = "") const { return folder_.path() / name; }
  std::vector<std::string> listed(Split split, const std::string& name = "") const {
    std::vector<std::string> out;
    for (const ListedUtterance& u : list_utterances(path(name), split).utterances)
      out.push_back(u.audio + "|" + u.text + "|" + u.where);
    return out;
  }
  std::string refusal(Split split = Split::train, const std::string& name = "") const {
    return refusal_of([&] { list_utterances(path(name), split); });
  }
  void transcripts(const std::string& text) const { write_file(path("train/1/2/1-2.trans.txt"), text); }

 private:
  TemporaryFolder folder_;
};

TEST_F(UtteranceLists, ReadsTheLayoutOfLibriSpeech) {
  write_libri(path(), "train-clean-100", {{20, "ONE TWO"}, {30, "THREE"}});
  write_libri(path(), "train-other-500", {{20, "FOUR"}}, ".wav");
  write_libri(path(), "dev-clean", {{20, "FIVE"}});
  write_libri(path(), "test-clean", {{20, "NOT ASKED FOR"}});
  EXPECT_THAT(listed(Split::train),
              ElementsAre("train-clean-100/1/2/1-2-0000.flac|ONE TWO|train-clean-100/1/2/1-2.trans.txt:1",
                          "train-clean-100/1/2/1-2-0001.flac|THREE|train-clean-100/1/2/1-2.trans.txt:2",
                          "train-other-500/1/2/1-2-0000.wav|FOUR|train-other-500/1/2/1-2.trans.txt:1"));
  EXPECT_THAT(listed(Split::val), ElementsAre("dev-clean/1/2/1-2-0000.flac|FIVE|dev-clean/1/2/1-2.trans.txt:1"));
}

TEST_F(UtteranceLists, AFolderWithoutSplitsIsTheSplitAskedFor) {
  write_libri(path(), "test-clean", {{20, "FIVE"}});
  for (const Split split : {Split::train, Split::val})
    EXPECT_THAT(listed(split, "test-clean"), ElementsAre("1/2/1-2-0000.flac|FIVE|1/2/1-2.trans.txt:1"));
}

TEST_F(UtteranceLists, TellsRecordingsWithoutATranscript) {
  write_libri(path(), "train", {{20, "ONE"}, {20, "TWO"}});
  transcripts("1-2-0001 TWO\n");
  const UtteranceList list = list_utterances(path(), Split::train);
  ASSERT_EQ(list.utterances.size(), 1);
  ASSERT_EQ(list.left_out.size(), 1);
  EXPECT_EQ(list.left_out[0].path, "train/1/2/1-2-0000.flac");
  EXPECT_EQ(list.left_out[0].reason, "no transcript");
}

TEST_F(UtteranceLists, NamesTheLineThatIsWrong) {
  write_libri(path(), "train", {{20, "ONE"}});
  transcripts("1-2-0000 ONE\n1-2-0007 TWO\n");
  EXPECT_EQ(refusal(), "train/1/2/1-2.trans.txt:2: no recording 1-2-0007.flac or .wav beside it");
  transcripts("1-2-0000 ONE\n1-2-0000 TWO\n");
  EXPECT_EQ(refusal(), "train/1/2/1-2.trans.txt:2: 1-2-0000 occurs twice");
  transcripts("1-2-0000 ONE\n\n");
  EXPECT_EQ(refusal(), "train/1/2/1-2.trans.txt:2: expected an utterance's name and its text");
  transcripts("../../x ONE\n");
  EXPECT_THAT(refusal(), HasSubstr("expected an utterance's name"));
}

TEST_F(UtteranceLists, NamesWhatIsMissing) {
  EXPECT_THAT(refusal(Split::train, "none"), HasSubstr("cannot read folder"));
  EXPECT_THAT(refusal(), HasSubstr("has no utterance for training"));
  make_folder(path("train"));
  EXPECT_THAT(refusal(Split::val), HasSubstr("has no validation speech; looked for val, dev-clean, dev-other"));
}

TEST_F(UtteranceLists, ReadsAManifestInEitherForm) {
  make_folder(path("wav"));
  write_file(path("wav/a.txt"), "ONE\n");
  write_file(path("wav/b.txt"), "TWO");
  write_file(path("train_manifest.json"),
             R"({"root_path": "wav", "samples": [{"wav_path": "a.wav", "transcript_path": "a.txt"}]})");
  write_file(path("val_manifest.csv"), "wav/a.wav,wav/a.txt\nwav/b.wav,wav/b.txt\n");
  const UtteranceList train = list_utterances(path(), Split::train), val = list_utterances(path(), Split::val);
  ASSERT_EQ(train.utterances.size(), 1);
  EXPECT_EQ(train.root / train.utterances[0].audio, path("wav/a.wav"));
  EXPECT_EQ(train.utterances[0].text, "ONE");
  ASSERT_EQ(val.utterances.size(), 2);
  EXPECT_EQ(val.root / val.utterances[1].audio, path("wav/b.wav"));
  EXPECT_EQ(val.utterances[1].text, "TWO");
  EXPECT_EQ(list_utterances(path("val_manifest.csv"), Split::train).utterances.size(), 2);
}

TEST_F(UtteranceLists, NamesWhatIsWrongInAManifest) {
  write_file(path("train_manifest.csv"), "a.wav\n");
  EXPECT_THAT(refusal(), HasSubstr("train_manifest.csv:1: expected AUDIO,TRANSCRIPT"));
  write_file(path("train_manifest.csv"), "a.wav,a.txt\n");
  EXPECT_THAT(refusal(), HasSubstr("train_manifest.csv:1: the transcript "));
  write_file(path("a.txt"), "ONE\nTWO\n");
  EXPECT_THAT(refusal(), HasSubstr("a.txt:2: a transcript must be one line"));
  write_file(path("train_manifest.json"), "{}");
  EXPECT_THAT(refusal(), HasSubstr("train_manifest.json: 'samples' is missing"));
  write_file(path("train_manifest.json"), R"({"samples": [{"wav_path": 3, "transcript_path": "a.txt"}]})");
  EXPECT_THAT(refusal(), HasSubstr("train_manifest.json: 'wav_path' has the wrong type: 3"));
}

}  // namespace
}  // namespace tbd
