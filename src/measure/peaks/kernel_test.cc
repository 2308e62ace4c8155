#include "measure/peaks/kernel.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/testing_sanitized.h"
#include "base/text.h"
#include "measure/peaks/bandwidth.h"

namespace tbd {
namespace {

struct Instruction {
  int64_t address = 0;
  std::string text;  // "vfnmadd213ps %zmm31,%zmm0,%zmm0"
};

// The machine code of a function of this very program, by objdump; empty where there is no objdump.
std::vector<Instruction> disassembled(std::string_view symbol) {
  char self[4096] = {};
  if (!realpath("/proc/self/exe", self)) return {};
  const std::string command = cat("objdump -d --no-show-raw-insn --disassemble=", symbol, " '", self, "' 2>/dev/null");
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::vector<Instruction> code;
  std::array<char, 512> line{};
  while (pipe && fgets(line.data(), line.size(), pipe.get())) {
    const std::vector<std::string> parts = split(line.data(), '\t');
    if (parts.size() >= 2 && parts[0].starts_with("  "))
      code.push_back({std::stoll(parts[0], nullptr, 16), std::string(trim(parts[1]))});
  }
  return code;
}

// From the target of a backward jump to that jump: the last such loop that holds `mnemonic`.
std::vector<Instruction> loop_with(std::string_view mnemonic, const std::vector<Instruction>& code) {
  for (auto jump = code.rbegin(); jump != code.rend(); ++jump) {
    if (!jump->text.starts_with("j")) continue;
    const int64_t target = std::strtoll(jump->text.c_str() + jump->text.find(' '), nullptr, 16);
    std::vector<Instruction> loop;
    bool found = false;
    for (const Instruction& each : code) {
      if (each.address < target || each.address > jump->address) continue;
      loop.push_back(each);
      found |= each.text.starts_with(mnemonic);
    }
    if (target < jump->address && found) return loop;
  }
  return {};
}

TEST(FlopKernels, LoopsContainOnlyTheirInstruction) {
  for (const FlopKernel& kernel : flop_kernels()) {
    const auto code = disassembled(kernel.symbol);
    if (code.empty()) GTEST_SKIP() << "objdump is absent";
    const auto loop = loop_with(kernel.instruction, code);
    ASSERT_EQ(static_cast<int64_t>(loop.size()), kernel.instructions + 2) << kernel.symbol;
    for (size_t i = 0; i + 2 < loop.size(); ++i) {
      EXPECT_TRUE(loop[i].text.starts_with(kernel.instruction)) << kernel.symbol << ": " << loop[i].text;
      EXPECT_EQ(loop[i].text.find('('), std::string::npos) << kernel.symbol << ": " << loop[i].text;
    }
    EXPECT_TRUE(loop[loop.size() - 2].text.starts_with("dec")) << kernel.symbol;
  }
}

TEST(FlopKernels, ChainsAreIndependent) {
  for (const FlopKernel& kernel : flop_kernels()) {
    const auto loop = loop_with(kernel.instruction, disassembled(kernel.symbol));
    if (loop.empty()) GTEST_SKIP() << "objdump is absent";
    std::map<std::string, int> written;
    for (size_t i = 0; i + 2 < loop.size(); ++i) ++written[loop[i].text.substr(loop[i].text.rfind('%'))];
    // Two multipliers of four or five cycles need ten chains; a tile product of 52 cycles every 16 needs four.
    EXPECT_GE(written.size(), kernel.unit == "matrix" ? 4u : 12u) << kernel.symbol;
    for (const auto& [name, times] : written)
      EXPECT_EQ(times, kernel.instructions / static_cast<int64_t>(written.size())) << kernel.symbol << name;
  }
}

TEST(BandwidthKernels, LoopsNeverTouchTheStack) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has instrumented the loops";
  for (const BandwidthKernel& kernel : bandwidth_kernels()) {
    const auto code = disassembled(kernel.symbol);
    if (code.empty()) GTEST_SKIP() << "objdump is absent";
    const auto loop =
        loop_with(kernel.symbol.ends_with("avx2") || kernel.symbol.ends_with("nt") ? "vmov" : "mov", code);
    ASSERT_FALSE(loop.empty()) << kernel.symbol;
    size_t streamed = 0;
    for (const Instruction& each : loop) {
      EXPECT_EQ(each.text.find("%rsp"), std::string::npos) << kernel.symbol << ": " << each.text;
      streamed += each.text.starts_with("vmovntpd");
    }
    EXPECT_EQ(streamed > 0, kernel.name.ends_with("_nt")) << kernel.symbol;
  }
}

TEST(FlopKernels, ValuesStayBoundedAndKeepMoving) {
  for (const FlopKernel& kernel : flop_kernels()) {
    if (kernel.type != "fp32" || !kernel.unavailable().empty()) continue;
    alignas(64) std::array<std::byte, kKernelDataBytes> data;
    fill_kernel_data(kernel, 7, data.data());
    float first = 0, later = 0;
    kernel.loop(data.data(), 1000);
    std::memcpy(&first, data.data(), sizeof first);
    fill_kernel_data(kernel, 7, data.data());
    kernel.loop(data.data(), 1001);
    std::memcpy(&later, data.data(), sizeof later);
    EXPECT_TRUE(std::isfinite(first) && std::abs(first) <= 2) << first;
    EXPECT_TRUE(std::isfinite(later) && std::abs(later) <= 2) << later;
    EXPECT_NE(first, later) << "constant data would draw less power";
  }
}

TEST(BandwidthKernels, ComputeTheirFormula) {
  alignas(64) double a[32];
  alignas(64) double b[32];
  alignas(64) double c[32];
  for (const BandwidthKernel& kernel : bandwidth_kernels()) {
    for (int i = 0; i < 32; ++i) {
      a[i] = -1;
      b[i] = i;
      c[i] = 2 * i;
    }
    kernel.loop(a, b, c, 32);
    for (int i = 0; i < 32; ++i)
      EXPECT_NEAR(a[i], kernel.name.starts_with("copy") ? i : i + 0.42 * 2 * i, 1e-12) << kernel.name;
  }
}

}  // namespace
}  // namespace tbd
