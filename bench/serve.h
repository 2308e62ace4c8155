// The side of a C++ benchmark that an interleaving script drives: one JSON answer per line of stdin.
//   "steps K"   runs K steps of each program; {"<program>": [seconds, ...], ...}
//   "memory"    runs one step of the first program; {"peak_bytes": ..., "live_bytes": ...} of the framework's allocator
#pragma once
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace tbd::bench {

using Programs = std::vector<std::pair<std::string, std::function<void()>>>;

inline double timed(const std::function<void()>& step) {
  const auto start = std::chrono::steady_clock::now();
  step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The programs take turns step by step, so that what disturbs one disturbs the other.
inline Json run_steps(const Programs& programs, int64_t count) {
  Json out = Json::object();
  for (const auto& [name, step] : programs) out[name] = Json::array();
  for (int64_t i = 0; i < count; ++i)
    for (const auto& [name, step] : programs) out[name].push_back(timed(step));
  return out;
}

inline void serve(const Programs& programs, const std::function<Json()>& memory) {
  std::cout << "{\"ready\": true}" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb;
    int64_t count = 1;
    words >> verb >> count;
    std::cout << (verb == "memory" ? memory() : run_steps(programs, count)).dump() << std::endl;
  }
}

// "--batch 8" -> {"batch": "8"}
inline std::map<std::string, std::string> flags(int argc, char** argv) {
  std::map<std::string, std::string> out;
  for (int i = 1; i + 1 < argc; i += 2) out[std::string(argv[i]).substr(2)] = argv[i + 1];
  return out;
}

}  // namespace tbd::bench
