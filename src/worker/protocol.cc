#include "worker/protocol.h"

#include <algorithm>

#include "base/codec.h"

namespace tbd {

Json to_json_value(const Program& program) { return to_json(program); }
void from_json_value(const Json& json, Program& program) { program = program_from_json(json); }

template <codec::Is<World> M>
void fields(M& m, auto visit) {
  visit("rank", m.place.rank);
  visit("size", m.place.world);
  visit("store", m.store);
  visit("addresses", m.addresses);
  visit("ports", m.ports);
  visit("timeout_seconds", m.timeout_seconds);
  visit("exchange", m.exchange);
  visit("wire", m.wire);
  visit("every", m.every);
  visit("bucket_bytes", m.bucket_bytes);
}

namespace protocol {

using codec::Is;

template <class M>
requires std::is_empty_v<M>
void fields(M&, auto) {}  // messages without content
template <Is<Hello> M>
void fields(M& m, auto visit) {
  visit("version", m.version);
}
template <Is<Check> M>
void fields(M& m, auto visit) {
  visit("program", m.program);
}
template <Is<Load> M>
void fields(M& m, auto visit) {
  visit("program", m.program);
  visit("bindings", m.bindings);
  visit("device", m.device);
  visit("layout", m.layout);
  visit("mode", m.mode);
  visit("precision", m.precision);
  visit("dropout", m.dropout);
  visit("threads", m.threads);
  visit("interop", codec::Later{m.interop});
  visit("seed", m.seed);
  visit("capture", m.capture);
  visit("pass", m.pass);
  visit("device_memory_bytes", m.device_memory_bytes);
  visit("world", m.world);
}
template <Is<Write> M>
void fields(M& m, auto visit) {
  visit("file", m.file);
}
template <Is<Read> M>
void fields(M& m, auto visit) {
  visit("prefixes", m.prefixes);
  visit("file", m.file);
}
template <Is<InputPlan> M>
void fields(M& m, auto visit) {
  visit("mode", m.mode);
  visit("file", m.file);
  visit("source", m.source);
  visit("save", m.save);
}
template <Is<Run> M>
void fields(M& m, auto visit) {
  visit("steps", m.steps);
  visit("seconds", m.seconds);
  visit("first_step", m.first_step);
  visit("at_step", m.at_step);
  visit("lr", m.lr);
  visit("phase", m.phase);
  visit("input", m.input);
  visit("traced", m.traced);
  visit("files", m.files);
}
template <Is<Evaluate> M>
void fields(M& m, auto visit) {
  visit("phase", m.phase);
  visit("source", m.source);
  visit("judge", m.judge);
  visit("samples", m.samples);
  visit("pictures", m.pictures);
  visit("files", m.files);
  visit("averaged", m.averaged);
}
template <Is<Answer> M>
void fields(M& m, auto visit) {
  visit("phase", m.phase);
  visit("file", m.file);
  visit("to", m.to);
}
template <Is<Survey> M>
void fields(M& m, auto visit) {
  visit("source", m.source);
}
template <Is<Gemm> M>
void fields(M& m, auto visit) {
  visit("precision", m.precision);
  visit("seconds", m.seconds);
}
template <Is<Link> M>
void fields(M& m, auto visit) {
  visit("dtype", m.dtype);
  visit("bytes", m.bytes);
  visit("repetitions", m.repetitions);
  visit("seconds", m.seconds);
}
template <Is<HelloReply> M>
void fields(M& m, auto visit) {
  visit("version", m.version);
  visit("framework", m.framework);
  visit("framework_version", m.framework_version);
  visit("modes", m.modes);
  visit("devices", m.devices);
  visit("precisions", m.precisions);
  visit("layouts", m.layouts);
  visit("passes", m.passes);
  visit("pipeline", m.pipeline);
  visit("exchanges", m.exchanges);
  visit("build", m.build);
}
template <Is<NodeRow> M>
void fields(M& m, auto visit) {
  visit("phase", m.phase);
  visit("node", m.node);
  visit("kind", m.kind);
  visit("level", m.level);
  visit("detail", m.detail);
}
template <Is<CheckReply> M>
void fields(M& m, auto visit) {
  visit("nodes", m.nodes);
}
template <Is<LoadReply> M>
void fields(M& m, auto visit) {
  visit("batch", m.batch);
  visit("parameters", m.parameters);
  visit("threads", m.threads);
  visit("settings", m.settings);
  visit("seconds", m.seconds);
}
template <Is<WriteReply> M>
void fields(M& m, auto visit) {
  visit("tensors", m.tensors);
}
template <Is<ReadReply> M>
void fields(M& m, auto visit) {
  visit("tensors", m.tensors);
}
template <Is<Steps> M>
void fields(M& m, auto visit) {
  visit("rows", m.rows);
}
template <Is<RunReply> M>
void fields(M& m, auto visit) {
  visit("steps", m.steps);
  visit("ended", m.ended);
  visit("nonfinite", m.nonfinite);
  visit("losses", m.losses);
  visit("launch", m.launch);
}
template <Is<EvaluateReply> M>
void fields(M& m, auto visit) {
  visit("samples", m.samples);
  visit("seconds", m.seconds);
  visit("judging_seconds", m.judging_seconds);
  visit("wall_seconds", m.wall_seconds);
  visit("metrics", m.metrics);
  visit("data", m.data);
}
template <Is<AnswerReply> M>
void fields(M& m, auto visit) {
  visit("seconds", m.seconds);
}
template <Is<SurveyReply> M>
void fields(M& m, auto visit) {
  visit("samples", m.samples);
  visit("held_out", m.held_out);
  visit("steps_per_epoch", m.steps_per_epoch);
  visit("hash", m.hash);
}
template <Is<GemmReply> M>
void fields(M& m, auto visit) {
  visit("flop_rate", m.flop_rate);
}
template <Is<LinkReply> M>
void fields(M& m, auto visit) {
  visit("began_ns", m.began_ns);
  visit("ended_ns", m.ended_ns);
  visit("busy_ns", m.busy_ns);
}
template <Is<PingReply> M>
void fields(M& m, auto visit) {
  visit("step", m.step);
}
template <Is<Failure> M>
void fields(M& m, auto visit) {
  visit("kind", m.kind);
  visit("sentence", m.sentence);
  visit("fatal", m.fatal);
  visit("step", m.step);
}

namespace {

constexpr const char* kRequests[] = {"hello",  "check",  "load", "write", "read", "run",  "evaluate",
                                     "answer", "survey", "gemm", "link",  "stop", "ping", "bye"};
static_assert(std::size(kRequests) == std::variant_size_v<Request>);
constexpr const char* kMessages[] = {"hello",  "check",  "load", "write", "read", "steps", "run",    "evaluate",
                                     "answer", "survey", "gemm", "link",  "ping", "bye",   "failure"};
static_assert(std::size(kMessages) == std::variant_size_v<Message>);

template <class Variant, class Names>
std::string line_of(const Variant& variant, const Names& names) {
  Json json = {{"type", names[variant.index()]}};
  std::visit([&]<class M>(const M& message) { fields(message, codec::Writer<codec::JsonForm::message>{json}); },
             variant);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The alternative at `index`, with its fields read.
template <class Variant, size_t I = 0>
Variant read_alternative(size_t index, const Json& json) {
  if constexpr (I < std::variant_size_v<Variant>) {
    if (I != index) return read_alternative<Variant, I + 1>(index, json);
    std::variant_alternative_t<I, Variant> message;
    codec::read_fields<codec::JsonForm::message>(json, message);
    return message;
  } else {
    fail(ErrorKind::internal, "no message of index ", index);
  }
}

template <class Variant, class Names>
Variant from_line(std::string_view line, const Names& names, std::string_view where) {
  const Json json = parse_json(line, where);
  std::string type;
  try {
    type = at<std::string>(json, "type");
    const std::vector<std::string> known(std::begin(names), std::end(names));
    for (size_t i = 0; i < known.size(); ++i)
      if (known[i] == type) return read_alternative<Variant>(i, json);
    fail(ErrorKind::invalid, unknown_name("type of message", type, known));
  } catch (const Error& e) {
    throw e.within(type.empty() ? std::string(where) : cat(where, " '", type.substr(0, 40), "'"));
  } catch (const nlohmann::json::exception& e) {
    fail(ErrorKind::invalid, where, " '", type.substr(0, 40), "': ", e.what());
  }
}

}  // namespace

std::string to_line(const Request& request) { return line_of(request, kRequests); }
std::string to_line(const Message& message) { return line_of(message, kMessages); }
Request request_from(std::string_view line) { return from_line<Request>(line, kRequests, "request"); }
Message message_from(std::string_view line) { return from_line<Message>(line, kMessages, "message"); }

}  // namespace protocol
}  // namespace tbd
