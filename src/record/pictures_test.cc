#include "record/pictures.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace tbd {
namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const std::string kPng = "\x89PNG\r\n\x1a\n...";

class Pictures : public ::testing::Test {
 protected:
  std::filesystem::path list() const { return folder_.path() / "pictures/pictures.json"; }
  std::vector<std::string> read() const {
    std::vector<std::string> lines;
    for (const Picture& picture : read_pictures(folder_.path()))
      lines.push_back(cat(picture.file, "|", picture.title, "|", picture.caption, "|", picture.png.size()));
    return lines;
  }
  std::string refusal_of(const std::string& text) const {
    write_file(list(), text);
    try {
      read_pictures(folder_.path());
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  void write(const std::vector<Picture>& pictures) const { write_pictures(folder_.path(), pictures); }

  TemporaryFolder folder_;
};

TEST_F(Pictures, AreNoneWithoutAList) { EXPECT_TRUE(read().empty()); }

TEST_F(Pictures, ComeBackInTheirOrder) {
  write({{"street.png", "Street", "3 people", kPng}, {"field.png", "Field", "", kPng + "."}});
  EXPECT_EQ(read(), (std::vector<std::string>{"street.png|Street|3 people|11", "field.png|Field||12"}));
}

TEST_F(Pictures, AreReplacedAsAWhole) {
  write({{"street.png", "Street", "3 people", kPng}, {"field.png", "Field", "", kPng}});
  write({{"field.png", "Meadow", "a cow", kPng + ".."}});
  EXPECT_EQ(read(), std::vector<std::string>{"field.png|Meadow|a cow|13"});
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "pictures/street.png"));
}

TEST_F(Pictures, AreRefusedWithTheFilesName) {
  write({{"street.png", "Street", "3 people", kPng}});
  const auto with = [](const std::string& picture) { return R"({"version": 1, "pictures": [)" + picture + "]}"; };
  EXPECT_PRED2(has, refusal_of(with(R"({"file": "../street.png", "title": "x"})")),
               "pictures.json: '../street.png' is not the name of a .png file");
  EXPECT_PRED2(has, refusal_of(with(R"({"file": "gone.png", "title": "x"})")), "gone.png");
  EXPECT_PRED2(has, refusal_of(with(R"({"file": "street.png"})")), "title");
  EXPECT_PRED2(has, refusal_of(with(R"({"file": "street.png", "title": "x"}, {"file": "street.png", "title": "y"})")),
               "'street.png' stands twice");
  EXPECT_PRED2(has, refusal_of(R"({"version": 2, "pictures": []})"), "version 2 is not supported");
  write_file(folder_.path() / "pictures/street.png", "GIF89a");
  EXPECT_PRED2(has, refusal_of(with(R"({"file": "street.png", "title": "x"})")), "'street.png' is no PNG");
}

TEST_F(Pictures, AreNotWrittenWhereTheyWouldNotBeRead) {
  EXPECT_THROW(write({{"street.jpg", "Street", "", kPng}}), Error);
  EXPECT_THROW(write({{"a/street.png", "Street", "", kPng}}), Error);
  EXPECT_THROW(write(std::vector<Picture>(kMostPictures + 1, {"street.png", "Street", "", kPng})), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "pictures"));
}

}  // namespace
}  // namespace tbd
