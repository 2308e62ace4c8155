// Boxes are ordered by x1 once. An overlap above `most` bounds how far apart the x1 of two boxes can be, so a kept box
// looks only at a window of that order; the plain loop's arithmetic decides on each pair in it.
#include "host/detection/suppression.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "base/error.h"

namespace tbd::detection {
namespace {

// More than rounding can move a bound of the window, as a share of the numbers in it.
constexpr double kSlack = 1e-9;

struct Window {
  double first, last;  // of x1
};

// If overlap(box, other) > most, the shared width exceeds most x the width of either, so `other` is at most width /
// most wide, begins at most (1 - most) width to the right and (1 - most) / most width to the left.
Window window(const Box& box, double most) {
  const double width = box.x2 - box.x1;
  const double slack = kSlack * (std::abs(box.x1) + std::abs(box.x2));
  return {.first = box.x1 - (1 - most) / most * width * (1 + kSlack) - slack,
          .last = box.x1 + (1 - most) * width * (1 + kSlack) + slack};
}

// Of equal x1 in any order: it decides nothing.
struct ByX {
  std::vector<double> x1;
  std::vector<int32_t> rank;

  explicit ByX(std::span<const Box> boxes) : x1(boxes.size()), rank(boxes.size()) {
    std::iota(rank.begin(), rank.end(), 0);
    std::sort(rank.begin(), rank.end(), [&](int32_t a, int32_t b) { return boxes[a].x1 < boxes[b].x1; });
    std::transform(rank.begin(), rank.end(), x1.begin(), [&](int32_t i) { return boxes[i].x1; });
  }
};

void require_finite(std::span<const Box> boxes) {
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i];
    require(std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) && std::isfinite(box.y2),
            "suppression: box ", i, " has a coordinate that is not finite");
  }
}

// Indices by falling score, of equal scores the lower first.
std::vector<int32_t> falling(std::span<const double> scores) {
  for (size_t i = 0; i < scores.size(); ++i)
    require(!std::isnan(scores[i]), "suppression: the score of box ", i, " is NaN");
  std::vector<int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
  return order;
}

// Which of `order`, boxes by falling score, are kept.
std::vector<int32_t> suppress_ordered(std::span<const Box> boxes, std::span<const int32_t> order, double most) {
  std::vector<Box> sorted;
  sorted.reserve(order.size());
  for (const int32_t i : order) sorted.push_back(boxes[i]);
  std::vector<int32_t> kept = suppress_sorted(sorted, most);
  for (int32_t& i : kept) i = order[i];
  return kept;
}

}  // namespace

std::vector<int32_t> suppress_sorted(std::span<const Box> boxes, double most) {
  require(most >= 0 && most <= 1, "suppression: an overlap is from 0 to 1, got ", most);
  require_finite(boxes);
  const ByX by_x(boxes);
  std::vector<char> dropped(boxes.size());
  std::vector<int32_t> kept;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (dropped[i]) continue;
    kept.push_back(static_cast<int32_t>(i));
    if (boxes[i].x2 <= boxes[i].x1) continue;
    const Window near = window(boxes[i], most);
    auto at = std::lower_bound(by_x.x1.begin(), by_x.x1.end(), near.first) - by_x.x1.begin();
    for (; at < std::ssize(by_x.x1) && by_x.x1[at] <= near.last; ++at) {
      const auto other = static_cast<size_t>(by_x.rank[at]);
      if (other > i && !dropped[other] && overlap(boxes[i], boxes[other]) > most) dropped[other] = true;
    }
  }
  return kept;
}

std::vector<int32_t> suppress(std::span<const Box> boxes, std::span<const double> scores, double most) {
  require(boxes.size() == scores.size(), "suppression: ", boxes.size(), " boxes, ", scores.size(), " scores");
  return suppress_ordered(boxes, falling(scores), most);
}

std::vector<int32_t> suppress_by_class(std::span<const Box> boxes, std::span<const double> scores,
                                       std::span<const int32_t> classes, double most) {
  require(boxes.size() == scores.size() && boxes.size() == classes.size(), "suppression: ", boxes.size(), " boxes, ",
          scores.size(), " scores, ", classes.size(), " classes");
  std::map<int32_t, std::vector<int32_t>> members;  // of each class, by falling score
  const std::vector<int32_t> order = falling(scores);
  for (const int32_t i : order) members[classes[i]].push_back(i);
  std::vector<char> survives(boxes.size());
  for (const auto& [_, own] : members)
    for (const int32_t i : suppress_ordered(boxes, own, most)) survives[i] = true;
  std::vector<int32_t> kept;
  std::copy_if(order.begin(), order.end(), std::back_inserter(kept), [&](int32_t i) { return survives[i]; });
  return kept;
}

}  // namespace tbd::detection
