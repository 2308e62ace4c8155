// An NVML for tests: it answers what a script says, the file that TBD_SCRIPTED_NVML names. A line holds a function's
// name, behind the index of its device where it has one, and its answers, separated by '|':
//   nvmlDeviceGetCount_v2 2
//   0 nvmlDeviceGetPowerUsage 250000 | 251000 | !15
//   0 nvmlDeviceGetClockInfo.sm 1980
//   1 lost-after 7
// The n-th call gets the n-th answer, all further calls the last; "!15" is an error code. What has no line is not
// supported by the device. A device is lost after so many calls about it. '#' begins a comment.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "measure/gpu/nvml_abi.h"

namespace {

using namespace tbd::nvml;

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

struct Answers {
  std::vector<std::string> texts;
  size_t next = 0;

  std::string take() {
    const std::string text = texts[next];
    if (next + 1 < texts.size()) ++next;
    return text;
  }
};

class Script {
 public:
  void read(const char* path) {
    answers_.clear();
    calls_left_.clear();
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) add(trimmed(line.substr(0, line.find('#'))));
  }

  // `key`: "nvmlInit_v2", or "0 nvmlDeviceGetName" of a device.
  int answer(const std::string& key, std::string& text) {
    const auto found = answers_.find(key);
    if (found == answers_.end()) return kNotSupported;
    text = found->second.take();
    return text.starts_with("!") ? std::stoi(text.substr(1)) : kSuccess;
  }

  bool is_lost(int device) {
    const auto left = calls_left_.find(device);
    if (left == calls_left_.end()) return false;
    if (left->second == 0) return true;
    --left->second;
    return false;
  }

 private:
  void add(const std::string& line) {
    if (line.empty()) return;
    std::istringstream words(line);
    std::string key, rest;
    words >> key;
    if (std::isdigit(static_cast<unsigned char>(key[0]))) {
      std::string function;
      words >> function;
      key += " " + function;
    }
    std::getline(words, rest);
    if (key.ends_with(" lost-after")) {
      calls_left_[std::stoi(key)] = std::stoi(rest);
      return;
    }
    std::istringstream parts(rest);
    std::string part;
    while (std::getline(parts, part, '|')) answers_[key].texts.push_back(trimmed(part));
    if (rest.empty()) answers_[key].texts.emplace_back();
  }

  std::map<std::string, Answers> answers_;
  std::map<int, int> calls_left_;
};

constexpr int kMostDevices = 16;
std::mutex guard;
int users = 0;  // initialisations that have not been undone
Script script;
char handles[kMostDevices];

Device handle_of(unsigned index) { return reinterpret_cast<Device>(&handles[index]); }
int index_of(Device device) { return static_cast<int>(reinterpret_cast<char*>(device) - handles); }

int answer(const std::string& function, std::string& text) {
  const std::lock_guard lock(guard);
  return script.answer(function, text);
}

int answer_of(Device device, const std::string& function, std::string& text) {
  const std::lock_guard lock(guard);
  if (script.is_lost(index_of(device))) return kGpuIsLost;
  return script.answer(std::to_string(index_of(device)) + " " + function, text);
}

// The numbers of an answer, into as many variables.
template <class... Numbers>
int numbers_of(Device device, const std::string& function, Numbers&... numbers) {
  std::string text;
  const int code = answer_of(device, function, text);
  if (code != kSuccess) return code;
  std::istringstream words(text);
  (words >> ... >> numbers);
  return kSuccess;
}

int copy(int code, const std::string& text, char* to, unsigned length) {
  if (code != kSuccess) return code;
  if (text.size() + 1 > length) return kInsufficientSize;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return kSuccess;
}

std::string of_clock(const char* function, int clock) {
  return std::string(function) + (clock == kClockSm ? ".sm" : ".memory");
}

// "1234:5000000", or "1234:-" where the process's memory is not told.
Process process_from(const std::string& text) {
  const std::string bytes = text.substr(text.find(':') + 1);
  return {static_cast<unsigned>(std::stoul(text)), bytes == "-" ? kMemoryUnknown : std::stoull(bytes), ~0u, ~0u};
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  {
    const std::lock_guard lock(guard);
    const char* path = std::getenv("TBD_SCRIPTED_NVML");
    if (users == 0 && path) script.read(path);
  }
  std::string text;
  const int code = answer("nvmlInit_v2", text);
  if (code != kSuccess && code != kNotSupported) return code;
  const std::lock_guard lock(guard);
  ++users;
  return kSuccess;
}

int nvmlShutdown() {
  const std::lock_guard lock(guard);
  --users;
  return kSuccess;
}

const char* nvmlErrorString(int code) { return code == 999 ? "Unknown Error" : "An error of the script"; }

int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  std::string text;
  const int code = answer("nvmlSystemGetDriverVersion", text);
  return copy(code, text, version, length);
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  std::string text;
  const int code = answer("nvmlSystemGetCudaDriverVersion_v2", text);
  if (code == kSuccess) *version = std::stoi(text);
  return code;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  std::string text;
  const int code = answer("nvmlDeviceGetCount_v2", text);
  if (code == kSuccess) *count = static_cast<unsigned>(std::stoul(text));
  return code;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  unsigned count = 0;
  const int code = nvmlDeviceGetCount_v2(&count);
  if (code != kSuccess) return code;
  if (index >= count || index >= kMostDevices) return kInvalidArgument;
  *device = handle_of(index);
  std::string text;
  const int own = answer_of(*device, "nvmlDeviceGetHandleByIndex_v2", text);
  return own == kNotSupported ? kSuccess : own;
}

int nvmlDeviceGetName(Device device, char* name, unsigned length) {
  std::string text;
  const int code = answer_of(device, "nvmlDeviceGetName", text);
  return copy(code, text, name, length);
}

int nvmlDeviceGetUUID(Device device, char* uuid, unsigned length) {
  std::string text;
  const int code = answer_of(device, "nvmlDeviceGetUUID", text);
  return copy(code, text, uuid, length);
}

int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
  std::string text;
  const int code = answer_of(device, "nvmlDeviceGetPciInfo_v3", text);
  *pci = {};
  return copy(code, text, pci->bus_id, sizeof(pci->bus_id));
}

int nvmlDeviceGetMemoryInfo(Device device, MemoryInfo* memory) {
  const int code = numbers_of(device, "nvmlDeviceGetMemoryInfo", memory->total, memory->used);
  memory->free = memory->total - memory->used;
  return code;
}

int nvmlDeviceGetUtilizationRates(Device device, Utilization* percent) {
  return numbers_of(device, "nvmlDeviceGetUtilizationRates", percent->gpu, percent->memory);
}

int nvmlDeviceGetClockInfo(Device device, int clock, unsigned* mhz) {
  return numbers_of(device, of_clock("nvmlDeviceGetClockInfo", clock), *mhz);
}

int nvmlDeviceGetMaxClockInfo(Device device, int clock, unsigned* mhz) {
  return numbers_of(device, of_clock("nvmlDeviceGetMaxClockInfo", clock), *mhz);
}

int nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  return numbers_of(device, "nvmlDeviceGetPowerUsage", *milliwatts);
}

int nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* milliwatts) {
  return numbers_of(device, "nvmlDeviceGetEnforcedPowerLimit", *milliwatts);
}

int nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoules) {
  return numbers_of(device, "nvmlDeviceGetTotalEnergyConsumption", *millijoules);
}

int nvmlDeviceGetTemperature(Device device, int, unsigned* celsius) {
  return numbers_of(device, "nvmlDeviceGetTemperature", *celsius);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* reasons) {
  return numbers_of(device, "nvmlDeviceGetCurrentClocksThrottleReasons", *reasons);
}

int nvmlDeviceGetPersistenceMode(Device device, int* mode) {
  return numbers_of(device, "nvmlDeviceGetPersistenceMode", *mode);
}

int nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  char point = 0;
  return numbers_of(device, "nvmlDeviceGetCudaComputeCapability", *major, point, *minor);
}

int nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  const int code = numbers_of(device, "nvmlDeviceGetMigMode", *current);
  *pending = *current;
  return code;
}

int nvmlDeviceGetEccMode(Device device, int* current, int* pending) {
  const int code = numbers_of(device, "nvmlDeviceGetEccMode", *current);
  *pending = *current;
  return code;
}

int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, Process* processes) {
  std::string text;
  const int code = answer_of(device, "nvmlDeviceGetComputeRunningProcesses_v3", text);
  if (code != kSuccess) return code;
  std::istringstream words(text);
  std::vector<Process> all;
  std::string word;
  while (words >> word) all.push_back(process_from(word));
  const unsigned room = *count;
  *count = static_cast<unsigned>(all.size());
  if (all.size() > room) return kInsufficientSize;
  for (size_t i = 0; i < all.size(); ++i) processes[i] = all[i];
  return kSuccess;
}

}  // extern "C"
