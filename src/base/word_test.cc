#include "base/word.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/link_limits.h"
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

TEST(DeviceWord, NumbersGpus) {
  EXPECT_EQ(Device::gpu(12), Device("cuda:12"));
  EXPECT_EQ(Device("cuda:12").gpu_number(), 12);
  for (const std::string text : {"cpu", "auto", "", "cuda", "cuda:", "cuda:-1", "cuda:x", "cuda:00", "gpu:0"})
    EXPECT_EQ(Device(text).gpu_number(), std::nullopt) << text;
}

std::string spelled(const std::string& text) { return link_of(limits_of(Link(text))).text(); }

TEST(LinkWord, HasOneSpelling) {
  for (const std::string word : {"1Gbit", "100Mbit", "2.5Gbit", "100kbit", "1Gbit+1ms", "1.024Mbit+50us", "100Gbit+10s",
                                 "10Mbit+2.5ms", "333.333333Mbit+1us"})
    EXPECT_EQ(spelled(word), word);
  EXPECT_EQ(spelled("1000Mbit"), "1Gbit");
  EXPECT_EQ(spelled("0.1gbit/s"), "100Mbit");
  EXPECT_EQ(spelled("100000bit+0.001S"), "100kbit+1ms");
  EXPECT_EQ(spelled("1.50GBIT+1000us"), "1.5Gbit+1ms");
  EXPECT_EQ(spelled("loopback"), "");
  EXPECT_EQ(spelled(""), "");
  EXPECT_EQ(limits_of(Link("100Mbit+50us")).bits_per_second, 1e8);
  EXPECT_DOUBLE_EQ(limits_of(Link("100Mbit+50us")).delay_s, 5e-5);
}

TEST(LinkWord, OfAnotherFormIsRefusedWithTheNearest) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      return cat("accepted ", spelled(text));
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage) << text;
      return e.what();
    }
  };
  const std::pair<std::string, std::string> nearest[] = {
      {"1Gb", "1Gbit"},         {"125MB/s", "1Gbit"},       {"10g", "10Gbit"},        {"5Tbit", "100Gbit"},
      {"1kbit", "100kbit"},     {"0Gbit", "100kbit"},       {"-1Gbit", "1Gbit"},      {"1000", "1Gbit"},
      {"fast", "1Gbit"},        {"1Gbit+", "1Gbit+1ms"},    {"1Gbit+2", "1Gbit+2ms"}, {"1Gbit+1min", "1Gbit+1ms"},
      {"+1ms", "1Gbit+1ms"},    {"1Gbit+20s", "1Gbit+10s"}, {"1Gbit 1ms", "1Gbit"},   {"1Gbit+0ms", "1Gbit+1us"},
      {"nanGbit", "1Gbit"},     {"1e3Mbit", "100kbit"},     {"loopbac", "1Gbit"},     {"1Gbit+delay=1ms", "1Gbit+1ms"},
      {"1Mbit+3x", "1Mbit+3ms"}};
  for (const auto& [text, word] : nearest)
    EXPECT_EQ(refusal(text), cat("link '", text,
                                 "' is none: a rate from 100kbit to 100Gbit, with +1ms for a delay each way, or "
                                 "loopback; did you mean '",
                                 word, "'?"));
}

}  // namespace
}  // namespace tbd
