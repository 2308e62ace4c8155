// Only the boxes that suppression will see are decoded; suppression works level by level on boxes that are in order.
#include "host/detection/proposals.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "host/detection/largest.h"
#include "host/detection/operands.h"
#include "host/detection/suppression.h"

namespace tbd::detection {
namespace {

struct Proposal {
  Box box;
  double logit;
};

// What one call reads.
struct Outputs {
  const ProposalSettings& settings;
  Reals objectness, deltas;
  int64_t anchors;
};

// A map of one image.
struct Part {
  const Level& level;
  int64_t number;     // of the level
  int64_t first_row;  // of its rows in the tensors, all images' together
  const Extent& image;
};

std::vector<double> logits(const Outputs& outputs, const Part& part) {
  std::vector<double> values(static_cast<size_t>(anchor_count(part.level, outputs.settings.pyramid)));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = outputs.objectness[part.first_row + static_cast<int64_t>(i)];
    require(!std::isnan(values[i]), "level ", part.number, ": the logit of anchor ", i, " of it is NaN");
  }
  return values;
}

// By falling logit, decoded and clipped, the smallest left out.
std::vector<Proposal> candidates(const Outputs& outputs, const Part& part) {
  const Level& level = part.level;
  const std::vector<Box> bases = base_anchors(level.sizes, outputs.settings.pyramid.ratios);
  const std::vector<double> values = logits(outputs, part);
  std::vector<Proposal> found;
  for (const int32_t i : largest(values, outputs.settings.before)) {
    const int64_t cell = i / std::ssize(bases);
    const Box anchor =
        shifted(bases[i % std::ssize(bases)], level, cell / level.extent.width, cell % level.extent.width);
    const Box delta = outputs.deltas.box(part.first_row + i);
    const Box box = clip(decode({delta.x1, delta.y1, delta.x2, delta.y2}, anchor, kProposalWeights), part.image);
    const bool large_enough = box.x2 - box.x1 >= outputs.settings.least && box.y2 - box.y1 >= outputs.settings.least;
    if (large_enough) found.push_back({box, values[i]});
  }
  return found;
}

std::vector<Proposal> of_level(const Outputs& outputs, const Part& part) {
  const std::vector<Proposal> found = candidates(outputs, part);
  std::vector<Box> boxes;
  boxes.reserve(found.size());
  for (const Proposal& proposal : found) boxes.push_back(proposal.box);
  std::vector<Proposal> kept;
  for (const int32_t i : suppress_sorted(boxes, outputs.settings.overlap)) kept.push_back(found[i]);
  return kept;
}

std::vector<Proposal> of_image(const Outputs& outputs, int64_t number, const Extent& image) {
  std::vector<Proposal> joined;
  int64_t row = number * outputs.anchors;
  for (int64_t l = 0; l < std::ssize(outputs.settings.pyramid.levels); ++l) {
    const Level& level = outputs.settings.pyramid.levels[l];
    const std::vector<Proposal> own =
        of_level(outputs, {.level = level, .number = l, .first_row = row, .image = image});
    joined.insert(joined.end(), own.begin(), own.end());
    row += anchor_count(level, outputs.settings.pyramid);
  }
  std::stable_sort(joined.begin(), joined.end(), [](const auto& a, const auto& b) { return a.logit > b.logit; });
  return joined;
}

void require_proposal_shapes(int64_t anchors, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  require(in.size() == 3 && out.size() == 2, "expected 3 operands and 2 results, got ", in.size(), " and ", out.size());
  require(in[0].shape().rank() == 2 && out[0].shape().rank() == 3,
          "expected objectness (N, A) and proposals (N, after, 4), got ", in[0].shape(), " and ", out[0].shape());
  const int64_t images = in[0].shape()[0];
  require_float(in[0], {images, anchors}, "objectness");
  require_float(in[1], {images, anchors, 4}, "deltas");
  require_i32(in[2], {images, 2}, "image_size");
  require_float(out[0], {images, out[0].shape()[1], 4}, "proposals");
  require_i32(out[1], {images}, "count");
}

}  // namespace

void select_proposals(const ProposalSettings& settings, std::span<const HostTensor> in, std::span<HostTensor> out) try {
  const int64_t anchors = anchor_count(settings.pyramid);
  require_proposal_shapes(anchors, in, out);
  const Outputs outputs = {settings, Reals(in[0]), Reals(in[1]), anchors};
  const std::vector<Extent> sizes = image_sizes(in[2]);
  const int64_t after = out[0].shape()[1];
  std::vector<double> rows(static_cast<size_t>(std::ssize(sizes) * after * 4));
  for (int64_t n = 0; n < std::ssize(sizes); ++n) try {
      const std::vector<Proposal> found = of_image(outputs, n, sizes[n]);
      const int64_t count = std::min(after, std::ssize(found));
      auto row = rows.begin() + n * after * 4;
      for (const Proposal& proposal : std::span(found).first(count)) {
        const Box& box = proposal.box;
        for (const double corner : {box.x1, box.y1, box.x2, box.y2}) *row++ = corner;
      }
      out[1].as<int32_t>()[n] = static_cast<int32_t>(count);
    } catch (const Error& e) {
      throw e.within(cat("image ", n));
    }
  store(rows, out[0]);
} catch (const Error& e) {
  throw e.within("select_proposals");
}

}  // namespace tbd::detection
