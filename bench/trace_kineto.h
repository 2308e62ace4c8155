// Kineto traces as torch.profiler writes them, made up: nested ops with shapes, launches, kernels on two streams,
// copies, collectives, arrows between them, steps.
#pragma once
#include <cstdint>
#include <fstream>
#include <random>
#include <string>

#include "base/text.h"
#include "trace/export/chrome_event.h"

namespace tbd::bench {

class KinetoMaker {
 public:
  KinetoMaker(const std::string& path, uint64_t seed) : out_(path, std::ios::binary), random_(seed) {
    out_ << "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"GPU\"\n    }\n"
            "  ],\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 1},\n"
            "  \"baseTimeNanoseconds\": 1700000000000000000,\n  \"traceEvents\": [\n";
  }
  // Writes steps until the file has at least `bytes`; returns how many events it holds.
  int64_t steps_until(int64_t bytes, int nodes) {
    for (int step = 1; out_.tellp() < bytes; ++step) add_step(step, nodes);
    out_ << "  {\n    \"ph\": \"i\", \"s\": \"g\", \"name\": \"Record Window End\", \"pid\": 1, \"tid\": 1, \"ts\": "
         << microseconds(now_) << "\n  }\n  ],\n  \"traceName\": \"made.json\"\n}\n";
    out_.close();
    return events_;
  }

 private:
  int64_t some(int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(random_); }
  void event(std::string_view cat_name, const std::string& name, std::string_view pid, std::string_view tid,
             int64_t begin, int64_t length, const std::string& args) {
    out_ << "  {\n    \"ph\": \"X\", \"cat\": \"" << cat_name << "\", \"name\": \"" << name << "\", \"pid\": " << pid
         << ", \"tid\": " << tid << ",\n    \"ts\": " << microseconds(begin) << ", \"dur\": " << microseconds(length)
         << ",\n    \"args\": {\n      " << args << "\n    }\n  },\n";
    ++events_;
  }
  void arrow(std::string_view ph, int64_t id, std::string_view pid, std::string_view tid, int64_t at) {
    out_ << "  {\n    \"ph\": \"" << ph << "\", \"id\": " << id << ", \"pid\": " << pid << ", \"tid\": " << tid
         << ", \"ts\": " << microseconds(at) << ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\""
         << (ph == "f" ? ", \"bp\": \"e\"" : "") << "\n  },\n";
    ++events_;
  }
  void add_node(int node) {
    const int64_t begin = now_ += some(300, 2500), inner = begin + some(400, 1500);
    const std::string shapes = cat("[[32, ", 64 << node % 5, ", ", 7 + node % 50, ", ", 7 + node % 50, "], [",
                                   64 << node % 4, ", ", 64 << node % 5, ", 3, 3], [], [], [], []]");
    const int64_t external = ++external_;
    const auto op = [&](const std::string& name, int64_t at, int64_t length) {
      event("cpu_op", name, "4242", "4242", at, length,
            cat("\"External id\": ", external,
                ",\"Record function id\": 0, \"Concrete Inputs\": [\"\", \"\", \"\", \"[1, 1]\", "
                "\"[1, 1]\", \"[1, 1]\"], \"Input type\": [\"float\", \"float\", \"\", \"ScalarList\", \"ScalarList\", "
                "\"ScalarList\"], \"Input Strides\": [[200704, 3136, 56, 1], [576, 9, 3, 1], [], [], [], []], \"Input "
                "Dims\": ",
                shapes, ", \"Sequence number\": ", node, ", \"Fwd thread id\": 0, \"Ev Idx\": ", events_));
    };
    op(cat("aten::op", node % 41), begin, 60000);
    op(cat("aten::_op", node % 41), inner, 52000);
    const int64_t link = ++link_, call = inner + some(8000, 20000), called = call + some(2500, 9000);
    event("cuda_runtime", "cudaLaunchKernel", "4242", "4242", call, called - call,
          cat("\"External id\": ", external, ", \"cbid\": 211, \"correlation\": ", link));
    const bool comm = node % 16 == 15, copy = node % 32 == 3;
    int64_t& free = comm ? comm_free_ : free_;
    const int64_t start = std::max(free + some(900, 1800), called + some(1500, 4000)), length = some(2000, 80000);
    free = start + length;
    const std::string_view stream = comm ? "20" : "7";
    const std::string where = cat("\"External id\": ", external,
                                  ", \"device\": 0, \"context\": 1, \"stream\": ", stream, ", \"correlation\": ", link);
    if (copy)
      event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "0", stream, start, length,
            where + cat(", \"bytes\": ", some(1, 1 << 20), ", \"memory bandwidth (GB/s)\": 12.5"));
    else
      event("kernel",
            comm ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                 : cat("void at::native::vectorized_elementwise_kernel<4, at::native::op", node % 60,
                       "<float>, std::array<char*, 3ul> >(int, float, std::array<char*, 3ul>)"),
            "0", stream, start, length,
            cat("\"queued\": 0, \"registers per thread\": 32, \"shared memory\": 0, \"blocks per SM\": 29.6, "
                "\"warps per SM\": 118.5, \"grid\": [",
                100 + node,
                ", 1, 1], \"block\": [128, 1, 1], "
                "\"est. achieved occupancy %\": 100, ",
                where));
    arrow("s", link, "4242", "4242", call);
    arrow("f", link, "0", stream, start);
    now_ = begin + 61000;
  }
  void add_step(int step, int nodes) {
    const int64_t begin = now_;
    for (int node = 0; node < nodes; ++node) add_node(node);
    event("cuda_runtime", "cudaDeviceSynchronize", "4242", "4242", now_ + 500, std::max<int64_t>(1000, free_ - now_),
          cat("\"External id\": 0, \"cbid\": 165, \"correlation\": ", ++link_));
    now_ = std::max(now_ + 2000, free_ + 1000);
    event("user_annotation", cat("ProfilerStep#", step), "4242", "4242", begin, now_ - begin, "\"External id\": 1");
  }

  std::ofstream out_;
  std::mt19937_64 random_;
  int64_t now_ = 1'000'000, free_ = 0, comm_free_ = 0, link_ = 0, external_ = 0, events_ = 0;
};

}  // namespace tbd::bench
