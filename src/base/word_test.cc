#include "base/word.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/workload_words.h"

namespace tbd {
namespace {

struct Colour : Word<Colour> {
  using Word::Word;
  static const Colour red;
};
inline const Colour Colour::red{"red"};

static_assert(!std::equality_comparable_with<Colour, InputMode> && !std::is_constructible_v<InputMode, Colour>);
static_assert(!std::is_convertible_v<std::string, Colour> && !std::is_convertible_v<Colour, std::string>);

TEST(Word, IsItsTextInSentencesAndJson) {
  EXPECT_EQ(cat("a ", Colour::red, " box"), "a red box");
  EXPECT_EQ(Json(Colour::red).dump(), "\"red\"");
  EXPECT_TRUE(Colour().empty());
}

TEST(Word, ReadsANameThatItDoesNotKnow) {
  const Json json = {{"colour", "blue"}, {"count", 3}};
  EXPECT_EQ(at<Colour>(json, "colour").text(), "blue");
  EXPECT_LT(at<Colour>(json, "colour"), Colour::red);
  EXPECT_EQ(maybe<Colour>(json, "shade"), std::nullopt);
  EXPECT_THROW(at<Colour>(json, "count"), Error);
}

}  // namespace
}  // namespace tbd
