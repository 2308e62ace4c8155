// A row of the table says what is true of a value; values that depend on the workload (threads, batch) are computed
// from it. Rows are in the order in which remedies that promise the same are tried.
#include "analysis/tune/remedies.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "record/axes.h"

namespace tbd {
namespace {

enum class On { any, cpu, gpu };

struct Remedy {
  std::string_view axis, value;            // no value: of all that the workload gives rise to
  std::string_view frameworks;             // for these alone; empty: for all
  double removes;                          // of that loss, at a guess: decides what is tried first and nothing else
  std::array<std::string_view, 4> causes;  // parts of the loss bar
  std::string_view own;                    // {}: its value
  bool gated = false;
  On on = On::any;  // devices whose kernels it makes faster
};

constexpr std::string_view kOpenMp = "pytorch mxnet";  // runtimes that read its variables

constexpr Remedy kRemedies[] = {
    {"mode", "eager-onednn", "pytorch", 0.25, {"kernel inefficiency", "layout"}, "", true, On::cpu},
    {"mode", "graph", "tensorflow", 0.3, {"dispatch", "host other"}, "@tf.function around the step", true},
    {"mode",
     "xla",
     "tensorflow",
     0.2,
     {"dispatch", "host other", "kernel inefficiency", "layout"},
     "@tf.function(jit_compile=True) around the step",
     true},
    {"mode",
     "cuda-graph",
     "pytorch",
     0.7,
     {"launch", "dispatch", "host other", "latency"},
     "torch.cuda.CUDAGraph",
     true},
    {"layout",
     "nhwc",
     "pytorch",
     0.15,
     {"layout", "kernel inefficiency"},
     "model.to(memory_format=torch.channels_last), and its images, too",
     true},
    {"layout",
     "nchw",
     "pytorch",
     0.15,
     {"layout", "kernel inefficiency"},
     "torch.contiguous_format, PyTorch's usual",
     true},
    {"layout", "nhwc", "", 0.15, {"layout", "kernel inefficiency"}, "", true},
    {"layout", "nchw", "", 0.15, {"layout", "kernel inefficiency"}, "", true},
    {"allocator", "kept", "", 0.3, {"system time", "alloc"}, ""},
    {"allocator", "huge", "", 0.6, {"system time", "alloc"}, ""},
    {"allocator", "jemalloc", "", 0.4, {"system time", "alloc"}, ""},
    {"allocator", "mimalloc", "", 0.5, {"system time", "alloc"}, ""},
    {"allocator", "tcmalloc", "", 0.4, {"system time", "alloc"}, ""},
    {"wait", "active", kOpenMp, 0.1, {"kernel inefficiency", "dispatch"}, "", false, On::cpu},
    {"wait", "passive", kOpenMp, 0.3, {"off-CPU"}, "", false, On::cpu},
    {"wait",
     "framework",
     kOpenMp,
     0.12,
     {"kernel inefficiency", "dispatch"},
     "leave OMP_WAIT_POLICY unset",
     false,
     On::cpu},
    {"affinity",
     "thread",
     kOpenMp,
     0.05,
     {"off-CPU", "kernel inefficiency"},
     "OMP_PLACES=cores OMP_PROC_BIND=TRUE",
     false,
     On::cpu},
    {"affinity", "process", kOpenMp, 0.1, {"off-CPU"}, "OMP_PROC_BIND=FALSE", false, On::cpu},
    {"threads",
     "",
     "tensorflow",
     0.05,
     {"off-CPU", "kernel inefficiency", "dispatch"},
     "tf.config.threading.set_intra_op_parallelism_threads({})",
     false,
     On::cpu},
    {"threads", "", "", 0.05, {"off-CPU", "kernel inefficiency", "dispatch"}, "OMP_NUM_THREADS={}", false, On::cpu},
    {"interop",
     "",
     "tensorflow",
     0.2,
     {"dispatch", "host other", "off-CPU"},
     "tf.config.threading.set_inter_op_parallelism_threads({})"},
    {"interop", "", "mxnet", 0.2, {"dispatch", "host other", "off-CPU"}, "MXNET_CPU_WORKER_NTHREADS={}"},
    {"prefetch", "", "", 0.5, {"input"}, ""},
    {"precision",
     "bf16",
     "pytorch",
     0.4,
     {"kernel inefficiency"},
     "torch.autocast('cpu', torch.bfloat16)",
     true,
     On::cpu},
    {"precision",
     "bf16",
     "pytorch",
     0.4,
     {"kernel inefficiency"},
     "torch.autocast('cuda', torch.bfloat16)",
     true,
     On::gpu},
    {"precision", "bf16", "", 0.4, {"kernel inefficiency"}, "", true},
    {"precision", "tf32", "pytorch", 0.4, {"kernel inefficiency"}, "torch.set_float32_matmul_precision('high')", true},
    {"precision", "tf32", "", 0.4, {"kernel inefficiency"}, "", true},
    {"precision", "fp16", "", 0.4, {"kernel inefficiency"}, "", true},
    {"batch", "", "", 0.3, {"dispatch", "host other", "launch", "kernel inefficiency"}, "a batch of {}"},
};

bool is_of(const Remedy& remedy, const std::string& framework) {
  const std::string name = framework.substr(0, framework.find('@'));
  const std::vector<std::string> names = split(remedy.frameworks, ' ');
  return remedy.frameworks.empty() || std::ranges::find(names, name) != names.end();
}

bool is_on(const Remedy& remedy, const Device& device) {
  return remedy.on == On::any || remedy.on == (device == Device::kCpu ? On::cpu : On::gpu);
}

bool is_allowed(const Offer& offer, std::string_view name) { return std::ranges::count(offer.allowed, name) > 0; }

// Those from 1 to the number of cores that each worker has.
std::vector<std::string> within_cores(std::initializer_list<int64_t> counts, const Workload& measured,
                                      const Offer& offer) {
  std::vector<std::string> out;
  const int64_t cores = offer.cores / std::max<int64_t>(1, measured.workers);
  for (const int64_t count : counts)
    if (count >= 1 && count <= cores) out.push_back(cat(count));
  return out;
}

// The values of the row's axis that this workload and its worker can have.
std::vector<std::string> values_of(const Remedy& remedy, const Workload& measured, const Offer& offer) {
  const std::string value(remedy.value);
  const auto offered = [&](const auto& words) {
    const bool has = std::ranges::count(texts(words), value) > 0;
    return has ? std::vector<std::string>{value} : std::vector<std::string>();
  };
  if (remedy.axis == "mode") return offered(offer.modes);
  if (remedy.axis == "layout") return offered(offer.layouts);
  if (remedy.axis == "precision")
    return is_allowed(offer, value) ? offered(offer.precisions) : std::vector<std::string>();
  if (const int64_t threads = measured.threads; remedy.axis == "threads")
    return within_cores({threads / 2, threads * 2, threads / 4}, measured, offer);
  if (const int64_t ops = measured.interop; remedy.axis == "interop")
    return within_cores({ops * 2, ops / 2}, measured, offer);
  if (remedy.axis == "prefetch") {
    if (measured.input_mode != InputMode::kPipeline) return {};
    return {cat(2 * measured.prefetch), cat(4 * measured.prefetch)};
  }
  if (remedy.axis == "batch") {
    if (!is_allowed(offer, "batch") || measured.batch < 1) return {};
    return {cat(2 * measured.batch), cat(4 * measured.batch)};
  }
  return {value};
}

// The largest loss that the row fits, nullptr where none was seen.
const LostShare* largest_fitting(const Remedy& remedy, std::span<const LostShare> lost) {
  const LostShare* largest = nullptr;
  for (const LostShare& each : lost)
    if (each.share > 0 && std::ranges::find(remedy.causes, each.cause) != remedy.causes.end())
      if (!largest || each.share > largest->share) largest = &each;
  return largest;
}

// Of one axis only the best counts in the end: each that is chosen halves what its others promise.
std::vector<Candidate> most_promising_first(std::vector<Candidate> all) {
  std::vector<Candidate> out;
  while (!all.empty()) {
    const auto first = std::ranges::max_element(all, {}, &Candidate::promise);
    out.push_back(std::move(*first));
    all.erase(first);
    for (Candidate& each : all)
      if (each.axis == out.back().axis) each.promise /= 2;
  }
  return out;
}

std::string with_value(std::string_view own, const std::string& value) {
  const size_t at = own.find("{}");
  return at == std::string_view::npos ? std::string(own) : cat(own.substr(0, at), value, own.substr(at + 2));
}

}  // namespace

std::string Candidate::name() const { return cat(axis, "=", value); }

std::string Candidate::words() const {
  return axis == "threads" ? find_axis(axis)->label.around(value) : cat(axis, " ", value);
}

void Candidate::apply(Workload& workload) const { find_axis(axis)->read(workload, value, axis); }

std::vector<Candidate> candidates(const Workload& measured, const Offer& offer, std::span<const LostShare> lost) {
  std::vector<Candidate> out;
  for (const Remedy& remedy : kRemedies) {
    if (!is_of(remedy, measured.framework) || !is_on(remedy, measured.device)) continue;
    const LostShare* loss = largest_fitting(remedy, lost);
    for (const std::string& value : values_of(remedy, measured, offer)) {
      Candidate candidate{.axis = std::string(remedy.axis),
                          .value = value,
                          .gated = remedy.gated,
                          .own = with_value(remedy.own, value),
                          .cause = loss ? loss->cause : "",
                          .share = loss ? loss->share : 0,
                          .promise = loss ? remedy.removes * loss->share : 0};
      const bool has_it = find_axis(remedy.axis)->value(measured) == value;
      if (has_it || std::ranges::count(out, candidate.name(), &Candidate::name) > 0) continue;
      out.push_back(std::move(candidate));
    }
  }
  return most_promising_first(std::move(out));
}

bool has_remedy(std::string_view cause) {
  return std::ranges::any_of(kRemedies, [&](const Remedy& remedy) {
    return !cause.empty() && std::ranges::find(remedy.causes, cause) != remedy.causes.end();
  });
}

std::string settings_in_words(std::span<const Candidate> settings) {
  if (settings.empty()) return "as it is";
  std::string text;
  for (size_t i = 0; i < settings.size(); ++i)
    text += cat(i == 0 ? "" : i + 1 == settings.size() ? " and " : ", ", settings[i].words());
  return text;
}

}  // namespace tbd
