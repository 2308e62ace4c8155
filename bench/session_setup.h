// A loaded session on generated weights and a synthetic resident batch, as a worker has it.
#pragma once
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "graph/passes.h"
#include "models/model.h"
#include "record/safetensors.h"
#include "runner/data_source.h"
#include "worker/initial_values.h"
#include "worker/inputs.h"
#include "worker/session.h"

namespace tbd::bench {

struct Workload {
  Program program;
  int64_t batch = 8, threads = 2;
  bool tf32 = false;
  ImageLayout layout = ImageLayout::kNhwc;
  Device device = Device::kCpu;
  Mode mode = {};
  std::string save_inputs = {};   // a safetensors file to write the batch to
  std::string save_weights = {};  // another for parameters and buffers, by their names in the program
};

// What flags of these names say; `layout` is the framework's usual one:
//   [--model resnet50] [--config canonical] [--batch 8] [--precision fp32] [--threads 2] [--layout nhwc] [--device cpu]
//   [--mode eager]
inline Workload workload_from(const std::map<std::string, std::string>& flags, const ImageLayout& layout) {
  const auto text = [&](const char* name, const std::string& otherwise) {
    const auto found = flags.find(name);
    return found == flags.end() ? otherwise : found->second;
  };
  const Program program = find_model(text("model", "resnet50")).config(text("config", "")).program();
  return {.program = with_precision(program, Precision(text("precision", "fp32"))),
          .batch = std::stoll(text("batch", "8")),
          .threads = std::stoll(text("threads", "2")),
          .tf32 = text("precision", "") == "tf32",
          .layout = ImageLayout(text("layout", layout.text())),
          .device = Device(text("device", "cpu")),
          .mode = Mode(text("mode", "")),
          .save_inputs = text("save-inputs", ""),
          .save_weights = text("save-weights", "")};
}

// The first batch of the synthetic source of the program's domain, with its norms.
inline TensorMap synthetic_batch(const Workload& workload) {
  protocol::InputPlan plan;
  *plan.source = data_source(workload.program, 0);
  Inputs inputs(input_needs(workload.program, {{"N", workload.batch}}), plan, 1);
  int64_t waited_ns = 0;
  return inputs.batch(1, waited_ns);
}

inline void write_weights(Session& session, const std::string& path) {
  TensorMap named;
  for (auto& [name, tensor] : session.read({"param/", "buffer/"})) named[name.substr(name.find('/') + 1)] = tensor;
  write_safetensors(path, named);
}

inline std::unique_ptr<Session> make_loaded(const Workload& workload, MemoryLedger* ledger = nullptr,
                                            bool trace = false) {
  std::unique_ptr<Session> session = make_session();
  LoadOptions options;
  options.bindings = {{"N", workload.batch}};
  options.threads = workload.threads;
  options.layout = workload.layout;
  options.device = workload.device;
  options.mode = workload.mode;
  options.tf32 = workload.tf32;
  options.ledger = ledger;
  options.trace = trace;
  session->load(workload.program, options);
  write_initial_values(*session, workload.program, 1, workload.threads);
  if (!workload.save_weights.empty()) write_weights(*session, workload.save_weights);
  const TensorMap batch = synthetic_batch(workload);
  if (!workload.save_inputs.empty()) write_safetensors(workload.save_inputs, batch);
  session->stage(batch);
  return session;
}

// The session's next step, whenever called; copies count on together. With the flag --first it is taken here and now,
// and the process ends.
inline std::function<void()> stepper(Session& session, const std::map<std::string, std::string>& flags) {
  const auto step = [&session, done = std::make_shared<int64_t>(0)] {
    const int64_t number = ++*done;
    session.step({.number = number, .schedule_step = number, .lr = {}, .only_phase = {}});
  };
  if (flags.contains("first")) {
    step();
    std::cout << "{\"first_step_done\": true}" << std::endl;
    std::_Exit(0);
  }
  return step;
}

// A line of /proc/self/status ("VmHWM") in bytes.
inline int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1)) * 1024;
  return 0;
}
// Memory of the process's own, files mapped by libraries left out: now, and at its peak so far. The pages of files only
// grow, so the peak of all less those is a bound from below.
inline int64_t anonymous_bytes() { return status_bytes("RssAnon"); }
inline int64_t peak_anonymous_bytes() { return status_bytes("VmHWM") - status_bytes("RssFile"); }

}  // namespace tbd::bench
