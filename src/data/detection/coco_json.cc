// simdjson reads each object once, key by key in the order of the file: what is said of a value waits until the
// object's id is known.
#include "data/detection/coco_json.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "data/jpeg_decoder.h"

namespace tbd {
namespace {

namespace od = simdjson::ondemand;

template <class T>
T checked_json(simdjson::simdjson_result<T> result) {
  T value;
  if (const simdjson::error_code error = std::move(result).get(value))
    fail(ErrorKind::invalid, simdjson::error_message(error));
  return value;
}

int64_t whole(od::value& value) { return checked_json(value.get_int64()); }

double number(od::value& value) {
  const double x = checked_json(value.get_double());
  require(std::isfinite(x), "a number is not finite");
  return x;
}

std::string words(od::value& value) { return std::string(checked_json(value.get_string())); }

// Calls `each` with every element of the list.
template <class Each>
void elements(od::value& value, const Each& each) {
  for (auto element : checked_json(value.get_array())) {
    od::value one = checked_json(std::move(element));
    each(one);
  }
}

// Calls `each` with every key and value of the object.
template <class Each>
void members(od::object object, const Each& each) {
  for (auto member : object) {
    od::field field = checked_json(std::move(member));
    const std::string key(checked_json(field.unescaped_key()));
    try {
      each(key, field.value());
    } catch (const Error& e) {
      throw e.within(cat("'", key, "'"));
    }
  }
}

// What of an entry's keys came.
class Needed {
 public:
  explicit Needed(std::vector<std::string> keys) : missing_(std::move(keys)) {}
  void came(const std::string& key) { std::erase(missing_, key); }
  void check() const {
    if (!missing_.empty()) fail(ErrorKind::invalid, "'", missing_.front(), "' is missing");
  }

 private:
  std::vector<std::string> missing_;
};

std::array<double, 4> box_of(od::value& value) {
  std::array<double, 4> box{};
  size_t count = 0;
  elements(value, [&](od::value& side) {
    require(count < 4, "a box has four numbers");
    box[count++] = number(side);
  });
  require(count == 4, "a box has four numbers, got ", count);
  require(box[2] >= 0 && box[3] >= 0, "a side of the box is negative");
  return box;
}

int32_t run_of(od::value& value) {
  const int64_t run = whole(value);
  require(run >= 0 && run <= INT32_MAX, "a run of length ", run);
  return static_cast<int32_t>(run);
}

ImageSize extents_of_mask(od::value& value) {
  std::vector<int64_t> extents;
  elements(value, [&](od::value& extent) { extents.push_back(whole(extent)); });
  require(extents.size() == 2, "a size has two numbers, got ", extents.size());
  return {.width = extents[1], .height = extents[0]};
}

CocoSegmentation::Polygons polygons_of(od::value& value) {
  CocoSegmentation::Polygons polygons;
  elements(value, [&](od::value& one) {
    std::vector<double>& points = polygons.emplace_back();
    elements(one, [&](od::value& x) { points.push_back(number(x)); });
  });
  return polygons;
}

od::json_type type_of(od::value& value) { return checked_json(value.type()); }

CocoSegmentation::Counts counts_of(od::value& value) {
  CocoSegmentation::Counts counts;
  elements(value, [&](od::value& run) { counts.push_back(run_of(run)); });
  return counts;
}

CocoSegmentation segmentation_of(od::value& value) {
  if (type_of(value) == od::json_type::array) return {.form = polygons_of(value), .size = {}};
  CocoSegmentation out;
  Needed needed({"counts"});
  members(checked_json(value.get_object()), [&](const std::string& key, od::value each) {
    needed.came(key);
    if (key == "size") out.size = extents_of_mask(each);
    if (key != "counts") return;
    if (type_of(each) == od::json_type::string)
      out.form = words(each);
    else
      out.form = counts_of(each);
  });
  needed.check();
  return out;
}

bool is_below(const std::string& name) {
  const std::filesystem::path path(name);
  return !name.empty() && path.is_relative() && std::ranges::find(path, std::filesystem::path("..")) == path.end();
}

void take_member(CocoEntry& entry, const std::string& key, od::value value) {
  if (key == "id") entry.id = whole(value);
  if (key == "image_id") entry.image_id = whole(value);
  if (key == "category_id") entry.category_id = whole(value);
  if (key == "bbox") entry.box = box_of(value);
  if (key == "area") entry.area = number(value);
  if (key == "iscrowd")
    entry.crowd = type_of(value) == od::json_type::boolean ? checked_json(value.get_bool()) : whole(value) != 0;
  if (key == "segmentation") entry.segmentation = segmentation_of(value);
}

// The id of an entry of which another value is at fault, wherever it is in the object.
std::optional<int64_t> id_in(od::parser& parser, char* text, size_t size) {
  od::document document;
  od::object object;
  od::value value;
  int64_t id = 0;
  if (parser.iterate(text, size, size + CocoJson::kJsonPadding).get(document) || document.get_object().get(object) ||
      object.find_field_unordered("id").get(value) || value.get_int64().get(id))
    return std::nullopt;
  return id;
}

std::vector<double> corners(const std::vector<double>& points) {
  if (points.size() != 4) return points;
  const double left = points[0], top = points[1], right = left + points[2], bottom = top + points[3];
  return {left, top, left, bottom, right, bottom, right, top};
}

}  // namespace

struct CocoJson::Parser {
  od::parser parser;
  od::document document;

  od::object object(char* text, size_t size) {
    document = checked_json(parser.iterate(text, size, size + kJsonPadding));
    return checked_json(document.get_object());
  }
};

CocoJson::CocoJson() : parser_(std::make_unique<Parser>()) {}
CocoJson::~CocoJson() = default;

CocoImage CocoJson::image(char* text, size_t size) {
  CocoImage image;
  Needed needed({"id", "width", "height", "file_name"});
  members(parser_->object(text, size), [&](const std::string& key, od::value value) {
    needed.came(key);
    if (key == "id") image.id = whole(value);
    if (key == "width") image.size.width = whole(value);
    if (key == "height") image.size.height = whole(value);
    if (key == "file_name") image.file_name = words(value);
  });
  needed.check();
  constexpr int64_t kMost = JpegDecoder::kMaxPixels;
  const auto [width, height] = image.size;
  require(width >= 1 && height >= 1 && width <= kMost && height <= kMost && width * height <= kMost, "image ", image.id,
          ": its size is ", width, " x ", height);
  require(is_below(image.file_name), "image ", image.id, ": '", image.file_name, "' names no file below the folder");
  return image;
}

CocoCategory CocoJson::category(char* text, size_t size) {
  CocoCategory category;
  Needed needed({"id"});
  members(parser_->object(text, size), [&](const std::string& key, od::value value) {
    needed.came(key);
    if (key == "id") category.id = whole(value);
    if (key == "name") category.name = words(value);
  });
  needed.check();
  return category;
}

CocoEntry CocoJson::annotation(char* text, size_t size) {
  CocoEntry entry;
  Needed needed({"id", "image_id", "category_id", "bbox", "area"});
  try {
    members(parser_->object(text, size), [&](const std::string& key, od::value value) {
      needed.came(key);
      take_member(entry, key, value);
    });
    needed.check();
  } catch (const Error& e) {
    const std::optional<int64_t> id = entry.id ? entry.id : id_in(parser_->parser, text, size);
    throw e.within(id ? cat("annotation ", *id) : std::string("an annotation"));
  }
  return entry;
}

void check_segmentation(const CocoSegmentation& segmentation, ImageSize image) {
  if (segmentation.size)
    require(*segmentation.size == image, "the mask is of ", segmentation.size->width, " x ", segmentation.size->height,
            " pixels, the image of ", image.width, " x ", image.height);
  if (const auto* polygons = std::get_if<CocoSegmentation::Polygons>(&segmentation.form))
    for (const std::vector<double>& points : *polygons) {
      require(points.size() % 2 == 0, "a polygon of ", points.size(), " numbers, an odd count");
      require(points.size() == 4 || points.size() >= 6, "a polygon of ", points.size(), " numbers");
    }
  else
    mask_of(segmentation, image);
}

RunLengths mask_of(const CocoSegmentation& segmentation, ImageSize image) {
  if (const auto* text = std::get_if<std::string>(&segmentation.form))
    return decompress(*text, image.height, image.width);
  if (const auto* counts = std::get_if<CocoSegmentation::Counts>(&segmentation.form)) {
    require_valid(*counts, image.height, image.width);
    return {image.height, image.width, *counts};
  }
  CocoSegmentation::Polygons polygons = std::get<CocoSegmentation::Polygons>(segmentation.form);
  for (std::vector<double>& points : polygons) points = corners(points);
  return polygons_mask(polygons, image.height, image.width);
}

}  // namespace tbd
