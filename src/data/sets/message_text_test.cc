#include "data/sets/message_text.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

std::string text_of(std::string_view message) { return tokenised_message(message).text; }

TEST(MessageText, SplitsPunctuationOff) {
  EXPECT_EQ(text_of("cannot open \"x\": no space (yet)."), "cannot open \" x \" : no space ( yet ) .");
  EXPECT_EQ(text_of("don't use file.txt, it's non-empty\n\tand 1,024 wide…"),
            "don't use file.txt , it's non-empty and 1,024 wide …");
  EXPECT_EQ(text_of("Größe „x“ không — được"), "Größe „ x “ không — được");
  EXPECT_EQ(text_of("  -a, --all  do - not"), "-a , --all do - not");
  EXPECT_EQ(text_of(""), "");
}

TEST(MessageText, ConversionsAndMarkupAreOneToken) {
  EXPECT_EQ(text_of("%s: read %5.2f of %lu, %1$s or %-*d"), "<x> : read <x> of <x> , <x> or <x>");
  EXPECT_EQ(text_of("%(name)s in {file} and {0} at ${HOME} %1"), "<x> in <x> and <x> at <x> <x>");
  EXPECT_EQ(text_of("<b>Bold</b> <file name>x"), "<x> Bold <x> <x> x");
  EXPECT_EQ(text_of("100% done, 5%% more, a < b > c"), "100 % done , 5 % more , a < b > c");
}

TEST(MessageText, CountsWordsAndNothingElse) {
  EXPECT_EQ(tokenised_message("%s: %d <b>").words, 0);
  EXPECT_EQ(tokenised_message("12 files, %d left.").words, 2);
}

TEST(MessageText, DropsAShortcutThatBothHave) {
  std::string text = "_Edit file", translation = "Datei be_arbeiten";
  drop_shortcuts(text, translation);
  EXPECT_EQ(text + "|" + translation, "Edit file|Datei bearbeiten");
  text = "use a_name";
  translation = "nutze Namen";
  drop_shortcuts(text, translation);
  EXPECT_EQ(text, "use a_name");
  text = "a_name or b_name";
  translation = "a_name oder b_name";
  drop_shortcuts(text, translation);
  EXPECT_EQ(translation, "a_name oder b_name");
}

}  // namespace
}  // namespace tbd
