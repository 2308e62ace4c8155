// Detection's host functions on one thread, as at 800 x 1344: proposals of five levels, 2,000 boxes before and after
// suppression, 512 regions of which 128 are positive, masks of eight objects.
//   bench_detection_host [--rounds N] [--boxes FILE]
// One JSON line of CPU milliseconds, the least of N rounds. --boxes also writes what suppression sees (raw doubles:
// level, then the corners, by falling logit), for bench/peers/suppression.py.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>

#include "base/json.h"
#include "host/detection/proposals.h"
#include "host/detection/roi_samples.h"
#include "host/detection/rpn_targets.h"
#include "host/detection/sampler.h"
#include "host/detection/suppression.h"
#include "serve.h"

namespace {

using namespace tbd;
using namespace tbd::detection;

constexpr Extent kImage = {800, 1344};
constexpr int64_t kAfter = 2000, kObjects = 100, kUsed = 8, kRows = 512, kPositives = 128, kSide = 28, kRuns = 131072;

Pyramid levels() {
  const Extent extents[] = {{200, 336}, {100, 168}, {50, 84}, {25, 42}, {13, 21}};
  const double sizes[] = {32, 64, 128, 256, 512}, ratios[] = {0.5, 1, 2};
  return pyramid(kImage, extents, sizes, ratios);
}

double least_milliseconds(int64_t rounds, const auto& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < rounds; ++i) {
    timespec began{}, ended{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    work();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    const double seconds =
        static_cast<double>(ended.tv_sec - began.tv_sec) + 1e-9 * static_cast<double>(ended.tv_nsec - began.tv_nsec);
    least = std::min(least, 1e3 * seconds);
  }
  return least;
}

// Logits and deltas as an untrained head gives them: small and without order.
HostTensor random_floats(const char* stream, const Shape& shape, double sigma) {
  const Philox draw(0, stream);
  HostTensor out(DType::f32, shape);
  uint64_t i = 0;
  for (float& value : out.as<float>()) value = static_cast<float>(sigma * draw.normal(i++));
  return out;
}

std::vector<Box> objects() {
  std::vector<Box> boxes;
  for (int64_t g = 0; g < kUsed; ++g) {
    const double x = 40.0 + 150.0 * static_cast<double>(g), y = 30.0 + 60.0 * static_cast<double>(g);
    boxes.push_back({x, y, std::min(x + 60.0 + 50.0 * static_cast<double>(g), 1340.0), y + 280.0});
  }
  return boxes;
}

// The ellipse in the box, column by column.
std::vector<int32_t> ellipse(const Box& box) {
  std::vector<int32_t> runs = {0};
  bool is_set = false;
  for (int64_t x = 0; x < kImage.width; ++x)
    for (int64_t y = 0; y < kImage.height; ++y) {
      const double across = (2 * static_cast<double>(x) + 1 - box.x1 - box.x2) / (box.x2 - box.x1);
      const double down = (2 * static_cast<double>(y) + 1 - box.y1 - box.y2) / (box.y2 - box.y1);
      if ((across * across + down * down <= 1) != is_set) {
        is_set = !is_set;
        runs.push_back(0);
      }
      ++runs.back();
    }
  return runs;
}

struct Proposing {
  ProposalSettings settings = {.pyramid = levels()};
  std::vector<HostTensor> in;
  std::vector<HostTensor> out = {HostTensor(DType::f32, {1, kAfter, 4}), HostTensor(DType::i32, {1})};

  Proposing() {
    const int64_t anchors = anchor_count(settings.pyramid);
    const std::vector<int32_t> size = {static_cast<int32_t>(kImage.height), static_cast<int32_t>(kImage.width)};
    in = {random_floats("bench/objectness", {1, anchors}, 0.1), random_floats("bench/deltas", {1, anchors, 4}, 0.1),
          HostTensor(DType::i32, {1, 2}, std::span<const int32_t>(size))};
  }
  void run() { select_proposals(settings, in, out); }
};

struct Sampling {
  std::vector<HostTensor> in;
  std::vector<HostTensor> out = {
      HostTensor(DType::f32, {kRows, 5}),      HostTensor(DType::i32, {kRows}),
      HostTensor(DType::i32, {kRows}),         HostTensor(DType::f32, {kRows}),
      HostTensor(DType::f32, {kRows, 1, 4}),   HostTensor(DType::f32, {kRows}),
      HostTensor(DType::f32, {kPositives, 5}), HostTensor(DType::i32, {kPositives}),
      HostTensor(DType::i32, {kPositives, 1}), HostTensor(DType::f32, {kPositives, 1, kSide, kSide}),
      HostTensor(DType::f32, {kPositives}),    HostTensor(DType::i32, {})};

  // The first proposals are moved onto objects, so that all mask rows are in use.
  explicit Sampling(const Proposing& proposing) {
    in = {proposing.out[0],
          proposing.out[1],
          HostTensor(DType::f32, {1, kObjects, 4}),
          HostTensor(DType::i32, {1, kObjects}),
          HostTensor(DType::i32, {1, kAfter + kObjects}),
          proposing.in[2],
          HostTensor(DType::i32, {1, kRuns}),
          HostTensor(DType::i32, {1, kObjects + 1})};
    const std::vector<Box> boxes = objects();
    int32_t at = 0;
    for (int64_t g = 0; g < kUsed; ++g) {
      put(in[2], g, boxes[g], 0);
      in[3].as<int32_t>()[g] = static_cast<int32_t>(g + 1);
      for (int64_t k = 0; k < 2 * kPositives / kUsed; ++k)
        put(in[0], g * 2 * kPositives / kUsed + k, boxes[g], 0.25 * static_cast<double>(k));
      const std::vector<int32_t> runs = ellipse(boxes[g]);
      std::copy(runs.begin(), runs.end(), in[6].as<int32_t>().begin() + at);
      at += static_cast<int32_t>(runs.size());
      in[7].as<int32_t>()[g + 1] = at;
    }
    const std::vector<int32_t> keys = sampling_keys(Philox(0, "data/roi_key"), kAfter + kObjects);
    std::copy(keys.begin(), keys.end(), in[4].as<int32_t>().begin());
  }

  static void put(HostTensor& to, int64_t row, const Box& box, double shift) {
    const std::span<float> four = to.as<float>().subspan(4 * row, 4);
    four[0] = static_cast<float>(box.x1 + shift);
    four[1] = static_cast<float>(box.y1);
    four[2] = static_cast<float>(box.x2);
    four[3] = static_cast<float>(box.y2 - shift);
  }

  void run() { sample_rois({}, in, out); }
};

// The boxes that suppression sees on each level: a call of a level alone that keeps all.
std::vector<std::vector<Box>> boxes_before_suppression(const Proposing& all) {
  std::vector<std::vector<Box>> out;
  int64_t row = 0;
  for (const Level& level : all.settings.pyramid.levels) {
    const Pyramid alone = {.levels = {level}, .ratios = all.settings.pyramid.ratios};
    const int64_t anchors = anchor_count(alone);
    const auto part = [&](size_t operand, int64_t each, const Shape& shape) {
      return HostTensor(DType::f32, shape, all.in[operand].as<float>().subspan(row * each, anchors * each));
    };
    const std::vector<HostTensor> in = {part(0, 1, {1, anchors}), part(1, 4, {1, anchors, 4}), all.in[2]};
    std::vector<HostTensor> result = {HostTensor(DType::f64, {1, kAfter, 4}), HostTensor(DType::i32, {1})};
    select_proposals({.pyramid = alone, .overlap = 1}, in, result);
    const std::span<const double> corners = result[0].as<double>();
    std::vector<Box> boxes;
    for (int64_t i = 0; i < result[1].as<int32_t>()[0]; ++i)
      boxes.push_back({corners[4 * i], corners[4 * i + 1], corners[4 * i + 2], corners[4 * i + 3]});
    out.push_back(std::move(boxes));
    row += anchors;
  }
  return out;
}

void write_boxes(const std::string& path, const std::vector<std::vector<Box>>& by_level) {
  std::ofstream file(path, std::ios::binary);
  for (size_t l = 0; l < by_level.size(); ++l)
    for (const Box& box : by_level[l]) {
      const double row[] = {static_cast<double>(l), box.x1, box.y1, box.x2, box.y2};
      file.write(reinterpret_cast<const char*>(row), sizeof row);
    }
}

RpnSettings rpn_settings() { return {.pyramid = levels()}; }

}  // namespace

int main(int argc, char** argv) try {
  auto given = tbd::bench::flags(argc, argv);
  const int64_t rounds = given.contains("rounds") ? std::stoll(given["rounds"]) : 10;
  Proposing proposing;
  const double select = least_milliseconds(rounds, [&] { proposing.run(); });
  const std::vector<std::vector<Box>> by_level = boxes_before_suppression(proposing);
  if (given.contains("boxes")) write_boxes(given["boxes"], by_level);
  int64_t boxes = 0, kept = 0;
  for (const std::vector<Box>& level : by_level) boxes += std::ssize(level);
  const double suppression = least_milliseconds(rounds, [&] {
    kept = 0;
    for (const std::vector<Box>& level : by_level) kept += std::ssize(suppress_sorted(level, 0.7));
  });
  Sampling sampling(proposing);
  const double sample = least_milliseconds(rounds, [&] { sampling.run(); });
  const RpnSettings rpn = rpn_settings();
  const std::vector<int32_t> keys = sampling_keys(Philox(0, "data/rpn_key"), anchor_count(rpn.pyramid));
  const std::vector<Box> truth = objects();
  const double targets = least_milliseconds(rounds, [&] { rpn_targets(rpn, truth, keys); });
  const double drawing =
      least_milliseconds(rounds, [&] { sampling_keys(Philox(0, "data/rpn_key"), anchor_count(rpn.pyramid)); });
  std::cout << Json{{"boxes", boxes},
                    {"kept", kept},
                    {"suppression_ms", suppression},
                    {"select_proposals_ms", select},
                    {"mask_rows", sampling.out[11].as<int32_t>()[0]},
                    {"sample_rois_ms", sample},
                    {"rpn_targets_ms", targets},
                    {"rpn_keys_ms", drawing}}
                   .dump()
            << std::endl;
  return 0;
} catch (const std::exception& e) {
  std::cerr << "bench_detection_host: " << e.what() << std::endl;
  return 1;
}
