#include "record/link_sweep.h"

#include "base/codec.h"

namespace tbd {

using codec::Is;

namespace {

struct Exchanged {
  DType dtype;
  std::string_view precision;
};
constexpr Exchanged kExchanged[] = {
    {DType::f32, "fp32"}, {DType::bf16, "bf16"}, {DType::f16, "fp16"}, {DType::f64, "fp64"}};

}  // namespace

DType exchanged_type(std::string_view precision) {
  std::vector<std::string> known;
  for (const Exchanged& each : kExchanged) {
    if (each.precision == precision) return each.dtype;
    known.emplace_back(each.precision);
  }
  fail(ErrorKind::usage, unknown_name("type", precision, known), "; known are ", join(known, ", "));
}

std::string_view exchanged_name(DType dtype) {
  const auto* found = std::ranges::find(kExchanged, dtype, &Exchanged::dtype);
  return found == std::end(kExchanged) ? name(dtype) : found->precision;
}

constexpr codec::JsonForm kFileForm = codec::JsonForm::message;

template <Is<LinkTimes> T>
void fields(T& times, auto visit) {
  visit("dtype", times.dtype);
  visit("bytes", times.bytes);
  visit("times_ns", times.times_ns);
  visit("busy_ns", times.busy_ns);
}
template <Is<LinkSweep> T>
void fields(T& sweep, auto visit) {
  visit("created", sweep.created);
  visit("tool", sweep.tool);
  visit("framework", sweep.framework);
  visit("framework_version", sweep.framework_version);
  visit("engine", sweep.engine);
  visit("workers", sweep.workers);
  visit("link", sweep.link);
  visit("threads", sweep.threads);
  visit("sizes", sweep.sizes);
}

namespace {

void check_sizes(const LinkSweep& sweep) {
  require(sweep.workers >= 2, "an exchange needs 2 workers, got ", sweep.workers);
  for (const LinkTimes& size : sweep.sizes) {
    require(size.bytes > 0 && !size.times_ns.empty(), size.bytes, " bytes, ", size.times_ns.size(), " repetitions");
    for (const int64_t ns : size.times_ns) require(ns > 0, "an exchange of ", size.bytes, " bytes took ", ns, " ns");
    const int64_t busy = size.busy_ns.value_or(0);
    require(busy >= 0, "an exchange of ", size.bytes, " bytes kept processors busy for ", busy, " ns");
  }
}

}  // namespace

std::string to_text(const LinkSweep& sweep, const JsonValue& environment) {
  Json json = {{"version", kLinkVersion}};
  json.update(codec::write_fields<kFileForm>(sweep));
  json["environment"] = *environment;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

LinkSweep link_sweep_from(std::string_view text, std::string_view where) try {
  const Json json = parse_json(text, "link sweep");
  const int version = at<int>(json, "version");
  require(version == kLinkVersion, "the sweep has version ", version, ", this tbd reads ", kLinkVersion);
  LinkSweep sweep;
  codec::read_fields<kFileForm>(json, sweep);
  check_sizes(sweep);
  const Json environment = maybe<Json>(json, "environment").value_or(Json::object());
  sweep.environment_hash = maybe<std::string>(environment, "hash").value_or("");
  return sweep;
} catch (const Error& e) {
  throw e.within(where);
}

}  // namespace tbd
