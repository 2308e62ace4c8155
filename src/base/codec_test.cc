#include "base/codec.h"

#include <gtest/gtest.h>

#include "base/workload_words.h"

namespace tbd {
namespace {

enum class Fruit { apple, pear };

struct Basket {
  std::string owner = "nobody";
  int64_t count = 1;
  uint64_t seed = 0;
  double weight = 0;
  std::optional<int64_t> price;
  Fruit fruit = Fruit::apple;
  std::vector<std::string> notes;
  std::vector<ImageLayout> layouts;
};
template <codec::Is<Basket> T>
void fields(T& basket, auto visit) {
  visit("owner", codec::Must{basket.owner});
  visit("count", basket.count);
  visit("seed", basket.seed);
  visit("weight", basket.weight);
  visit("price", basket.price);
  visit("fruit", basket.fruit);
  visit("notes", codec::Later{basket.notes});
  visit("layouts", codec::Later{basket.layouts});
}

}  // namespace
template <>
struct codec::EnumNames<Fruit> {
  static constexpr std::string_view kNames[] = {"apple", "pear"};
};
namespace {
using codec::JsonForm;

template <JsonForm F>
std::string written(const Basket& basket) {
  return codec::write_fields<F>(basket).dump();
}
template <JsonForm F>
std::string refusal(std::string_view json) {
  Basket basket;
  try {
    codec::read_fields<F>(parse_json(json, "basket"), basket);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Codec, DefinitionsLeaveDefaultsOutAndRefuseUnknownKeys) {
  EXPECT_EQ(written<JsonForm::definition>({.owner = "ann", .fruit = Fruit::pear}), R"({"owner":"ann","fruit":"pear"})");
  EXPECT_EQ(refusal<JsonForm::definition>(R"({"owner":"ann"})"), "");
  EXPECT_EQ(refusal<JsonForm::definition>("{}"), "'owner' is missing");
  EXPECT_TRUE(refusal<JsonForm::definition>(R"({"owner":"ann","cuont":2})").find("unknown key 'cuont'") !=
              std::string::npos);
  EXPECT_TRUE(refusal<JsonForm::definition>(R"({"owner":"ann","seed":18446744073709551615})").find("too large") !=
              std::string::npos);
  EXPECT_TRUE(refusal<JsonForm::definition>(R"({"owner":"ann","weight":"nan"})").find("expected a number") !=
              std::string::npos);
}

TEST(Codec, MessagesAreWholeAndPassOverWhatIsNewer) {
  const std::string whole =
      R"({"owner":"ann","count":1,"seed":18446744073709551615,"weight":"inf","fruit":"apple","notes":[],"layouts":[]})";
  EXPECT_EQ(written<JsonForm::message>({.owner = "ann", .seed = UINT64_MAX, .weight = HUGE_VAL}), whole);
  Basket back;
  codec::read_fields<JsonForm::message>(parse_json(whole, "basket"), back);
  EXPECT_EQ(back.seed, UINT64_MAX);
  EXPECT_EQ(back.weight, HUGE_VAL);
  EXPECT_EQ(refusal<JsonForm::message>(R"({"owner":"a","count":1,"seed":0,"weight":0,"fruit":"pear","colour":3})"), "")
      << "without notes, which came later, and with a key of a later version";
  EXPECT_EQ(refusal<JsonForm::message>(R"({"owner":"a"})"), "'count' is missing");
  EXPECT_EQ(refusal<JsonForm::message>(R"({"owner":"a","count":1.5})"), "'count': expected an integer, got 1.5");
  EXPECT_TRUE(refusal<JsonForm::message>(R"({"owner":"a","count":1,"seed":-1})").find("out of range") !=
              std::string::npos);
}

TEST(Codec, WordsAreTextKnownOrNot) {
  const Basket basket{.owner = "ann", .layouts = {ImageLayout::kNchw, ImageLayout("nchw4c")}};
  EXPECT_EQ(written<JsonForm::definition>(basket), R"({"owner":"ann","layouts":["nchw","nchw4c"]})");
  Basket back;
  codec::read_fields<JsonForm::definition>(parse_json(written<JsonForm::definition>(basket), "basket"), back);
  EXPECT_EQ(back.layouts, basket.layouts);
  EXPECT_EQ(refusal<JsonForm::definition>(R"({"owner":"ann","layouts":[3]})"), "'layouts': expected a name, got 3");
}

TEST(Codec, SettingsKeepWhatIsNotGiven) {
  EXPECT_TRUE(written<JsonForm::settings>({}).find(R"("price":null)") != std::string::npos);
  Basket basket{.count = 7, .price = 3, .fruit = Fruit::pear};
  codec::read_fields<JsonForm::settings>(parse_json(R"({"owner":"ann","price":null,"weight":2})", "basket"), basket);
  EXPECT_EQ(basket.count, 7);
  EXPECT_EQ(basket.price, 3);
  EXPECT_EQ(basket.weight, 2);
  EXPECT_TRUE(refusal<JsonForm::settings>(R"({"owner":"ann","fruit":"peach"})").find("unknown value 'peach'") !=
              std::string::npos);
}

}  // namespace
}  // namespace tbd
