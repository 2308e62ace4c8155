// RoIAlign of four maps at 800 x 1344 with 256 channels, forward with backward, on one thread: as the PyTorch back-end
// lowers it, with the host's plan.
//   bench_pytorch_roi_align [--rounds N] [--rois FILE]
// One JSON line of CPU milliseconds, the least of N rounds. --rois also writes the regions (raw doubles: how many of
// them are read at once, image, corners, level), for bench/peers/roi_align.py.
#include <ATen/Parallel.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>

#include "backends/pytorch/autograd.h"
#include "backends/pytorch/lowering.h"
#include "backends/pytorch/tensors.h"
#include "base/philox.h"
#include "host/detection/roi_samples.h"
#include "serve.h"

namespace {

using namespace tbd;

constexpr int64_t kHeight = 800, kWidth = 1344, kChannels = 256, kStrides[] = {4, 8, 16, 32};

struct Case {
  const char* name;
  int64_t regions, out;
};
constexpr Case kCases[] = {{"512x7", 512, 7}, {"128x14", 128, 14}};

std::vector<at::Tensor> maps() {
  std::vector<at::Tensor> out;
  for (const int64_t stride : kStrides)
    out.push_back(at::randn({1, kChannels, kHeight / stride, kWidth / stride})
                      .contiguous(at::MemoryFormat::ChannelsLast)
                      .set_requires_grad(true));
  return out;
}

// Sides are log-uniform, so that every level has some.
std::vector<detection::Box> boxes(int64_t count) {
  const Philox stream(0, "bench/rois");
  std::vector<detection::Box> out;
  uint64_t drawn = 0;
  const auto side = [&](double most) { return 16 * std::pow(most / 16, stream.uniform(drawn++)); };
  for (int64_t i = 0; i < count; ++i) {
    const double width = side(kWidth), height = side(kHeight);
    const double x = (kWidth - width) * stream.uniform(drawn++), y = (kHeight - height) * stream.uniform(drawn++);
    out.push_back({x, y, x + width, y + height});
  }
  return out;
}

struct Regions {
  HostTensor rois, level;
};

Regions regions(int64_t count) {
  Regions out = {HostTensor(DType::f32, {count, 5}), HostTensor(DType::i32, {count})};
  const std::vector<detection::Box> all = boxes(count);
  for (int64_t i = 0; i < count; ++i) {
    const double corners[] = {0, all[i].x1, all[i].y1, all[i].x2, all[i].y2};
    for (int64_t k = 0; k < 5; ++k) out.rois.as<float>()[5 * i + k] = static_cast<float>(corners[k]);
    out.level.as<int32_t>()[i] = static_cast<int32_t>(detection::roi_level(all[i], {}));
  }
  return out;
}

void write(std::ofstream& file, const Regions& regions) {
  const int64_t count = regions.level.shape()[0];
  for (int64_t i = 0; i < count; ++i) {
    std::vector<double> row = {static_cast<double>(count)};
    for (int64_t k = 0; k < 5; ++k) row.push_back(regions.rois.as<float>()[5 * i + k]);
    row.push_back(regions.level.as<int32_t>()[i]);
    file.write(reinterpret_cast<const char*>(row.data()), static_cast<std::streamsize>(row.size() * sizeof(double)));
  }
}

void step(const std::vector<at::Tensor>& operands, int64_t out) {
  std::vector<at::Tensor> constants;
  const pytorch::NodeUse use;
  const int32_t ids[] = {0, 1, 2, 3, 4, 5};
  const RoiAlign op = {.out = out, .scales = {1.0 / 4, 1.0 / 8, 1.0 / 16, 1.0 / 32}};
  const at::Tensor aligned = pytorch::lower(op, pytorch::Args(operands.data(), ids, use, constants));
  pytorch::run_backward({aligned}, {at::ones_like(aligned)});
  for (size_t i = 0; i < std::size(kStrides); ++i) operands[i].mutable_grad().reset();
}

double cpu_milliseconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  };
  const double began = now();
  work();
  return now() - began;
}

}  // namespace

int main(int argc, char** argv) {
  auto given = bench::flags(argc, argv);
  const int64_t rounds = given.contains("rounds") ? std::stoll(given["rounds"]) : 10;
  at::set_num_threads(1);
  std::ofstream file;
  if (given.contains("rois")) file.open(given["rois"], std::ios::binary);
  Json line;
  for (const Case& each : kCases) {
    std::vector<at::Tensor> operands = maps();
    const Regions made = regions(each.regions);
    for (const HostTensor* tensor : {&made.rois, &made.level})
      operands.push_back(pytorch::to_device(*tensor, tensor->dtype(), at::kCPU, pytorch::Layout::nhwc));
    write(file, made);
    double least = std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < rounds; ++i) least = std::min(least, cpu_milliseconds([&] { step(operands, each.out); }));
    line[each.name] = least;
  }
  std::cout << line.dump() << std::endl;
  return 0;
}
