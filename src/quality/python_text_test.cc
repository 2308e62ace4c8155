#include "quality/python_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Expected values are what CPython 3.11 prints.
TEST(PythonText, SplitsAtUnicodeWhiteSpace) {
  EXPECT_THAT(python_split("a\tb\u00A0c\u2009d\u3000e\u0085f\u2028g\x1Ch"),
              ElementsAre("a", "b", "c", "d", "e", "f", "g", "h"));
  EXPECT_THAT(python_split(" \n a\u200Bb  c "), ElementsAre("a\u200B"
                                                            "b",
                                                            "c"));
  EXPECT_THAT(python_split(""), IsEmpty());
  EXPECT_THAT(python_split(" \u3000 "), IsEmpty());
}

TEST(PythonText, StripsTheEndAlone) {
  EXPECT_EQ(python_rstrip(" a b\u00A0\u3000\n"), " a b");
  EXPECT_EQ(python_rstrip("\u2003"), "");
  EXPECT_EQ(python_rstrip("a\u200B"), "a\u200B");
}

TEST(PythonText, LowersLettersOfAllScripts) {
  EXPECT_EQ(python_lower("ÉCOLE Straße МЕТРО"), "école straße метро");
  EXPECT_EQ(python_lower("İstanbul"), "i\u0307stanbul");
  EXPECT_EQ(python_lower("ẞ Ⅷ Ⓐ"), "ß ⅷ ⓐ");
}

TEST(PythonText, SigmaIsFinalAtTheEndOfAWord) {
  EXPECT_EQ(python_lower("ΟΔΟΣ ΣΟΦΙΑ"), "οδος σοφια");
  EXPECT_EQ(python_lower("Σ ΑΣ. ΑΣ.Α"), "σ ας. ασ.α");
  EXPECT_EQ(python_lower("1Σ ªΣ Α\u0301Σ"), "1σ ªς α\u0301ς");
}

TEST(PythonText, ReplacesWholeWords) {
  const std::vector<std::string_view> articles = {"a", "an", "the"};
  EXPECT_EQ(python_replace_words("the theater an_other a", articles, " "), "  theater an_other  ");
  EXPECT_EQ(python_replace_words("’a’ aé 1a a東", articles, "_"), "’_’ aé 1a a東");
  EXPECT_EQ(python_replace_words("a\u0301", articles, "_"), "_\u0301");  // a mark is no word character
  EXPECT_EQ(python_replace_words("", articles, "_"), "");
}

TEST(PythonText, RefusesWhatIsNotUtf8) {
  for (const char* text : {"ab\xFF", "ab\xC3", "ab\xED\xA0\x80"}) {
    try {
      python_lower(text);
      FAIL() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid);
      EXPECT_STREQ(e.what(), "text is not UTF-8 at byte 2");
    }
    EXPECT_THROW(python_split(text), Error);
    EXPECT_THROW(python_rstrip(text), Error);
    EXPECT_THROW(python_replace_words(text, {}, ""), Error);
  }
}

}  // namespace
}  // namespace tbd
