#include "data/transcripts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/text/testing_text.h"

namespace tbd {
namespace {
using testing::ElementsAre;
using testing_text::refusal_of;

TEST(Transcripts, LabelsAreAlphabetIndices) {
  EXPECT_THAT(transcript_labels("'AZ B"), ElementsAre(1, 2, 27, 28, 3));
  EXPECT_EQ(spelled(transcript_labels("IT'S A DOG")), "IT'S A DOG");
  EXPECT_EQ(kLabelCount, 29);
}

TEST(Transcripts, KeepsLibriSpeechTextUnchanged) {
  EXPECT_EQ(normal_transcript("CHAPTER ONE MISSUS RACHEL LYNDE'S"), "CHAPTER ONE MISSUS RACHEL LYNDE'S");
}

TEST(Transcripts, NormalizesToCapitalsWithoutAccentsOrPunctuation) {
  EXPECT_EQ(normal_transcript("  \"Caf\xc3\xa9, d\xe2\x80\x99"
                              "accord!\"\tre-record\xe2\x80\x94now...  "),
            "CAFE D'ACCORD RE RECORD NOW");
  EXPECT_EQ(normal_transcript("e\xcc\x81t\xc3\xa9"), "ETE");  // a combining mark, and a letter that has one
  EXPECT_EQ(normal_transcript("- a - b -"), "A B");
}

TEST(Transcripts, NamesTheCharacterThatHasNoPlace) {
  EXPECT_EQ(refusal_of([] { normal_transcript("press 3"); }), "'3' (U+0033) at character 7 is outside the alphabet");
  EXPECT_EQ(refusal_of([] { normal_transcript("\xc3\xa9 *"); }), "'*' (U+002A) at character 3 is outside the alphabet");
  EXPECT_EQ(refusal_of([] { normal_transcript("\xd0\xb4\xd0\xb0"); }),
            "'\xd0\xb4' (U+0434) at character 1 is outside the alphabet");
  EXPECT_EQ(refusal_of([] {
              normal_transcript(
                  "stra\xc3\x9f"
                  "e");
            }),
            "'\xc3\x9f' (U+00DF) at character 5 is outside the alphabet");
  EXPECT_EQ(refusal_of([] { normal_transcript("5 $"); }), "'5' (U+0035) at character 1 is outside the alphabet");
  EXPECT_EQ(refusal_of([] { normal_transcript("a\x01"); }), "'\x01' (U+0001) at character 2 is outside the alphabet");
  EXPECT_EQ(refusal_of([] { normal_transcript("a\xff"); }), "byte 2 is not UTF-8");
}

TEST(Transcripts, AnEmptyOneIsRefused) {
  for (const char* text : {"", "   ", "...", " - ! "})
    EXPECT_EQ(refusal_of([&] { normal_transcript(text); }), "an empty transcript") << text;
}

TEST(Transcripts, RejectsTheBlankAndUnknownCharacters) {
  EXPECT_EQ(refusal_of([] { transcript_labels("A_"); }), "'_' is outside the alphabet");
  EXPECT_EQ(refusal_of([] { spelled(std::vector<int32_t>{2, 0}); }), "label 0 is not in the alphabet");
  EXPECT_EQ(refusal_of([] { spelled(std::vector<int32_t>{29}); }), "label 29 is not in the alphabet");
}

TEST(Transcripts, EqualNeighboursNeedABlankBetween) {
  EXPECT_EQ(least_ctc_steps(transcript_labels("ABC")), 3);
  EXPECT_EQ(least_ctc_steps(transcript_labels("HELLO ALL")), 11);
  EXPECT_EQ(least_ctc_steps(transcript_labels("AAA")), 5);
  EXPECT_EQ(speech_steps(1), 1);
  EXPECT_EQ(speech_steps(100), 50);
  EXPECT_EQ(speech_steps(1001), 501);
}

}  // namespace
}  // namespace tbd
