// A CUDA driver library for tests. It answers by TBD_SCRIPTED_CUDA, "INIT COUNT FILE": what cuInit returns, how many
// devices there are (a negative number is an error of cuDeviceGetCount), and a file, which may be left out, with a line
// for each further fact:
//   capability 90               10 * major + minor [80]
//   multiprocessors 4           [2]
//   l2 50331648                 bytes [1 MiB]
//   free 8589934592             bytes [1 GiB]; in all there are twice as many
//   speed.fma_fp32 1e9          threads * iterations that a launch of the function does in a second [1e9]
//   elapsed.fma_fp32 9 | 4 | 5  milliseconds of its first, second and all further launches instead
//   fail.cuMemAlloc_v2 2        the function's code
//   fault.fma_fp32 719          a launch of it fails when it is waited for, and so does all that comes after
//   log FILE                    gets a line for each launch, allocation and release
// The file is read by cuInit. Modules are what tests/scripted_nvrtc.cc makes: they hold the text of their functions.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "measure/gpu/cuda_abi.h"

namespace {

using namespace tbd::cuda;

constexpr int kInvalidValue = 1, kNoDevice = 100, kInvalidDevice = 101, kNotFound = 500, kLaunchFailed = 719;

class Script {
 public:
  void read() {
    facts_.clear();
    answered_.clear();
    const char* text = std::getenv("TBD_SCRIPTED_CUDA");
    std::istringstream words(text ? text : "100 0");
    std::string path, line;
    words >> init_ >> count_ >> path;
    std::ifstream file(path);
    while (std::getline(file, line)) {
      std::istringstream of_line(line);
      std::string key, rest;
      of_line >> key;
      std::getline(of_line >> std::ws, rest);
      facts_[key] = rest;
    }
  }

  int init() const { return init_; }
  int count() const { return count_; }
  bool has(const std::string& key) const { return facts_.contains(key); }
  std::string text(const std::string& key) const { return has(key) ? facts_.at(key) : ""; }
  double number(const std::string& key, double otherwise) const {
    return has(key) ? std::stod(facts_.at(key)) : otherwise;
  }
  // The next of the answers that '|' separates; the last stays.
  double next(const std::string& key) {
    std::istringstream parts(facts_.at(key));
    std::string part, last;
    for (int i = 0; i <= answered_[key] && std::getline(parts, part, '|'); ++i) last = part;
    ++answered_[key];
    return std::stod(last);
  }
  int failure(const std::string& function) const { return static_cast<int>(number("fail." + function, kSuccess)); }
  void log(const std::string& line) const {
    if (has("log")) std::ofstream(text("log"), std::ios::app) << line << "\n";
  }

 private:
  std::map<std::string, std::string> facts_;
  std::map<std::string, int> answered_;
  int init_ = kNoDevice, count_ = 0;
};

Script script;
int fault = kSuccess;    // of a kernel: sticks to the context
int pending = kSuccess;  // of the kernel that was launched last
double elapsed_ms = 0;   // of that
std::map<Address, size_t> memory;
char handle;  // whose address is every handle that is only passed on

template <class Handle>
int give(const char* function, Handle* to) {
  *to = reinterpret_cast<Handle>(&handle);
  return fault ? fault : script.failure(function);
}

int plain(const char* function) { return fault ? fault : script.failure(function); }

}  // namespace

extern "C" {

int cuInit(unsigned) {
  script.read();
  fault = pending = kSuccess;
  memory.clear();
  return script.init();
}

int cuDeviceGetCount(int* count) {
  *count = script.count();
  return *count < 0 ? -*count : 0;
}

int cuGetErrorString(int code, const char** text) {
  const std::map<int, const char*> known = {{kInvalidValue, "invalid argument"},
                                            {2, "out of memory"},
                                            {kNoDevice, "no CUDA-capable device is detected"},
                                            {kInvalidDevice, "invalid device ordinal"},
                                            {200, "device kernel image is invalid"},
                                            {kNotFound, "named symbol not found"},
                                            {kLaunchFailed, "unspecified launch failure"}};
  *text = known.contains(code) ? known.at(code) : nullptr;
  return *text ? 0 : 1;
}

int cuDriverGetVersion(int* version) {
  *version = 13010;
  return plain("cuDriverGetVersion");
}

int cuDeviceGet(Device* device, int index) {
  *device = index;
  return index < script.count() ? plain("cuDeviceGet") : kInvalidDevice;
}

int cuDeviceGetName(char* name, int length, Device) {
  std::snprintf(name, static_cast<size_t>(length), "Scripted GPU");
  return plain("cuDeviceGetName");
}

int cuDeviceGetUuid(Uuid* uuid, Device device) {
  for (unsigned char i = 0; i < 16; ++i) uuid->bytes[i] = i;
  uuid->bytes[15] = static_cast<unsigned char>(device);
  return plain("cuDeviceGetUuid");
}

int cuDeviceGetAttribute(int* value, int which, Device) {
  const int capability = static_cast<int>(script.number("capability", 80));
  *value = 0;
  if (which == kCapabilityMajor) *value = capability / 10;
  if (which == kCapabilityMinor) *value = capability % 10;
  if (which == kMultiprocessors) *value = static_cast<int>(script.number("multiprocessors", 2));
  if (which == kL2Bytes) *value = static_cast<int>(script.number("l2", 1 << 20));
  return plain("cuDeviceGetAttribute");
}

int cuDeviceTotalMem_v2(size_t* bytes, Device) {
  *bytes = 2 * static_cast<size_t>(script.number("free", 1 << 30));
  return plain("cuDeviceTotalMem_v2");
}

int cuDevicePrimaryCtxRetain(Context* context, Device) { return give("cuDevicePrimaryCtxRetain", context); }

int cuDevicePrimaryCtxRelease_v2(Device) {
  script.log("release, " + std::to_string(memory.size()) + " allocations left");
  return plain("cuDevicePrimaryCtxRelease_v2");
}

int cuCtxSetCurrent(Context) { return plain("cuCtxSetCurrent"); }

int cuMemGetInfo_v2(size_t* free, size_t* total) {
  *free = static_cast<size_t>(script.number("free", 1 << 30));
  *total = 2 * *free;
  return plain("cuMemGetInfo_v2");
}

int cuMemAlloc_v2(Address* address, size_t bytes) {
  if (const int code = plain("cuMemAlloc_v2")) return code;
  if (bytes > script.number("free", 1 << 30)) return 2;
  *address = 4096 * (memory.size() + 1);
  memory[*address] = bytes;
  script.log("allocate " + std::to_string(bytes));
  return kSuccess;
}

int cuMemFree_v2(Address address) { return memory.erase(address) == 1 ? plain("cuMemFree_v2") : kInvalidValue; }

// The image stays where it is until it is unloaded: a copy.
int cuModuleLoadData(Module* module, const void* image) {
  if (const int code = plain("cuModuleLoadData")) return code;
  *module = reinterpret_cast<Module>(new std::string(static_cast<const char*>(image)));
  return kSuccess;
}

int cuModuleUnload(Module module) {
  delete reinterpret_cast<std::string*>(module);
  return plain("cuModuleUnload");
}

// Functions are their names, which live on.
int cuModuleGetFunction(Function* function, Module module, const char* name) {
  static std::map<std::string, std::string> names;
  const auto& image = *reinterpret_cast<std::string*>(module);
  if (image.find(std::string(" ") + name + "(") == std::string::npos) return kNotFound;
  *function = reinterpret_cast<Function>(&(names[name] = name));
  return plain("cuModuleGetFunction");
}

int cuLaunchKernel(Function function, unsigned blocks, unsigned y, unsigned z, unsigned threads, unsigned ty,
                   unsigned tz, unsigned shared, Stream, void** arguments, void** extra) {
  if (const int code = plain("cuLaunchKernel")) return code;
  if (y * z * ty * tz != 1 || shared != 0 || extra != nullptr || threads > 1024 || blocks == 0) return kInvalidValue;
  const auto& name = *reinterpret_cast<std::string*>(function);
  const Address address = *static_cast<Address*>(arguments[0]);
  const long long iterations = *static_cast<long long*>(arguments[1]);
  if (!memory.contains(address)) return kInvalidValue;
  script.log("launch " + name + " " + std::to_string(blocks) + " x " + std::to_string(threads) + " iterations " +
             std::to_string(iterations));
  const double work = static_cast<double>(blocks) * threads * static_cast<double>(iterations);
  elapsed_ms =
      script.has("elapsed." + name) ? script.next("elapsed." + name) : 1e3 * work / script.number("speed." + name, 1e9);
  pending = static_cast<int>(script.number("fault." + name, kSuccess));
  return kSuccess;
}

int cuStreamSynchronize(Stream) {
  if (pending) fault = pending;
  return plain("cuStreamSynchronize");
}

int cuEventCreate(Event* event, unsigned) { return give("cuEventCreate", event); }
int cuEventDestroy_v2(Event) { return plain("cuEventDestroy_v2"); }
int cuEventRecord(Event, Stream) { return plain("cuEventRecord"); }

int cuEventElapsedTime(float* milliseconds, Event, Event) {
  *milliseconds = static_cast<float>(elapsed_ms);
  return plain("cuEventElapsedTime");
}
}
