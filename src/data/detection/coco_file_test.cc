#include "data/detection/coco_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "data/detection/testing_coco.h"

namespace tbd {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing_coco::coco_annotation;
using testing_coco::coco_image;
using testing_coco::coco_set;

class CocoFiles : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) const {
    write_file(root_.path() / "instances.json", text);
    return root_.path() / "instances.json";
  }
  CocoFile read(const Json& set) const { return CocoFile(write(set.dump()), 91); }
  // What is said of the file, without its name.
  std::string refusal(const std::string& text) const {
    const std::filesystem::path file = write(text);
    try {
      CocoFile(file, 91);
    } catch (const Error& e) {
      const std::string what = e.what();
      EXPECT_THAT(what, StartsWith(file.string() + ": "));
      EXPECT_EQ(what.find('\n'), std::string::npos);
      return what.substr(std::min(what.size(), file.string().size() + 2));
    }
    return "";
  }
  std::string refusal_of(const Json& set) const { return refusal(set.dump()); }
  // Of a set of one image of 12 x 10 pixels with one annotation, changed.
  std::string refusal_with(const char* key, const Json& value) const {
    Json annotation = coco_annotation(7, 3, 2, {1, 2, 5, 4});
    if (value.is_discarded())
      annotation.erase(key);
    else
      annotation[key] = value;
    return refusal_of(coco_set({coco_image(3, 12, 10)}, {annotation}));
  }

  TemporaryFolder root_;
};

TEST_F(CocoFiles, GivesImagesByIdAndAnnotationsByImage) {
  const CocoFile file = read(coco_set({coco_image(9, 12, 10), coco_image(3, 20, 30)},
                                      {coco_annotation(1, 9, 2, {1, 2, 5, 4}), coco_annotation(5, 3, 1, {0, 0, 8.5, 9}),
                                       coco_annotation(4, 9, 90, {2, 2, 3, 3})}));
  ASSERT_EQ(file.images().size(), 2);
  EXPECT_EQ(file.images()[0].id, 3);
  EXPECT_EQ(file.images()[0].size, (ImageSize{20, 30}));
  EXPECT_EQ(file.images()[1].file_name, "9.jpg");
  ASSERT_EQ(file.of_image(0).size(), 1);
  EXPECT_EQ(file.of_image(0)[0].id, 5);
  EXPECT_EQ(file.of_image(0)[0].box, (std::array<double, 4>{0, 0, 8.5, 9}));
  ASSERT_EQ(file.of_image(1).size(), 2);
  EXPECT_EQ(file.of_image(1)[0].id, 1);
  EXPECT_EQ(file.of_image(1)[1].category, 90);
  EXPECT_EQ(file.categories()[1].name, "two");
}

TEST_F(CocoFiles, ReadsAnnotationsThatComeBeforeTheirImages) {
  Json set = Json::object();
  set["annotations"] = {coco_annotation(1, 9, 2, {1, 2, 5, 4})};
  set["images"] = {coco_image(9, 12, 10)};
  const CocoFile file = read(set);
  ASSERT_EQ(file.annotations().size(), 1);
  EXPECT_EQ(file.annotations()[0].id, 1);
}

TEST_F(CocoFiles, ReadsAMaskAgainInEachOfItsForms) {
  const RunLengths mask = polygon_mask(std::vector<double>{1, 2, 1, 6, 6, 6, 6, 2}, 10, 12);
  Json set = coco_set({coco_image(3, 12, 10)}, Json::array());
  Json annotation = coco_annotation(7, 3, 2, {1, 2, 5, 4});
  set["annotations"].push_back(annotation);
  annotation["segmentation"] = {{1, 2, 5, 4}};
  set["annotations"].push_back(annotation);
  annotation["segmentation"] = {{"size", {10, 12}}, {"counts", mask.runs}};
  set["annotations"].push_back(annotation);
  annotation["segmentation"] = {{"size", {10, 12}}, {"counts", compress(mask)}};
  set["annotations"].push_back(annotation);
  const CocoFile file = read(set);
  CocoJson json;
  for (const CocoAnnotation& each : file.annotations()) EXPECT_EQ(file.mask(each, json), mask);
}

TEST_F(CocoFiles, AMaskOfAFileThatChangedIsRefused) {
  const CocoFile file = read(coco_set({coco_image(3, 12, 10)}, {coco_annotation(7, 3, 2, {1, 2, 5, 4})}));
  write(coco_set({coco_image(3, 12, 10)}, {coco_annotation(8, 3, 2, {1, 2, 5, 4})}).dump());
  CocoJson json;
  EXPECT_THROW(file.mask(file.annotations()[0], json), Error);
}

TEST_F(CocoFiles, NamesTheAnnotationThatIsWrong) {
  EXPECT_EQ(refusal_with("image_id", 4), "annotation 7 is of image 4, which is not listed");
  EXPECT_EQ(refusal_with("category_id", 91), "annotation 7 is of category 91, the network has slots for 1 to 90");
  EXPECT_EQ(refusal_with("category_id", 0), "annotation 7 is of category 0, the network has slots for 1 to 90");
  EXPECT_THAT(refusal_with("segmentation", {{1, 2, 1, 6, 6, 6, 6}}),
              HasSubstr("annotation 7: a polygon of 7 numbers, an odd count"));
  EXPECT_THAT(refusal_with("segmentation", {{1, 2}}), HasSubstr("annotation 7: a polygon of 2 numbers"));
  EXPECT_THAT(refusal_with("segmentation", {{"size", {10, 12}}, {"counts", {100, 19}}}), HasSubstr("annotation 7: "));
  EXPECT_THAT(refusal_with("segmentation", {{"size", {10, 12}}, {"counts", {100, -2, 22}}}),
              HasSubstr("a run of length -2"));
  EXPECT_THAT(refusal_with("segmentation", {{"size", {10, 12}}, {"counts", "~"}}), HasSubstr("annotation 7: "));
  EXPECT_THAT(refusal_with("segmentation", {{"size", {10, 13}}, {"counts", {130}}}),
              HasSubstr("annotation 7: the mask is of 13 x 10 pixels, the image of 12 x 10"));
  EXPECT_THAT(refusal_with("segmentation", {{"size", {10, 12}}}), HasSubstr("'segmentation': 'counts' is missing"));
  EXPECT_THAT(refusal_with("segmentation", "x"),
              HasSubstr("annotation 7: 'segmentation': The JSON element does not have the requested type"));
  EXPECT_THAT(refusal_with("bbox", {1, 2, 3}), HasSubstr("annotation 7: 'bbox': a box has four numbers, got 3"));
  EXPECT_THAT(refusal_with("bbox", {1, 2, -3, 4}), HasSubstr("a side of the box is negative"));
  EXPECT_THAT(refusal_with("bbox", Json(nlohmann::detail::value_t::discarded)),
              HasSubstr("annotation 7: 'bbox' is missing"));
  EXPECT_THAT(refusal_with("id", Json(nlohmann::detail::value_t::discarded)),
              HasSubstr("an annotation: 'id' is missing"));
  EXPECT_THAT(refusal_with("area", "large"),
              HasSubstr("annotation 7: 'area': The JSON element does not have the requested type"));
}

TEST_F(CocoFiles, NamesTheImageThatIsWrong) {
  Json image = coco_image(3, 12, 10);
  EXPECT_THAT(refusal_of(coco_set({image, image}, Json::array())), HasSubstr("image 3 comes twice"));
  image["width"] = 0;
  EXPECT_THAT(refusal_of(coco_set({image}, Json::array())), HasSubstr("image 3: its size is 0 x 10"));
  image["width"] = int64_t{1} << 40;
  EXPECT_THAT(refusal_of(coco_set({image}, Json::array())), HasSubstr("image 3: its size is"));
  for (const char* name : {"", "/etc/passwd", "../x.jpg", "a/../../x.jpg"}) {
    image = coco_image(3, 12, 10);
    image["file_name"] = name;
    EXPECT_THAT(refusal_of(coco_set({image}, Json::array())), HasSubstr("names no file below the folder"));
  }
}

TEST_F(CocoFiles, SaysWhatOfTheFileIsNoSet) {
  EXPECT_EQ(refusal(""), "byte 0: the file is empty");
  EXPECT_EQ(refusal("[]"), "byte 0: no JSON object begins");
  EXPECT_EQ(refusal("{}"), "it has no list 'images'");
  EXPECT_EQ(refusal(R"({"images": []})"), "it has no list 'annotations'");
  EXPECT_EQ(refusal(R"({"images": [], "images": []})"), "it has two lists 'images'");
  EXPECT_EQ(refusal(R"({"images": 3})"), "byte 11: 'images' is no list");
  EXPECT_EQ(refusal(R"({"images": [3]})"), "byte 12: an entry of 'images' is no object");
  EXPECT_EQ(refusal(R"({"images" []})"), "byte 10: no ':' follows 'images'");
  EXPECT_EQ(refusal(R"({"images": [], })"), "byte 15: no value follows ','");
  EXPECT_EQ(refusal(R"({"images": [], "annotations": []} x)"), "byte 34: text follows the end of the object");
  EXPECT_THAT(refusal(R"({"images": [{"id": 1 "width"}]})"), StartsWith("byte 12: "));
  const std::string longer(size_t{1} << 20, ' ');
  EXPECT_EQ(refusal(R"({"images": [{"id")" + longer + ": 1}]}"), "byte 12: an entry of 'images' is longer than 1 MiB");
  EXPECT_THROW(CocoFile(root_.path() / "absent.json", 91), Error);
}

TEST_F(CocoFiles, ACutIsToldWhereverItIs) {
  Json set = coco_set({coco_image(3, 12, 10)}, {coco_annotation(7, 3, 2, {1, 2, 5, 4})});
  set["annotations"].push_back(coco_annotation(8, 3, 2, {1, 2, 5, 4}));
  set["annotations"][1]["segmentation"] = {{"size", {10, 12}}, {"counts", {100, 20}}};
  const std::string text = set.dump();
  for (size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_THAT(refusal(text.substr(0, bytes)), StartsWith("byte ")) << bytes;
  EXPECT_EQ(refusal(text), "");
}

// Bytes of the process' memory at its highest.
int64_t highest_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return 1024 * std::stoll(line.substr(6));
  return 0;
}

TEST_F(CocoFiles, MemoryDoesNotGrowWithMasks) {
  std::ofstream out(root_.path() / "large.json");
  out << R"({"images": [)" << coco_image(3, 12, 10) << R"(], "annotations": [)";
  Json annotation = coco_annotation(0, 3, 2, {1, 2, 5, 4});
  annotation.erase("id");
  for (int i = 0; i < 10'000; ++i) annotation["segmentation"][0].push_back(i % 7);
  const std::string rest = annotation.dump().substr(1);
  const int64_t count = 3000;
  for (int64_t i = 0; i < count; ++i) out << (i ? "," : "") << R"({"id": )" << i << ", " << rest;
  out << "]}";
  out.close();
  const auto growth = [&] {
    const int64_t before = highest_memory();
    const CocoFile file(root_.path() / "large.json", 91);
    const bool all = static_cast<int64_t>(file.annotations().size()) == count;
    return all && highest_memory() - before < 16 << 20 ? 0 : 1;
  };
  ASSERT_GT(std::filesystem::file_size(root_.path() / "large.json"), 50u << 20);
  EXPECT_EXIT(std::_Exit(growth()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tbd
