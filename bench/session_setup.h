// A loaded session on generated weights and a generated resident batch, as a worker has it.
#pragma once
#include <fstream>
#include <memory>
#include <string>

#include "base/philox.h"
#include "graph/passes.h"
#include "models/model.h"
#include "worker/initial_values.h"
#include "worker/inputs.h"
#include "worker/session.h"

namespace tbd::bench {

struct Workload {
  Program program;
  int64_t batch = 8, threads = 2;
  std::string layout = "nhwc";
};

inline TensorMap generated_batch(const Workload& workload) {
  const InputNeeds needs = input_needs(workload.program, {{"N", workload.batch}});
  TensorMap batch = needs.norms;
  for (const InputNeed& need : needs.inputs) {
    const Philox random(1, need.name);
    HostTensor values(is_float(need.dtype) ? DType::f32 : DType::i32, need.shape);
    for (size_t i = 0; i < values.as<float>().size(); ++i)
      if (is_float(need.dtype))
        values.as<float>()[i] = static_cast<float>(random.normal(i));
      else
        values.as<int32_t>()[i] = static_cast<int32_t>(random.word(i) % static_cast<uint32_t>(need.classes));
    batch[need.name] = converted(values, need.dtype);
  }
  return batch;
}

inline std::unique_ptr<Session> make_loaded(const Workload& workload) {
  std::unique_ptr<Session> session = make_session();
  LoadOptions options;
  options.bindings = {{"N", workload.batch}};
  options.threads = workload.threads, options.layout = workload.layout;
  session->load(workload.program, options);
  write_initial_values(*session, workload.program, 1, workload.threads);
  session->stage(generated_batch(workload));
  return session;
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
