#include "data/image_folder.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/files.h"
#include "data/augmentation.h"
#include "data/folder_listing.h"
#include "data/jpeg_decoder.h"

namespace tbd {
namespace {

class ImageFolder final : public Samples {
 public:
  explicit ImageFolder(const SourceSpec& spec)
      : spec_(spec),
        listing_(list_image_folder(spec.path, spec.split)),
        orders_(spec.seed, spec.split == Split::train, count()) {
    const auto classes = static_cast<int64_t>(listing_.classes.size());
    require(classes <= spec.classes, listing_.root.string(), " has ", classes, " class folders, the network ",
            spec.classes, " classes");
    require(spec.split == Split::val || spec.batch <= count(), "batch ", spec.batch,
            " is larger than the data set: ", listing_.root.string(), " has ", count(), " images");
    require(count() <= int64_t{UINT32_MAX}, listing_.root.string(), " has more than 2^32 images");
    require_usable();
  }

  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t step) const override {
    const int64_t done = (step - 1) % *steps_per_epoch() * spec_.batch;
    return image_layout(spec_, std::min(spec_.batch, count() - done));
  }
  std::optional<int64_t> size() const override { return count(); }
  std::optional<int64_t> steps_per_epoch() const override {
    return spec_.split == Split::train ? count() / spec_.batch : (count() + spec_.batch - 1) / spec_.batch;
  }
  std::optional<std::string> data_hash() const override { return listing_.data_hash; }

  std::vector<BadFile> bad_files() const override {
    const std::lock_guard lock(mutex_);
    std::vector<BadFile> files;
    for (const auto& [path, reason] : bad_) files.push_back({path, reason});
    return files;
  }

  const SourceSpec& spec() const { return spec_; }
  int64_t count() const { return static_cast<int64_t>(listing_.files.size()); }
  const FolderListing& listing() const { return listing_; }

  uint32_t position(uint32_t epoch, int64_t place) const { return orders_.position(epoch, place); }
  void report(const std::string& path, const std::string& reason) const {
    const std::lock_guard lock(mutex_);
    bad_.try_emplace(path, reason);
  }

 private:
  void require_usable() const;

  SourceSpec spec_;
  FolderListing listing_;
  EpochOrders orders_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::string> bad_;
};

class ImageMaker final : public SampleMaker {
 public:
  explicit ImageMaker(const ImageFolder& folder) : folder_(folder) {}

  void make(int64_t step, int64_t slot, const Row& row) override {
    const int64_t steps = *folder_.steps_per_epoch();
    const auto epoch = static_cast<uint32_t>((step - 1) / steps);
    const uint32_t position = folder_.position(epoch, (step - 1) % steps * folder_.spec().batch + slot);
    for (int64_t k = 0; k < folder_.count(); ++k) {
      const ListedFile& file = folder_.listing().files[static_cast<size_t>((position + k) % folder_.count())];
      if (!decode(file, epoch, position, row.floats("image"))) continue;
      row.ints("label")[0] = file.label;
      return;
    }
    fail(ErrorKind::invalid, folder_.listing().root.string(), " has no usable image among ", folder_.count(), " files");
  }

  // False, and a report, when the file cannot be used.
  bool decode(const ListedFile& file, uint32_t epoch, uint32_t position, std::span<float> image) {
    try {
      const std::string bytes = read_file(folder_.listing().root / file.path);
      const ImageSize size = decoder_.open(std::as_bytes(std::span(bytes)));
      decoder_.read(plan(size, epoch, position), {}, image);
      return true;
    } catch (const Error& e) {
      folder_.report(file.path, e.what());
      return false;
    }
  }

 private:
  CropPlan plan(ImageSize size, uint32_t epoch, uint32_t position) const {
    const SourceSpec& spec = folder_.spec();
    return spec.split == Split::train ? training_crop(size, spec.image_size, spec.seed, epoch, position)
                                      : validation_crop(size, spec.image_size);
  }

  const ImageFolder& folder_;
  JpegDecoder decoder_;
};

std::unique_ptr<SampleMaker> ImageFolder::maker() const { return std::make_unique<ImageMaker>(*this); }

void ImageFolder::require_usable() const {
  ImageMaker maker(*this);
  std::vector<float> image(static_cast<size_t>(3 * spec_.image_size * spec_.image_size));
  for (size_t i = 0; i < listing_.files.size(); ++i)
    if (maker.decode(listing_.files[i], 0, static_cast<uint32_t>(i), image)) return;
  const std::vector<BadFile> bad = bad_files();
  fail(ErrorKind::invalid, listing_.root.string(), " has no usable image: none of ", count(), " files decodes, ",
       bad.front().path, " because: ", bad.front().reason);
}

}  // namespace

std::unique_ptr<Samples> image_folder_samples(const SourceSpec& spec) { return std::make_unique<ImageFolder>(spec); }

}  // namespace tbd
