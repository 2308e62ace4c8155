#include "host/detection/evaluation_calls.h"

#include <algorithm>

#include "base/error.h"
#include "host/detection/operands.h"

namespace tbd::detection {
namespace {

// Leading operands of both calls.
class Proposals {
 public:
  explicit Proposals(std::span<const HostTensor> in) : boxes_(checked(in)), counts_(in[1].as<int32_t>()) {
    each_ = in[0].shape()[1];
    for (int64_t n = 0; n < images(); ++n)
      require(counts_[n] >= 0 && counts_[n] <= each_, "image ", n, ": a count of ", counts_[n], " of ", each_,
              " proposals");
  }

  int64_t images() const { return std::ssize(counts_); }
  int64_t each() const { return each_; }  // rows an image
  int64_t count(int64_t image) const { return counts_[image]; }
  Box box(int64_t image, int64_t i) const { return boxes_.box(image * each_ + i); }

 private:
  static const HostTensor& checked(std::span<const HostTensor> in) {
    require(in.size() >= 2 && in[0].shape().rank() == 3, "expected proposals (N, P, 4) and count (N)");
    require_float(in[0], {in[0].shape()[0], in[0].shape()[1], 4}, "proposals");
    require_i32(in[1], {in[0].shape()[0]}, "count");
    return in[0];
  }

  Reals boxes_;
  std::span<const int32_t> counts_;
  int64_t each_ = 0;
};

// Rows (image, corners) with their levels.
class RoiRows {
 public:
  RoiRows(const RoiSettings& settings, HostTensor& rois, HostTensor& level)
      : settings_(settings),
        rois_(rois),
        values_(static_cast<size_t>(rois.shape().elements())),
        levels_(level.as<int32_t>()) {
    std::ranges::fill(levels_, 0);
  }
  void set(int64_t row, int64_t image, const Box& box) {
    const double values[] = {static_cast<double>(image), box.x1, box.y1, box.x2, box.y2};
    std::ranges::copy(values, values_.begin() + 5 * row);
    levels_[row] = static_cast<int32_t>(roi_level(box, settings_));
  }
  void store_rows() { store(values_, rois_); }

 private:
  const RoiSettings& settings_;
  HostTensor& rois_;
  std::vector<double> values_;
  std::span<int32_t> levels_;
};

struct HeadOutputs {
  Reals logits, deltas;
  int64_t classes;

  std::vector<Detection> of_image(const BoxHeadSettings& head, const Proposals& proposals, int64_t n,
                                  const Extent& size) const {
    std::vector<Box> rois;
    std::vector<double> own_logits, own_deltas;
    for (int64_t i = 0; i < proposals.count(n); ++i) {
      rois.push_back(proposals.box(n, i));
      const int64_t row = n * proposals.each() + i;
      for (int64_t k = 0; k < classes; ++k) own_logits.push_back(logits[row * classes + k]);
      for (int64_t k = 0; k < 4 * classes; ++k) own_deltas.push_back(deltas[row * 4 * classes + k]);
    }
    return box_head_detections(head, size, rois, own_logits, own_deltas);
  }
};

}  // namespace

void proposal_rois(const RoiSettings& settings, std::span<const HostTensor> in, std::span<HostTensor> out) try {
  require(in.size() == 2 && out.size() == 2, "expected 2 operands and 2 results, got ", in.size(), " and ", out.size());
  const Proposals proposals(in);
  const int64_t rows = proposals.images() * proposals.each();
  require_float(out[0], {rows, 5}, "rois");
  require_i32(out[1], {rows}, "level");
  RoiRows rois(settings, out[0], out[1]);
  for (int64_t n = 0; n < proposals.images(); ++n)
    for (int64_t i = 0; i < proposals.count(n); ++i) rois.set(n * proposals.each() + i, n, proposals.box(n, i));
  rois.store_rows();
} catch (const Error& e) {
  throw e.within("proposal_rois");
}

void select_detections(const BoxHeadSettings& head, const RoiSettings& settings, std::span<const HostTensor> in,
                       std::span<HostTensor> out) try {
  require(in.size() == 5 && out.size() == 5, "expected 5 operands and 5 results, got ", in.size(), " and ", out.size());
  const Proposals proposals(in);
  const int64_t images = proposals.images(), rows = images * proposals.each();
  require(in[2].shape().rank() == 2, "expected class_logits (N P, K), got ", in[2].shape());
  const int64_t classes = in[2].shape()[1];
  require_float(in[2], {rows, classes}, "class_logits");
  require_float(in[3], {rows, 4 * classes}, "box_deltas");
  require_i32(in[4], {images, 2}, "image_size");
  const int64_t found_rows = images * head.most;
  require_float(out[0], {found_rows, 5}, "rois");
  require_i32(out[1], {found_rows}, "level");
  require_i32(out[2], {found_rows, 1}, "label");
  require_float(out[3], {found_rows}, "score");
  require_i32(out[4], {images}, "count");

  const std::vector<Extent> sizes = image_sizes(in[4]);
  const HeadOutputs outputs = {Reals(in[2]), Reals(in[3]), classes};
  RoiRows rois(settings, out[0], out[1]);
  std::vector<double> scores(static_cast<size_t>(found_rows));
  const std::span<int32_t> labels = out[2].as<int32_t>(), counts = out[4].as<int32_t>();
  std::ranges::fill(labels, 0);
  for (int64_t n = 0; n < images; ++n) try {
      const std::vector<Detection> found = outputs.of_image(head, proposals, n, sizes[n]);
      counts[n] = static_cast<int32_t>(found.size());
      for (int64_t i = 0; i < counts[n]; ++i) {
        const int64_t row = n * head.most + i;
        rois.set(row, n, found[i].box);
        scores[row] = found[i].score;
        labels[row] = found[i].label;
      }
    } catch (const Error& e) {
      throw e.within(cat("image ", n));
    }
  rois.store_rows();
  store(scores, out[3]);
} catch (const Error& e) {
  throw e.within("select_detections");
}

}  // namespace tbd::detection
