// The file is seen through a window of 1 MiB; each entry of a list is parsed alone. Masks stay in the file: an
// annotation remembers where its text is.
#include "data/detection/coco_file.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/json_window.h"
#include "data/positioned_file.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

// Walks over the members of the file's object; what is not asked for is passed over.
class CocoStream {
 public:
  // The text of an entry, its bytes and its place in the file.
  using Entry = std::function<void(char*, size_t, int64_t)>;

  explicit CocoStream(const PositionedFile& file) : bytes_(file), window_(bytes_) {}

  // The reader of the list of that name; an empty one passes over it.
  void read(const std::function<Entry(const std::string&)>& reader_of) {
    const char first = window_.skip_blanks();
    if (first == '\0') malformed("the file is empty");
    if (first != '{') malformed("no JSON object begins");
    window_.advance(1);
    for (char next = window_.skip_blanks(); next != '}'; next = after_value('}')) member(next, reader_of);
    window_.advance(1);
    if (window_.skip_blanks() != '\0') malformed("text follows the end of the object");
  }

 private:
  [[noreturn]] void malformed(std::string_view what) {
    fail(ErrorKind::invalid, "byte ", window_.position(), ": ", what);
  }
  [[noreturn]] void cut_off(std::string_view what) { malformed(cat("the file ends within ", what)); }

  void member(char next, const std::function<Entry(const std::string&)>& reader_of) {
    if (next == '\0') cut_off("its object");
    if (next != '"') malformed("no key of the object begins");
    const size_t size = window_.value_size();
    if (size == 0) cut_off("a key");
    const std::string key(window_.begin() + 1, size - 2);
    window_.advance(size);
    const char colon = window_.skip_blanks();
    if (colon == '\0') cut_off(cat("'", key, "'"));
    if (colon != ':') malformed(cat("no ':' follows '", key, "'"));
    window_.advance(1);
    if (window_.skip_blanks() == '\0') cut_off(cat("'", key, "'"));
    if (const Entry reader = reader_of(key)) return list(key, reader);
    if (!window_.skip_value()) cut_off(cat("'", key, "'"));
  }

  void list(const std::string& key, const Entry& reader) {
    if (window_.skip_blanks() != '[') malformed(cat("'", key, "' is no list"));
    window_.advance(1);
    for (char next = window_.skip_blanks(); next != ']'; next = after_value(']')) {
      if (next == '\0') cut_off(cat("'", key, "'"));
      if (next != '{') malformed(cat("an entry of '", key, "' is no object"));
      const size_t size = window_.value_size();
      if (size == 0 && window_.full()) malformed(cat("an entry of '", key, "' is longer than 1 MiB"));
      if (size == 0) cut_off(cat("an entry of '", key, "'"));
      reader(window_.begin(), size, window_.position());
      window_.advance(size);
    }
    window_.advance(1);
  }

  // Passes over a comma. `closing` where the value was the last one.
  char after_value(char closing) {
    const char next = window_.skip_blanks();
    if (next == closing) return next;
    if (next == '\0') cut_off(closing == ']' ? "a list" : "its object");
    if (next != ',') malformed("no ',' follows a value");
    window_.advance(1);
    const char value = window_.skip_blanks();
    if (value == closing) malformed("no value follows ','");
    return value;
  }

  FileBytes bytes_;
  JsonWindow window_;
};

}  // namespace

class CocoFile::Impl {
 public:
  Impl(fs::path path, int64_t slots) : slots(slots), file(std::move(path)) {
    try {
      read(false);
      if (annotations_before_images_) read(true);
      require(seen_.contains("images"), "it has no list 'images'");
      require(seen_.contains("annotations"), "it has no list 'annotations'");
      order();
    } catch (const Error& e) {
      throw e.within(file.path().string());
    }
  }

  RunLengths mask(const CocoAnnotation& annotation, CocoJson& json) const {
    std::string text(annotation.bytes + CocoJson::kJsonPadding, ' ');
    size_t got = 0;
    while (got < annotation.bytes) {
      const size_t more =
          file.read_at(annotation.begin + static_cast<int64_t>(got), text.data() + got, annotation.bytes - got);
      if (more == 0) break;
      got += more;
    }
    try {
      const CocoEntry entry = json.annotation(text.data(), annotation.bytes);
      require(entry.id == annotation.id, "annotation ", annotation.id, " changed while it was in use");
      require(entry.segmentation.has_value(), "annotation ", annotation.id, " has no 'segmentation'");
      return mask_of(*entry.segmentation, images[annotation.image].size);
    } catch (const Error& e) {
      throw e.within(file.path().string());
    }
  }

  const int64_t slots;
  const PositionedFile file;
  std::vector<CocoImage> images;
  std::vector<CocoCategory> categories;
  std::vector<CocoAnnotation> annotations;
  std::vector<size_t> first;  // annotation of each image; one more than images

 private:
  void read(bool annotations_alone);
  void take_image(char* text, size_t size, int64_t position);
  void take_annotation(char* text, size_t size, int64_t position);
  void order();

  CocoJson json_;
  std::unordered_map<int64_t, uint32_t> place_of_;  // of an image's id
  std::set<std::string> seen_;
  bool annotations_before_images_ = false;
};

void CocoFile::Impl::read(bool annotations_alone) {
  const auto reader_of = [&](const std::string& key) -> CocoStream::Entry {
    const bool known = key == "images" || key == "annotations" || key == "categories";
    if (!known || (annotations_alone && key != "annotations")) return {};
    require(seen_.insert(key).second || annotations_alone, "it has two lists '", key, "'");
    if (key == "images") return [this](char* text, size_t size, int64_t at) { take_image(text, size, at); };
    if (key == "categories")
      return [this](char* text, size_t size, int64_t) { categories.push_back(json_.category(text, size)); };
    annotations_before_images_ = !seen_.contains("images");
    if (annotations_before_images_) return {};
    return [this](char* text, size_t size, int64_t at) { take_annotation(text, size, at); };
  };
  CocoStream(file).read(reader_of);
}

void CocoFile::Impl::take_image(char* text, size_t size, int64_t position) try {
  CocoImage image = json_.image(text, size);
  require(images.size() < UINT32_MAX, "it has more than 2^32 images");
  const bool fresh = place_of_.try_emplace(image.id, static_cast<uint32_t>(images.size())).second;
  require(fresh, "image ", image.id, " comes twice");
  images.push_back(std::move(image));
} catch (const Error& e) {
  throw e.within(cat("byte ", position));
}

void CocoFile::Impl::take_annotation(char* text, size_t size, int64_t position) {
  CocoEntry entry;
  try {
    entry = json_.annotation(text, size);
  } catch (const Error& e) {
    throw e.within(cat("byte ", position));
  }
  const int64_t id = *entry.id;
  const auto image = place_of_.find(entry.image_id);
  require(image != place_of_.end(), "annotation ", id, " is of image ", entry.image_id, ", which is not listed");
  require(entry.category_id >= 1 && entry.category_id < slots, "annotation ", id, " is of category ", entry.category_id,
          ", the network has slots for 1 to ", slots - 1);
  if (entry.segmentation) try {
      check_segmentation(*entry.segmentation, images[image->second].size);
    } catch (const Error& e) {
      throw e.within(cat("annotation ", id));
    }
  annotations.push_back({.id = id,
                         .image = image->second,
                         .category = static_cast<int32_t>(entry.category_id),
                         .crowd = entry.crowd,
                         .masked = entry.segmentation.has_value(),
                         .box = entry.box,
                         .area = entry.area,
                         .begin = position,
                         .bytes = static_cast<uint32_t>(size)});
}

// Images by id, annotations by image.
void CocoFile::Impl::order() {
  std::vector<uint32_t> by_id(images.size()), place(images.size());
  std::iota(by_id.begin(), by_id.end(), 0u);
  std::ranges::sort(by_id, {}, [&](uint32_t i) { return images[i].id; });
  std::vector<CocoImage> sorted;
  for (const uint32_t i : by_id) {
    place[i] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(std::move(images[i]));
  }
  images = std::move(sorted);
  place_of_.clear();
  for (CocoAnnotation& annotation : annotations) annotation.image = place[annotation.image];
  std::ranges::stable_sort(annotations, {}, &CocoAnnotation::image);
  first.assign(images.size() + 1, 0);
  for (const CocoAnnotation& annotation : annotations) ++first[annotation.image + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
}

CocoFile::CocoFile(fs::path file, int64_t slots) : impl_(std::make_unique<Impl>(std::move(file), slots)) {}
CocoFile::~CocoFile() = default;
CocoFile::CocoFile(CocoFile&&) noexcept = default;

const fs::path& CocoFile::path() const { return impl_->file.path(); }
const std::vector<CocoImage>& CocoFile::images() const { return impl_->images; }
const std::vector<CocoCategory>& CocoFile::categories() const { return impl_->categories; }
const std::vector<CocoAnnotation>& CocoFile::annotations() const { return impl_->annotations; }
std::span<const CocoAnnotation> CocoFile::of_image(size_t image) const {
  const auto begin = static_cast<std::ptrdiff_t>(impl_->first[image]);
  return {impl_->annotations.begin() + begin, impl_->first[image + 1] - impl_->first[image]};
}
RunLengths CocoFile::mask(const CocoAnnotation& annotation, CocoJson& json) const {
  return impl_->mask(annotation, json);
}

}  // namespace tbd
