// A row of the table says what is true of a value; values that depend on the workload (threads, batch) are computed
// from it. Rows are in the order in which remedies of equal fit are tried: what brings most elsewhere comes first.
#include "analysis/tune/remedies.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "record/axes.h"

namespace tbd {
namespace {

struct Remedy {
  std::string_view axis, value;            // no value: of all that the workload gives rise to
  std::string_view frameworks;             // for these alone; empty: for all
  std::array<std::string_view, 4> causes;  // parts of the loss bar
  std::string_view own;                    // {}: its value
  bool gated = false;
};

constexpr std::string_view kOpenMp = "pytorch mxnet";  // runtimes that read its variables

constexpr Remedy kRemedies[] = {
    {"mode", "eager-onednn", "pytorch", {"kernel inefficiency", "layout"}, "", true},
    {"mode", "graph", "tensorflow", {"dispatch", "host other"}, "@tf.function around the step", true},
    {"mode",
     "xla",
     "tensorflow",
     {"dispatch", "host other", "kernel inefficiency", "layout"},
     "@tf.function(jit_compile=True) around the step",
     true},
    {"mode", "cuda-graph", "pytorch", {"launch", "dispatch", "host other", "latency"}, "torch.cuda.CUDAGraph", true},
    {"layout",
     "nhwc",
     "pytorch",
     {"layout", "kernel inefficiency"},
     "model.to(memory_format=torch.channels_last), and its images, too",
     true},
    {"layout", "nchw", "pytorch", {"layout", "kernel inefficiency"}, "torch.contiguous_format, PyTorch's usual", true},
    {"layout", "nhwc", "", {"layout", "kernel inefficiency"}, "", true},
    {"layout", "nchw", "", {"layout", "kernel inefficiency"}, "", true},
    {"allocator", "kept", "", {"system time", "alloc"}, ""},
    {"allocator", "jemalloc", "", {"system time", "alloc"}, ""},
    {"allocator", "mimalloc", "", {"system time", "alloc"}, ""},
    {"allocator", "tcmalloc", "", {"system time", "alloc"}, ""},
    {"wait", "active", kOpenMp, {"kernel inefficiency", "dispatch"}, ""},
    {"wait", "passive", kOpenMp, {"off-CPU"}, ""},
    {"wait", "framework", kOpenMp, {"kernel inefficiency", "dispatch"}, "leave OMP_WAIT_POLICY unset"},
    {"affinity", "thread", kOpenMp, {"off-CPU", "kernel inefficiency"}, "OMP_PLACES=cores OMP_PROC_BIND=TRUE"},
    {"affinity", "process", kOpenMp, {"off-CPU"}, "OMP_PROC_BIND=FALSE"},
    {"threads",
     "",
     "tensorflow",
     {"off-CPU", "kernel inefficiency", "dispatch"},
     "tf.config.threading.set_intra_op_parallelism_threads({})"},
    {"threads", "", "", {"off-CPU", "kernel inefficiency", "dispatch"}, "OMP_NUM_THREADS={}"},
    {"precision", "bf16", "pytorch", {"kernel inefficiency"}, "torch.autocast('cpu', torch.bfloat16)", true},
    {"precision", "bf16", "", {"kernel inefficiency"}, "", true},
    {"precision", "tf32", "pytorch", {"kernel inefficiency"}, "torch.set_float32_matmul_precision('high')", true},
    {"precision", "tf32", "", {"kernel inefficiency"}, "", true},
    {"precision", "fp16", "", {"kernel inefficiency"}, "", true},
    {"batch", "", "", {"dispatch", "host other", "launch", "kernel inefficiency"}, "a batch of {}"},
};

bool is_of(const Remedy& remedy, const std::string& framework) {
  const std::string name = framework.substr(0, framework.find('@'));
  const std::vector<std::string> names = split(remedy.frameworks, ' ');
  return remedy.frameworks.empty() || std::ranges::find(names, name) != names.end();
}

bool is_allowed(const Offer& offer, std::string_view name) { return std::ranges::count(offer.allowed, name) > 0; }

// A quarter, half, twice as many; never more than there are cores.
std::vector<std::string> other_threads(const Workload& measured, const Offer& offer) {
  std::vector<std::string> out;
  const int64_t cores = offer.cores / std::max<int64_t>(1, measured.workers);
  for (const int64_t threads : {measured.threads / 2, measured.threads * 2, measured.threads / 4})
    if (threads >= 1 && threads <= cores) out.push_back(cat(threads));
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
  if (remedy.axis == "threads") return other_threads(measured, offer);
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
    if (!is_of(remedy, measured.framework)) continue;
    const LostShare* loss = largest_fitting(remedy, lost);
    for (const std::string& value : values_of(remedy, measured, offer)) {
      Candidate candidate{.axis = std::string(remedy.axis),
                          .value = value,
                          .gated = remedy.gated,
                          .own = with_value(remedy.own, value),
                          .cause = loss ? loss->cause : "",
                          .share = loss ? loss->share : 0};
      const bool has_it = find_axis(remedy.axis)->value(measured) == value;
      if (has_it || std::ranges::count(out, candidate.name(), &Candidate::name) > 0) continue;
      out.push_back(std::move(candidate));
    }
  }
  std::ranges::stable_sort(out, std::greater{}, &Candidate::share);
  return out;
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
