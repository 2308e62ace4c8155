// A CUDA driver library that answers by TBD_SCRIPTED_CUDA, "INIT COUNT": what cuInit returns, and how many devices
// there are; a negative number is an error of cuDeviceGetCount.
#include <cstdio>
#include <cstdlib>

namespace {

struct Script {
  int init = 100, count = 0;
};

Script script() {
  Script out;
  if (const char* text = std::getenv("TBD_SCRIPTED_CUDA")) std::sscanf(text, "%d %d", &out.init, &out.count);
  return out;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return script().init; }

int cuDeviceGetCount(int* count) {
  *count = script().count;
  return *count < 0 ? -*count : 0;
}

int cuGetErrorString(int code, const char** text) {
  *text = code == 100 ? "no CUDA-capable device is detected" : nullptr;
  return *text ? 0 : 1;
}
}
