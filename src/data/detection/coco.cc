#include "data/detection/coco.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "base/error.h"
#include "data/augmentation.h"
#include "data/detection/coco_pictures.h"
#include "data/detection/encoder.h"
#include "data/detection/picture_plan.h"
#include "data/folder_listing.h"

namespace tbd {
namespace {

class CocoSamples final : public Samples {
 public:
  explicit CocoSamples(const SourceSpec& spec)
      : spec_(spec),
        encoder_(detection_encoder(spec)),
        pictures_(spec, encoder_->reads_masks()),
        orders_(spec.seed, spec.split == Split::train, count()) {
    require(spec.split == Split::val || spec.batch <= count(), "batch ", spec.batch,
            " is larger than the data set: ", pictures_.file().path().string(), " has ", count(),
            " images that can be used");
    require_usable();
  }

  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t step) const override {
    const int64_t done = (step - 1) % *steps_per_epoch() * spec_.batch;
    BatchLayout layout = encoder_->layout(std::min(spec_.batch, count() - done));
    if (spec_.split == Split::val) layout.tensors.push_back({std::string(kPosition), DType::i32, {}});
    return layout;
  }
  void add_counts(TensorMap& batch) const override { encoder_->finish(batch); }
  std::optional<int64_t> size() const override { return count(); }
  std::optional<int64_t> steps_per_epoch() const override {
    return spec_.split == Split::train ? count() / spec_.batch : (count() + spec_.batch - 1) / spec_.batch;
  }
  std::optional<std::string> data_hash() const override { return recorded_hash(spec_.path); }
  std::vector<BadFile> bad_files() const override;
  std::vector<std::string> notes() const override;

 private:
  class Maker;

  int64_t count() const { return static_cast<int64_t>(pictures_.size()); }
  void require_usable() const;
  void report(const std::string& path, const std::string& reason) const {
    const std::lock_guard lock(mutex_);
    bad_.try_emplace(path, reason);
  }
  void report_without_place(int64_t annotation) const {
    const std::lock_guard lock(mutex_);
    without_place_.insert(annotation);
  }

  SourceSpec spec_;
  std::unique_ptr<DetectionEncoder> encoder_;
  CocoPictures pictures_;
  EpochOrders orders_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::string> bad_;
  mutable std::set<int64_t> without_place_;  // ids of annotations
};

class CocoSamples::Maker final : public SampleMaker {
 public:
  explicit Maker(const CocoSamples& samples) : samples_(samples) {}

  void make(int64_t step, int64_t slot, const Row& row) override {
    const int64_t steps = *samples_.steps_per_epoch();
    const auto epoch = static_cast<uint32_t>((step - 1) / steps);
    const uint32_t position = samples_.orders_.position(epoch, (step - 1) % steps * samples_.spec_.batch + slot);
    for (int64_t k = 0; k < samples_.count(); ++k) {
      const auto used = static_cast<size_t>((position + k) % samples_.count());
      const PicturePlan plan = plan_of(used, epoch, position);
      if (!place_image(used, plan, row.floats("image"))) continue;
      samples_.encoder_->write(objects_of(used, plan), step, slot, row);
      if (samples_.spec_.split == Split::val) row.ints(std::string(kPosition))[0] = static_cast<int32_t>(used);
      return;
    }
    fail(ErrorKind::invalid, samples_.pictures_.file().path().string(), " has no usable image among ",
         samples_.count());
  }

  // False, and a report, when the file cannot be used.
  bool place_image(size_t position, const PicturePlan& plan, std::span<float> out) {
    const CocoImage& file = samples_.pictures_.image(position);
    try {
      const DetectionSpec& detection = samples_.spec_.detection;
      place_picture(read_coco_image(samples_.spec_, file), plan, {detection.width, detection.height}, out);
      return true;
    } catch (const Error& e) {
      samples_.report(file.file_name, e.what());
      return false;
    }
  }

  PicturePlan plan_of(size_t used, uint32_t epoch, uint32_t position) const {
    const SourceSpec& spec = samples_.spec_;
    const PictureDraws draws{spec.seed, epoch, position};
    return picture_plan(samples_.pictures_.image(used).size, spec.detection,
                        spec.split == Split::train ? std::optional(draws) : std::nullopt);
  }

 private:
  DetectionSample objects_of(size_t position, const PicturePlan& plan) {
    DetectionSample sample{.size = plan.shown};
    std::vector<int64_t> ids;
    for (const CocoAnnotation& annotation : samples_.pictures_.annotations(position)) {
      if (!is_object(annotation, samples_.pictures_.image(position))) continue;
      const auto box = placed_box(*clipped_box(annotation.box, plan.source), plan);
      if (!box) continue;
      sample.boxes.push_back(*box);
      sample.labels.push_back(annotation.category);
      ids.push_back(annotation.id);
      if (samples_.encoder_->reads_masks())
        sample.masks.push_back(placed_mask(samples_.pictures_.file().mask(annotation, json_), plan));
    }
    const std::vector<size_t> without_place = samples_.encoder_->without_place(sample);
    for (const size_t i : without_place) samples_.report_without_place(ids[i]);
    remove_objects(sample, without_place);
    return sample;
  }

  const CocoSamples& samples_;
  CocoJson json_;
};

std::unique_ptr<SampleMaker> CocoSamples::maker() const { return std::make_unique<Maker>(*this); }

void CocoSamples::require_usable() const {
  Maker maker(*this);
  std::vector<float> image(static_cast<size_t>(3 * spec_.detection.height * spec_.detection.width));
  for (size_t i = 0; i < pictures_.size(); ++i)
    if (maker.place_image(i, maker.plan_of(i, 0, static_cast<uint32_t>(i)), image)) return;
  const std::vector<BadFile> bad = bad_files();
  fail(ErrorKind::invalid, coco_images(spec_.path, spec_.split).string(), " has no usable image: none of ", count(),
       " files decodes, ", bad.front().path, " because: ", bad.front().reason);
}

std::vector<BadFile> CocoSamples::bad_files() const {
  const std::lock_guard lock(mutex_);
  std::vector<BadFile> files;
  for (const auto& [path, reason] : bad_) files.push_back({path, reason});
  return files;
}

std::vector<std::string> CocoSamples::notes() const {
  std::vector<std::string> notes = pictures_.notes();
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<int64_t>(without_place_.size());
  if (count == 1) notes.push_back("1 object left out: the network has no place for it");
  if (count > 1) notes.push_back(cat(grouped(count), " objects left out: the network has no place for them"));
  return notes;
}

}  // namespace

std::unique_ptr<Samples> coco_samples(const SourceSpec& spec) { return std::make_unique<CocoSamples>(spec); }

}  // namespace tbd
