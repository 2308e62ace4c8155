#include "trace/import/kineto.h"

#include <algorithm>

#include "base/json.h"
#include "trace/import/chrome_tracks.h"
#include "trace/import/decimal.h"
#include "trace/import/kineto_args.h"
#include "trace/names.h"

namespace tbd {
namespace {

// What a category of Kineto's stands for; older versions capitalised them.
enum class Category {
  op,
  annotation,
  device_annotation,
  kernel,
  memcpy,
  memset,
  runtime,
  sync,
  device_event,
  overhead,
  off_cpu,
  other
};

struct CategoryName {
  std::string_view text;
  Category category;
};
constexpr CategoryName kCategories[] = {
    {"cpu_op", Category::op},
    {"kernel", Category::kernel},
    {"cuda_runtime", Category::runtime},
    {"cuda_driver", Category::runtime},
    {"user_annotation", Category::annotation},
    {"gpu_user_annotation", Category::device_annotation},
    {"gpu_memcpy", Category::memcpy},
    {"gpu_memset", Category::memset},
    {"concurrent_kernel", Category::kernel},
    {"xpu_runtime", Category::runtime},
    {"xpu_driver", Category::runtime},
    {"privateuse1_runtime", Category::runtime},
    {"privateuse1_driver", Category::runtime},
    {"mtia_runtime", Category::runtime},
    {"cuda_sync", Category::sync},
    {"cuda_event", Category::device_event},
    {"overhead", Category::overhead},
    {"off_cpu", Category::off_cpu},  // our own export's
    {"Operator", Category::op},
    {"Kernel", Category::kernel},
    {"Runtime", Category::runtime},
    {"Memcpy", Category::memcpy},
    {"Memset", Category::memset},
};

Category category_of(std::string_view text) {
  for (const CategoryName& known : kCategories)
    if (known.text == text) return known.category;
  return Category::other;
}

bool is_device(Category category) {
  return category == Category::kernel || category == Category::memcpy || category == Category::memset ||
         category == Category::sync || category == Category::device_event || category == Category::device_annotation;
}

class KinetoImport final : public ChromeHandler {
 public:
  explicit KinetoImport(Trace& trace) : trace_(trace), tracks_(trace) {}

  void event(const ChromeEvent& event) override {
    const std::string_view ph = event[ChromeKey::ph];
    if (ph == "\"X\"") return duration(event);
    if (ph == "\"M\"") return metadata(event);
    if (ph == "\"i\"" || ph == "\"I\"") return instant(event);
    if (ph == "\"C\"") return counter(event);
    if (ph == "\"s\"" || ph == "\"f\"" || ph == "\"t\"") return;  // arrows: what they join has the same correlation
    unknown(event, ph.empty() ? "events without 'ph'" : "events of a kind that is not read");
  }
  void property(std::string_view key, std::string_view json) override;
  void fault(std::string_view what, std::string_view where) override { trace_.fault(what, where); }
  void finish() {
    tracks_.finish();
    if (rank_) trace_.set_rank(*rank_);
  }

 private:
  void unknown(const ChromeEvent& event, std::string_view what) { trace_.fault(what, cat("byte ", event.position)); }
  bool times(const ChromeEvent& event, int64_t& begin, int64_t& length);
  void duration(const ChromeEvent& event);
  void metadata(const ChromeEvent& event);
  void instant(const ChromeEvent& event);
  void counter(const ChromeEvent& event);
  void fill(Event& out, Category category, const ChromeValues& values);
  void fill_range(Event& out, std::string_view name);
  uint32_t correlation(const ChromeValues& values);

  Trace& trace_;
  ChromeTracks tracks_;
  std::string scratch_, name_;
  CompactJson compact_;
  std::optional<int32_t> rank_;
};

bool KinetoImport::times(const ChromeEvent& event, int64_t& begin, int64_t& length) {
  const auto ts = scaled_decimal(event[ChromeKey::ts], 3), dur = scaled_decimal(event[ChromeKey::dur], 3);
  if (!ts || !dur) {
    unknown(event, "events without a time");
    return false;
  }
  if (*dur < 0) {
    unknown(event, "negative durations, not used");
    return false;
  }
  if (*ts == 0 && *dur == 0) {
    unknown(event, "records with zero stamps, not used");
    return false;
  }
  if (*ts > INT64_MAX - *dur) {
    unknown(event, "events beyond the range of time");
    return false;
  }
  begin = *ts;
  length = *dur;
  return true;
}

uint32_t KinetoImport::correlation(const ChromeValues& values) {
  const int64_t id = values.integer_or(ChromeKey::correlation, 0);
  return id > 0 && id < INT64_C(0xffffffff) ? static_cast<uint32_t>(id) : 0;
}

void KinetoImport::fill_range(Event& out, std::string_view name) {
  out.kind = is_step(name) ? EventKind::step : is_input(name) ? EventKind::input : EventKind::annotation;
  out.phase = phase_of(name);
}

void KinetoImport::fill(Event& out, Category category, const ChromeValues& values) {
  switch (category) {
    case Category::op: {
      const bool backward = values.integer_or(ChromeKey::forward_thread, 0) != 0 ||
                            name_.starts_with("autograd::engine::evaluate_function");
      out.kind = backward ? EventKind::backward_op : EventKind::op;
      out.phase = backward ? EventPhase::backward : phase_of(name_);
      out.link = link_of_sequence(values.integer_or(ChromeKey::sequence, -1));
      out.detail = values.op();
      return;
    }
    case Category::kernel:
      out.kind = is_collective_kernel(name_) ? EventKind::collective : EventKind::kernel;
      out.link = correlation(values);
      out.detail = out.kind == EventKind::collective ? values.collective() : values.kernel();
      return;
    case Category::memcpy:
    case Category::memset:
      out.kind = category == Category::memcpy ? EventKind::memcpy : EventKind::memset;
      out.link = correlation(values);
      out.detail = values.copy(name_);
      return;
    case Category::runtime:
      out.kind = is_sync_call(name_) ? EventKind::sync : EventKind::api;
      out.link = correlation(values);
      return;
    case Category::sync:
      out.kind = EventKind::sync;
      out.link = correlation(values);
      out.detail = values.sync();
      return;
    case Category::device_event:
      out.kind = EventKind::device_event;
      return;
    case Category::overhead:
      out.kind = EventKind::overhead;
      return;
    case Category::off_cpu:
      out.kind = EventKind::off_cpu;
      return;
    case Category::annotation:
      return fill_range(out, name_);
    case Category::device_annotation:
    case Category::other:
      out.kind = EventKind::annotation;
  }
}

void KinetoImport::duration(const ChromeEvent& event) {
  const ChromeValues values(event, trace_, scratch_, compact_);
  Event out;
  if (!times(event, out.begin, out.duration)) return;
  const Category category = category_of(values.text(ChromeKey::cat));
  name_.assign(values.text(ChromeKey::name));
  out.name = trace_.string(name_);
  const std::string_view pid = event[ChromeKey::pid], tid = event[ChromeKey::tid];
  out.track = is_device(category) ? tracks_.stream(pid, tid, event[ChromeKey::device], event[ChromeKey::stream])
                                  : tracks_.host(pid, tid);
  fill(out, category, values);
  trace_.add(out);
}

void KinetoImport::metadata(const ChromeEvent& event) {
  const ChromeValues values(event, trace_, scratch_, compact_);
  if (values.text(ChromeKey::name) != "thread_name") return;
  const std::string name(values.text(ChromeKey::args_name));
  tracks_.name_thread(event[ChromeKey::pid], event[ChromeKey::tid], name);
}

void KinetoImport::instant(const ChromeEvent& event) {
  const ChromeValues values(event, trace_, scratch_, compact_);
  const auto at = values.nanoseconds(ChromeKey::ts);
  if (!at) return unknown(event, "events without a time");
  if (values.text(ChromeKey::name) != "[memory]") return;
  const int64_t bytes = values.integer_or(ChromeKey::bytes, 0);
  if (bytes == INT64_MIN) return unknown(event, "allocations of impossible size");
  trace_.add({.begin = *at,
              .name = trace_.string("[memory]"),
              .detail = values.memory(bytes < 0 ? -bytes : bytes),
              .track = tracks_.host(event[ChromeKey::pid], event[ChromeKey::tid]),
              .kind = bytes < 0 ? EventKind::free : EventKind::alloc});
}

void KinetoImport::counter(const ChromeEvent& event) {
  const ChromeValues values(event, trace_, scratch_, compact_);
  const auto at = values.nanoseconds(ChromeKey::ts);
  const auto value = values.integer(ChromeKey::value);
  if (!at || !value) return;  // counters of other shapes are a viewer's affair
  const StringId name = values.string(ChromeKey::name);
  trace_.add({.begin = *at,
              .name = name,
              .detail = trace_.detail(CounterDetail{*value}),
              .track = tracks_.host(event[ChromeKey::pid], event[ChromeKey::tid]),
              .kind = EventKind::counter});
}

void KinetoImport::property(std::string_view key, std::string_view json) {
  if (key == "baseTimeNanoseconds") trace_.base_epoch_ns = whole_number(json);
  trace_.facts[std::string(key)] = without_blanks(json, scratch_);
  if (key != "distributedInfo") return;
  try {
    const auto rank = maybe<double>(parse_json(json, "distributedInfo"), "rank");
    if (rank && *rank >= 0 && *rank < INT32_MAX) rank_ = static_cast<int32_t>(*rank);
  } catch (const Error& e) {
    trace_.fault("no rank", e.what());
  }
}

}  // namespace

void import_kineto(ByteSource& source, Trace& trace) {
  KinetoImport import(trace);
  read_chrome(source, import);
  import.finish();
}

}  // namespace tbd
