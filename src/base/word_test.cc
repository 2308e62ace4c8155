#include "base/word.h"

#include <gtest/gtest.h>

#include "base/text.h"
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

TEST(Word, IsItsText) {
  EXPECT_EQ(cat("a ", Colour::red, " box"), "a red box");
  EXPECT_LT(Colour("blue"), Colour::red);
  EXPECT_TRUE(Colour().empty());
}

}  // namespace
}  // namespace tbd
