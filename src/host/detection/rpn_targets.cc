// For each box only the cells whose anchors can overlap it are visited; all other anchors keep the overlap 0.
#include "host/detection/rpn_targets.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "host/detection/sampler.h"

namespace tbd::detection {
namespace {

// What the boxes so far are to each anchor.
struct Matches {
  std::vector<double> best;     // overlap with the anchor's match
  std::vector<int32_t> match;   // index of a box
  std::vector<char> is_forced;  // no anchor has more of some box

  explicit Matches(int64_t anchors) : best(anchors), match(anchors), is_forced(anchors) {}
};

// The anchors that have the most of one box.
struct Closest {
  double most = 0;
  std::vector<int64_t> anchors;
};

void look_at(int64_t anchor, double shared, int32_t box, Matches& matches, Closest& closest) {
  if (shared <= 0) return;
  if (shared > matches.best[anchor]) {
    matches.best[anchor] = shared;
    matches.match[anchor] = box;
  }
  if (shared > closest.most) closest = {.most = shared, .anchors = {}};
  if (shared == closest.most) closest.anchors.push_back(anchor);
}

// Cells along an axis whose anchors, from `low` to `high` at cell 0, may reach into [from, to].
struct Cells {
  int64_t first, last;
};
Cells reaching(double low, double high, double from, double to, int64_t stride, int64_t extent) {
  const auto cell = [&](double pixels) {
    return std::clamp(pixels / static_cast<double>(stride), -1.0, double(extent));
  };
  return {.first = std::max<int64_t>(0, static_cast<int64_t>(std::floor(cell(from - high)))),
          .last = std::min<int64_t>(extent - 1, static_cast<int64_t>(std::ceil(cell(to - low))))};
}

void match_box(const Pyramid& pyramid, const Box& box, int32_t number, Matches& matches) {
  Closest closest;
  int64_t offset = 0;
  for (const Level& level : pyramid.levels) {
    const std::vector<Box> bases = base_anchors(level.sizes, pyramid.ratios);
    for (size_t b = 0; b < bases.size(); ++b) {
      const auto [top, bottom] =
          reaching(bases[b].y1, bases[b].y2, box.y1, box.y2, level.stride.height, level.extent.height);
      const auto [left, right] =
          reaching(bases[b].x1, bases[b].x2, box.x1, box.x2, level.stride.width, level.extent.width);
      for (int64_t y = top; y <= bottom; ++y)
        for (int64_t x = left; x <= right; ++x) {
          const int64_t cell = y * level.extent.width + x;
          const int64_t anchor = offset + cell * std::ssize(bases) + static_cast<int64_t>(b);
          look_at(anchor, overlap(box, shifted(bases[b], level, y, x)), number, matches, closest);
        }
    }
    offset += anchor_count(level, pyramid);
  }
  // A box that overlaps no anchor has the same of all of them, as in the reference.
  if (closest.most == 0) std::fill(matches.is_forced.begin(), matches.is_forced.end(), true);
  for (const int64_t anchor : closest.anchors) matches.is_forced[anchor] = true;
}

}  // namespace

RpnTargets rpn_targets(const RpnSettings& settings, std::span<const Box> ground_truth, std::span<const int32_t> keys) {
  const int64_t count = anchor_count(settings.pyramid);
  require(std::ssize(keys) == count, "rpn_targets: ", keys.size(), " keys for ", count, " anchors");
  require_area(ground_truth);
  Matches matches(count);
  for (size_t g = 0; g < ground_truth.size(); ++g)
    match_box(settings.pyramid, ground_truth[g], static_cast<int32_t>(g), matches);

  std::vector<int32_t> positives, negatives;
  for (int32_t i = 0; i < count; ++i)
    if (matches.is_forced[i] || matches.best[i] >= settings.positive)
      positives.push_back(i);
    else if (matches.best[i] < settings.negative)
      negatives.push_back(i);

  RpnTargets out = {.index = sample(positives, keys, settings.most_positive)};
  out.positives = std::ssize(out.index);
  for (const int32_t i : out.index)
    out.box_target.push_back(encode(ground_truth[matches.match[i]], anchor_at(settings.pyramid, i), kProposalWeights));
  const std::vector<int32_t> rest = sample(negatives, keys, settings.sampled - out.positives);
  out.index.insert(out.index.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace tbd::detection
