#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/sets/html_text.h"
#include "data/sets/sentences.h"

namespace tbd {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

TEST(HtmlText, KeepsRunningTextWithItsReferences) {
  const HtmlText text = text_of_html(
      "<!DOCTYPE html><html lang=\"en-GB\"><head><title>A title here.</title></head><body><h1>A heading.</h1>"
      "<p>Files &amp; <b>folders</b>,\n  as&nbsp;&#x201c;text&#8221; &unknown; too.<br/>Next</p><pre>ls <p>-l</p></pre>"
      "<ul><li>An <a href=\"x\">item</a></li></ul><!-- <p>no</p> "
      "--><table><tr><td>cell</td></tr></table></body></html>");
  EXPECT_EQ(text.language, "en-GB");
  EXPECT_THAT(text.paragraphs, ElementsAre("Files & folders, as “text” &unknown; too. Next", "An item"));
}

TEST(HtmlText, EndsAParagraphAtTheNextElement) {
  EXPECT_THAT(text_of_html("<p>one<p>two<div>left out</div><dd>three<dl>left out").paragraphs,
              ElementsAre("one", "two", "three"));
  EXPECT_THAT(text_of_html("no element <").paragraphs, IsEmpty());
  EXPECT_THAT(text_of_html("<p>cut off &am").paragraphs, ElementsAre("cut off &am"));
}

TEST(Sentences, EndWhereTheNextBegins) {
  EXPECT_THAT(sentences_of("Read this. Then (see \"that.\") Stop! 3 files? end"),
              ElementsAre("Read this.", "Then (see \"that.\")", "Stop!", "3 files? end"));
  EXPECT_THAT(sentences_of(""), IsEmpty());
}

TEST(Sentences, DoNotEndBehindAbbreviationsOrBeforeSmallLetters) {
  EXPECT_THAT(sentences_of("Use a shell (e.g. Bash) by J. Doe etc. Now go."),
              ElementsAre("Use a shell (e.g. Bash) by J. Doe etc. Now go."));
  EXPECT_THAT(sentences_of("The file .bashrc. is read"), ElementsAre("The file .bashrc. is read"));
}

TEST(Sentences, HaveWordsAndAnEnd) {
  EXPECT_TRUE(is_sentence("This has four words.", 4));
  EXPECT_TRUE(is_sentence("(It ends in brackets!)", 4));
  EXPECT_FALSE(is_sentence("Only three words.", 4));
  EXPECT_FALSE(is_sentence("This one has no end", 4));
  EXPECT_FALSE(is_sentence("1 2 3 4.", 4));
}

}  // namespace
}  // namespace tbd
