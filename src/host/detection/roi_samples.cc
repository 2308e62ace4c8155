// Each image is sampled alone; then rows are written over the batch, positives of all images before negatives of all.
#include "host/detection/roi_samples.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "host/detection/mask_targets.h"
#include "host/detection/operands.h"
#include "host/detection/sampler.h"
#include "host/run_lengths.h"

namespace tbd::detection {
namespace {

// Places of operands and results, and how many there are.
constexpr size_t kProposals = 0, kCount = 1, kBoxes = 2, kLabels = 3, kKeys = 4, kSizes = 5, kRuns = 6, kStarts = 7,
                 kOperands = 8;
constexpr size_t kRois = 0, kLevel = 1, kLabel = 2, kWeight = 3, kBoxTarget = 4, kBoxWeight = 5, kMaskRois = 6,
                 kMaskLevel = 7, kMaskLabel = 8, kMaskTarget = 9, kMaskWeight = 10, kRows = 11, kResults = 12;

// The extents of one call.
struct Extents {
  int64_t images, proposals, boxes;
  int64_t rows, positives;  // of an image
  int64_t side;             // of the masks; 0 without

  bool has_masks() const { return side > 0; }
};

struct Sampled {
  int64_t image;
  Box box;
  int32_t label = 0;
  int64_t match = 0;  // ground truth, of positives
};

// One image's part of the operands.
struct ImageView {
  int64_t number;
  std::vector<Box> proposals, boxes;
  std::span<const int32_t> labels, keys;
  Extent size;
};

struct Samples {
  std::vector<Sampled> positives, negatives;
};

Sampled label_candidate(const Box& box, const ImageView& image, double least) {
  Sampled out = {.image = image.number, .box = box};
  double best = 0;
  for (int64_t g = 0; g < std::ssize(image.boxes); ++g) {
    const double shared = overlap(image.boxes[g], box);
    if (shared <= best) continue;
    best = shared;
    out.match = g;
  }
  if (best >= least && best > 0) out.label = image.labels[out.match];
  return out;
}

Samples sample_image(const ImageView& image, const Extents& extents, double least) {
  std::vector<Sampled> candidates;
  std::vector<int32_t> keys, positive, negative;
  const auto add = [&](const Box& box, int64_t key) {
    candidates.push_back(label_candidate(box, image, least));
    keys.push_back(image.keys[key]);
    const auto index = static_cast<int32_t>(candidates.size()) - 1;
    (candidates.back().label > 0 ? positive : negative).push_back(index);
  };
  for (int64_t i = 0; i < std::ssize(image.proposals); ++i) add(image.proposals[i], i);
  for (int64_t g = 0; g < std::ssize(image.boxes); ++g) add(image.boxes[g], extents.proposals + g);

  Samples out;
  for (const int32_t i : sample(positive, keys, extents.positives)) out.positives.push_back(candidates[i]);
  const int64_t rest = extents.rows - std::ssize(out.positives);
  for (const int32_t i : sample(negative, keys, rest)) out.negatives.push_back(candidates[i]);
  return out;
}

void require_finite_proposal(const Box& box, int64_t proposal) {
  require(std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) && std::isfinite(box.y2), "proposal ",
          proposal, ": a coordinate is not finite");
}

// The rows of ground truth with a label; they come first.
int64_t count_objects(std::span<const int32_t> labels, int64_t slots) {
  int64_t count = 0;
  for (int64_t g = 0; g < std::ssize(labels); ++g) {
    require(labels[g] >= 0 && labels[g] < slots, "box ", g, ": label ", labels[g], " of ", slots);
    require(labels[g] == 0 || count == g, "box ", g, ": a label behind an unused row");
    if (labels[g] > 0) ++count;
  }
  return count;
}

class Reader {
 public:
  Reader(const RoiSettings& settings, const Extents& extents, std::span<const HostTensor> in)
      : settings_(settings),
        extents_(extents),
        in_(in),
        proposals_(in[kProposals]),
        boxes_(in[kBoxes]),
        sizes_(image_sizes(in[kSizes])) {}

  ImageView image(int64_t n) const {
    ImageView view = {.number = n,
                      .labels = part(kLabels, n, extents_.boxes),
                      .keys = part(kKeys, n, extents_.proposals + extents_.boxes),
                      .size = sizes_[n]};
    const int32_t count = in_[kCount].as<int32_t>()[n];
    require(count >= 0 && count <= extents_.proposals, "a count of ", count, " of ", extents_.proposals, " proposals");
    for (int64_t i = 0; i < count; ++i) {
      view.proposals.push_back(proposals_.box(n * extents_.proposals + i));
      require_finite_proposal(view.proposals.back(), i);
    }
    const int64_t objects = count_objects(view.labels, settings_.slots);
    for (int64_t g = 0; g < objects; ++g) view.boxes.push_back(boxes_.box(n * extents_.boxes + g));
    require_area(view.boxes);
    if (extents_.has_masks())
      for (int64_t g = 0; g < objects; ++g) check_mask(n, g);
    return view;
  }

  std::span<const int32_t> runs(int64_t n, int64_t object) const {
    const std::span<const int32_t> starts = part(kStarts, n, extents_.boxes + 1);
    const int64_t all = in_[kRuns].shape()[1];
    const int64_t begin = starts[object], end = starts[object + 1];
    require(begin >= 0 && begin <= end && end <= all, "box ", object, ": runs ", begin, " to ", end, " of ", all);
    return part(kRuns, n, all).subspan(begin, end - begin);
  }
  int64_t images() const { return std::ssize(sizes_); }
  const Extent& size(int64_t n) const { return sizes_[n]; }
  Box box(int64_t n, int64_t object) const { return boxes_.box(n * extents_.boxes + object); }

 private:
  std::span<const int32_t> part(size_t operand, int64_t n, int64_t length) const {
    return in_[operand].as<int32_t>().subspan(n * length, length);
  }
  void check_mask(int64_t n, int64_t object) const {
    const std::span<const int32_t> own = runs(n, object);
    try {
      require_valid(own, sizes_[n].height, sizes_[n].width);
    } catch (const Error& e) {
      throw e.within(cat("box ", object));
    }
  }

  const RoiSettings& settings_;
  const Extents& extents_;
  std::span<const HostTensor> in_;
  Reals proposals_, boxes_;
  std::vector<Extent> sizes_;
};

// (R N, 5) or (B N, 5): image and corners, zeros behind.
void store_rois(std::span<const Sampled> samples, HostTensor& out) {
  std::vector<double> rows(static_cast<size_t>(out.shape().elements()));
  auto at = rows.begin();
  for (const Sampled& roi : samples)
    for (const double value : {static_cast<double>(roi.image), roi.box.x1, roi.box.y1, roi.box.x2, roi.box.y2})
      *at++ = value;
  store(rows, out);
}

void store_levels(std::span<const Sampled> samples, const RoiSettings& settings, HostTensor& out) {
  const std::span<int32_t> levels = out.as<int32_t>();
  std::fill(levels.begin(), levels.end(), 0);
  for (size_t i = 0; i < samples.size(); ++i) levels[i] = static_cast<int32_t>(roi_level(samples[i].box, settings));
}

void store_labels(std::span<const Sampled> samples, HostTensor& out) {
  const std::span<int32_t> labels = out.as<int32_t>();
  std::fill(labels.begin(), labels.end(), 0);
  for (size_t i = 0; i < samples.size(); ++i) labels[i] = samples[i].label;
}

// `weight` on the first `rows`, 0 behind.
void store_weights(int64_t rows, double weight, HostTensor& out) {
  std::vector<double> weights(static_cast<size_t>(out.shape().elements()));
  std::fill_n(weights.begin(), rows, weight);
  store(weights, out);
}

void store_box_targets(std::span<const Sampled> positives, const Reader& reader, HostTensor& out) {
  std::vector<double> targets(static_cast<size_t>(out.shape().elements()));
  auto at = targets.begin();
  for (const Sampled& roi : positives)
    for (const double value : encode(reader.box(roi.image, roi.match), roi.box, kDetectionWeights)) *at++ = value;
  store(targets, out);
}

void store_mask_targets(std::span<const Sampled> positives, const Reader& reader, HostTensor& out) {
  const int64_t side = out.shape().back();
  std::vector<double> targets(static_cast<size_t>(out.shape().elements()));
  auto at = targets.begin();
  for (const Sampled& roi : positives) {
    const std::vector<double> target =
        mask_target(reader.runs(roi.image, roi.match), reader.size(roi.image), roi.box, side);
    at = std::copy(target.begin(), target.end(), at);
  }
  store(targets, out);
}

Extents extents_of(const RoiSettings& settings, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const bool has_masks = in.size() == kOperands && out.size() == kResults;
  require(has_masks || (in.size() == kRuns && out.size() == kMaskRois),
          "expected 8 operands and 12 results, or 6 and 6 ", "without masks, got ", in.size(), " and ", out.size());
  require(in[kProposals].shape().rank() == 3 && in[kBoxes].shape().rank() == 3 && out[kRois].shape().rank() == 2,
          "expected proposals (N, P, 4), gt_box (N, G, 4) and rois (R N, 5), got ", in[kProposals].shape(), ", ",
          in[kBoxes].shape(), " and ", out[kRois].shape());
  Extents extents = {.images = in[kProposals].shape()[0],
                     .proposals = in[kProposals].shape()[1],
                     .boxes = in[kBoxes].shape()[1],
                     .side = has_masks ? out[kMaskTarget].shape().back() : 0};
  require(extents.images >= 1 && out[kRois].shape()[0] % extents.images == 0, "rois ", out[kRois].shape(), " of ",
          extents.images, " images");
  extents.rows = out[kRois].shape()[0] / extents.images;
  extents.positives = static_cast<int64_t>(settings.positive_share * static_cast<double>(extents.rows));
  return extents;
}

void require_operands(const Extents& extents, std::span<const HostTensor> in) {
  const int64_t n = extents.images, p = extents.proposals, g = extents.boxes;
  require_float(in[kProposals], {n, p, 4}, "proposals");
  require_i32(in[kCount], {n}, "count");
  require_float(in[kBoxes], {n, g, 4}, "gt_box");
  require_i32(in[kLabels], {n, g}, "gt_label");
  require_i32(in[kKeys], {n, p + g}, "roi_key");
  require_i32(in[kSizes], {n, 2}, "image_size");
  if (!extents.has_masks()) return;
  require(in[kRuns].shape().rank() == 2, "expected mask_runs (N, M), got ", in[kRuns].shape());
  require_i32(in[kRuns], {n, in[kRuns].shape()[1]}, "mask_runs");
  require_i32(in[kStarts], {n, g + 1}, "mask_start");
}

void require_results(const Extents& extents, std::span<const HostTensor> out) {
  const int64_t rows = extents.images * extents.rows, masks = extents.images * extents.positives, side = extents.side;
  require_float(out[kRois], {rows, 5}, "rois");
  require_i32(out[kLevel], {rows}, "level");
  require_i32(out[kLabel], {rows}, "label");
  require_float(out[kWeight], {rows}, "weight");
  require_float(out[kBoxTarget], {rows, 1, 4}, "box_target");
  require_float(out[kBoxWeight], {rows}, "box_weight");
  if (!extents.has_masks()) return;
  require_float(out[kMaskRois], {masks, 5}, "mask_rois");
  require_i32(out[kMaskLevel], {masks}, "mask_level");
  require_i32(out[kMaskLabel], {masks, 1}, "mask_label");
  require_float(out[kMaskTarget], {masks, 1, side, side}, "mask_target");
  require_float(out[kMaskWeight], {masks}, "mask_weight");
  require_i32(out[kRows], {}, "rows");
}

Samples sample_batch(const Reader& reader, const Extents& extents, double least) {
  Samples all;
  for (int64_t n = 0; n < extents.images; ++n) try {
      const Samples own = sample_image(reader.image(n), extents, least);
      all.positives.insert(all.positives.end(), own.positives.begin(), own.positives.end());
      all.negatives.insert(all.negatives.end(), own.negatives.begin(), own.negatives.end());
    } catch (const Error& e) {
      throw e.within(cat("image ", n));
    }
  return all;
}

void store_masks(const Samples& samples, const Reader& reader, const RoiSettings& settings, std::span<HostTensor> out) {
  const int64_t positives = std::ssize(samples.positives);
  const HostTensor& target = out[kMaskTarget];
  const double images = static_cast<double>(reader.images());
  const auto pixels = static_cast<double>(target.shape().back() * target.shape().back());
  store_rois(samples.positives, out[kMaskRois]);
  store_levels(samples.positives, settings, out[kMaskLevel]);
  store_labels(samples.positives, out[kMaskLabel]);
  store_mask_targets(samples.positives, reader, out[kMaskTarget]);
  store_weights(positives, images / (pixels * static_cast<double>(positives)), out[kMaskWeight]);
  out[kRows].as<int32_t>()[0] = static_cast<int32_t>(std::max<int64_t>(1, positives));
}

}  // namespace

int64_t roi_level(const Box& roi, const RoiSettings& settings) {
  const double level = std::floor(4 + std::log2(std::sqrt(area(roi)) / settings.canonical) + 1e-6);
  const auto lowest = static_cast<double>(settings.lowest);
  return static_cast<int64_t>(std::clamp(level, lowest, static_cast<double>(settings.highest)) - lowest);
}

void sample_rois(const RoiSettings& settings, std::span<const HostTensor> in, std::span<HostTensor> out) try {
  const Extents extents = extents_of(settings, in, out);
  require_operands(extents, in);
  require_results(extents, out);
  const Reader reader(settings, extents, in);
  const Samples samples = sample_batch(reader, extents, settings.overlap);
  std::vector<Sampled> rows = samples.positives;
  rows.insert(rows.end(), samples.negatives.begin(), samples.negatives.end());

  const double weight = static_cast<double>(extents.images) / static_cast<double>(rows.size());
  store_rois(rows, out[kRois]);
  store_levels(rows, settings, out[kLevel]);
  store_labels(rows, out[kLabel]);
  store_weights(std::ssize(rows), weight, out[kWeight]);
  store_box_targets(samples.positives, reader, out[kBoxTarget]);
  store_weights(std::ssize(samples.positives), weight, out[kBoxWeight]);
  if (extents.has_masks()) store_masks(samples, reader, settings, out);
} catch (const Error& e) {
  throw e.within("sample_rois");
}

}  // namespace tbd::detection
