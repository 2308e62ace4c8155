// Each side between a pixel of the mask and another one is an edge that has the mask at its right. Edges are joined to
// loops: around a part clockwise, around a hole against it. Where four edges meet, a loop turns right and so stays with
// its own pixel.
#include "data/sets/mask_outline.h"

#include <map>

namespace tbd {
namespace {

struct Corner {
  int64_t y = 0, x = 0;
  auto operator<=>(const Corner&) const = default;
};

// Directions in order of right turns: to the right, down, to the left, up.
constexpr Corner kSteps[] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
constexpr int kDirections = 4;

Corner next(const Corner& corner, int direction) {
  return {corner.y + kSteps[direction].y, corner.x + kSteps[direction].x};
}

// The directions of the edges that leave each corner, as bits.
using Edges = std::map<Corner, unsigned>;

Edges edges_of(const RunLengths& mask) {
  const std::vector<uint8_t> pixels = bitmap(mask);
  const auto inside = [&](int64_t y, int64_t x) {
    return y >= 0 && x >= 0 && y < mask.height && x < mask.width && pixels[static_cast<size_t>(y * mask.width + x)];
  };
  Edges edges;
  for (int64_t y = 0; y < mask.height; ++y)
    for (int64_t x = 0; x < mask.width; ++x) {
      if (!inside(y, x)) continue;
      if (!inside(y - 1, x)) edges[{y, x}] |= 1;
      if (!inside(y, x + 1)) edges[{y, x + 1}] |= 2;
      if (!inside(y + 1, x)) edges[{y + 1, x + 1}] |= 4;
      if (!inside(y, x - 1)) edges[{y + 1, x}] |= 8;
    }
  return edges;
}

// Takes an edge away that leaves `at`: the rightmost one, seen from the edge before.
int take_edge(Edges& edges, const Corner& at, int before) {
  const auto found = edges.find(at);
  int direction = (before + 1) % kDirections;
  while (!(found->second >> direction & 1)) direction = (direction + kDirections - 1) % kDirections;
  found->second &= ~(1u << direction);
  if (found->second == 0) edges.erase(found);
  return direction;
}

struct Loop {
  std::vector<double> corners;
  int64_t area = 0;  // twice the area, negative around a hole
};

// From the uppermost corner, which a loop meets once: a second visit would come from above.
Loop take_loop(Edges& edges) {
  const Corner first = edges.begin()->first;
  Loop loop;
  Corner at = first;
  int before = kDirections - 1;
  do {
    const int direction = take_edge(edges, at, before);
    if (direction != before || at == first) {
      loop.corners.push_back(static_cast<double>(at.x));
      loop.corners.push_back(static_cast<double>(at.y));
    }
    const Corner to = next(at, direction);
    loop.area += at.x * to.y - to.x * at.y;
    at = to;
    before = direction;
  } while (at != first);
  return loop;
}

}  // namespace

std::optional<std::vector<std::vector<double>>> outline(const RunLengths& mask) {
  Edges edges = edges_of(mask);
  std::vector<std::vector<double>> polygons;
  while (!edges.empty()) {
    Loop loop = take_loop(edges);
    if (loop.area < 0) return std::nullopt;
    polygons.push_back(std::move(loop.corners));
  }
  if (polygons.empty()) return std::nullopt;
  return polygons;
}

}  // namespace tbd
