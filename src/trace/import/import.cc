#include "trace/import/import.h"

#include <new>

#include "base/error.h"
#include "trace/file.h"
#include "trace/import/kineto.h"
#include "trace/import/mxnet.h"
#include "trace/import/nsight.h"
#include "trace/import/source.h"
#include "trace/import/step_stats.h"
#include "trace/import/xplane.h"

namespace tbd {
namespace {

constexpr size_t kLook = 64 << 10;

std::string first_bytes(const std::filesystem::path& path) {
  const auto source = open_source(path);
  std::string bytes(kLook, '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const size_t got = source->read(bytes.data() + have, bytes.size() - have);
    if (got == 0) break;
    have += got;
  }
  bytes.resize(have);
  return bytes;
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// MXNet pairs begins and ends; Kineto writes whole spans.
bool is_mxnet(std::string_view text) {
  const bool begins = holds(text, "\"ph\": \"B\"") || holds(text, "\"ph\":\"B\"");
  return begins && !holds(text, "\"ph\": \"X\"") && !holds(text, "\"ph\":\"X\"");
}

// A byte-order mark, or a bracket beside zero bytes.
bool is_wide_json(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return true;
  if (text.size() < 4 || (text[0] != '\0' && text[1] != '\0')) return false;
  const auto bracket = [&](size_t i) { return text[i] == '{' || text[i] == '['; };
  return text[0] != '\0' ? bracket(0) : bracket(1) || bracket(3);
}

void import_as(TraceFormat format, const std::filesystem::path& path, Trace& trace) {
  switch (format) {
    case TraceFormat::native:
      return read_trace(path, trace);
    case TraceFormat::kineto:
      return import_kineto(*open_source(path), trace);
    case TraceFormat::mxnet:
      return import_mxnet(*open_source(path), trace);
    case TraceFormat::nsight:
      return import_nsight(path, trace);
    case TraceFormat::xplane:
      return import_xplane(*open_source(path), trace);
    case TraceFormat::step_stats:
      return import_step_stats(*open_source(path), trace);
  }
}

}  // namespace

std::string_view name(TraceFormat format) {
  constexpr std::string_view kNames[] = {"tbd trace",   "torch.profiler (Kineto) JSON", "Nsight Systems SQLite",
                                         "XLA profile", "TensorFlow step statistics",   "MXNet profile"};
  return kNames[static_cast<size_t>(format)];
}

TraceFormat trace_format(const std::filesystem::path& path) {
  const std::string bytes = first_bytes(path);
  require(!bytes.empty(), path.string(), " is empty");
  if (is_trace_file(bytes)) return TraceFormat::native;
  if (bytes.starts_with("SQLite format 3")) return TraceFormat::nsight;
  std::string_view text = bytes;
  if (is_wide_json(text)) fail(ErrorKind::invalid, path.string(), ": the text is UTF-16 or UTF-32, JSON is UTF-8");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \n\t\r");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '['))
    return is_mxnet(text) ? TraceFormat::mxnet : TraceFormat::kineto;
  const std::string file = path.filename().string();
  if (file.ends_with(".xplane.pb") || file.ends_with(".xplane.pb.gz")) return TraceFormat::xplane;
  if (file.ends_with(".pb") || file.ends_with(".pb.gz") || holds(file, "RunMetadata") || holds(file, "run_metadata") ||
      holds(file, "step_stats"))
    return TraceFormat::step_stats;
  fail(ErrorKind::invalid, path.string(),
       " is no trace that tbd reads: neither JSON nor SQLite nor a trace of tbd, and not named *.pb");
}

void import_trace(const std::filesystem::path& path, Trace& trace) {
  const TraceFormat format = trace_format(path);
  try {
    import_as(format, path, trace);
  } catch (const Error& e) {
    throw std::string_view(e.what()).starts_with(path.string()) ? e : e.within(path.string());
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::io, path.string(), ": its events do not fit in memory");
  }
  trace.facts.try_emplace("source", name(format));
}

}  // namespace tbd
