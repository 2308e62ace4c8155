#include "worker/protocol.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace tbd::protocol {
namespace {

// JSON has no NaN or infinity: they travel as strings.
Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}
double number_from(const Json& json, std::string_view key) {
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::nan("");
  if (json == "inf") return HUGE_VAL;
  if (json == "-inf") return -HUGE_VAL;
  fail(ErrorKind::invalid, "'", key, "' is not a number: ", json.dump().substr(0, 60));
}

// One visit of a message's fields serves writing and reading.
struct Writer {
  Json& json;
  template <class T>
  void operator()(const char* key, const T& value) {
    json[key] = value;
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  void operator()(const char* key, double value) { json[key] = number(value); }
  void operator()(const char* key, const JsonValue& value) { json[key] = *value; }
  void operator()(const char* key, const Program& value) { json[key] = to_json(value); }
  void operator()(const char* key, const std::map<std::string, double>& value) {
    Json& object = json[key] = Json::object();
    for (const auto& [name, x] : value) object[name] = number(x);
  }
  void operator()(const char* key, const std::map<std::string, std::string>& value) { object(key, value); }
  void operator()(const char* key, const Bindings& value) { object(key, value); }
  void operator()(const char* key, const InputPlan& value);
  void operator()(const char* key, const std::vector<NodeRow>& value);

 private:
  template <class Map>
  void object(const char* key, const Map& value) {
    Json& object = json[key] = Json::object();
    for (const auto& [name, x] : value) object[name] = x;
  }
};

struct Reader {
  const Json& json;
  template <class T>
  void operator()(const char* key, T& value) {
    value = at<T>(json, key);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    value = maybe<T>(json, key);
  }
  void operator()(const char* key, int64_t& value) { integer(key, value); }
  void operator()(const char* key, uint64_t& value) { integer(key, value); }
  void operator()(const char* key, int& value) { integer(key, value); }
  void operator()(const char* key, double& value) { value = number_from(at<Json>(json, key), key); }
  void operator()(const char* key, std::optional<double>& value) {
    if (const auto found = maybe<Json>(json, key)) value = number_from(*found, key);
  }
  void operator()(const char* key, Program& value) { value = program_from_json(at<Json>(json, key)); }
  void operator()(const char* key, JsonValue& value) { *value = object(key); }
  void operator()(const char* key, std::map<std::string, double>& value) {
    const Json all = object(key);
    for (const auto& [name, x] : all.items()) value[name] = number_from(x, name);
  }
  void operator()(const char* key, std::map<std::string, std::string>& value) {
    const Json all = object(key);
    for (const auto& [name, x] : all.items()) value[name] = at<std::string>(all, name);
  }
  void operator()(const char* key, Bindings& value) {
    const Json all = object(key);
    for (const auto& [name, x] : all.items()) Reader{all}(name.c_str(), value[name]);
  }
  void operator()(const char* key, InputPlan& value);
  void operator()(const char* key, std::vector<NodeRow>& value);
  void rows(const char* key, JsonValue& value) {  // an array of arrays
    *value = at<Json>(json, key);
    const bool arrays =
        value->is_array() && std::ranges::all_of(*value, [](const Json& row) { return row.is_array(); });
    require(arrays, "'", key, "' has the wrong type: ", value->dump().substr(0, 60));
  }

 private:
  template <class T>
  void integer(const char* key, T& value) {
    const Json found = at<Json>(json, key);
    require(found.is_number_integer(), "'", key, "' is not a whole number: ", found.dump().substr(0, 60));
    value = found.get<T>();
  }
  Json object(const char* key) const {
    Json found = at<Json>(json, key);
    require(found.is_object(), "'", key, "' is not an object: ", found.dump().substr(0, 60));
    return found;
  }
};

template <class Io, class M>
void fields(Io&, M&) {}  // messages without content
template <class Io>
void fields(Io& io, Hello& m) {
  io("version", m.version);
}
template <class Io>
void fields(Io& io, Check& m) {
  io("program", m.program);
}
template <class Io>
void fields(Io& io, Load& m) {
  io("program", m.program);
  io("bindings", m.bindings);
  io("device", m.device);
  io("layout", m.layout);
  io("mode", m.mode);
  io("precision", m.precision);
  io("dropout", m.dropout);
  io("threads", m.threads);
  io("seed", m.seed);
  io("capture", m.capture);
  io("pass", m.pass);
}
template <class Io>
void fields(Io& io, Write& m) {
  io("file", m.file);
}
template <class Io>
void fields(Io& io, Read& m) {
  io("prefixes", m.prefixes);
  io("file", m.file);
}
template <class Io>
void fields(Io& io, InputPlan& m) {
  io("mode", m.mode);
  io("file", m.file);
  io("source", m.source);
  io("save", m.save);
}
template <class Io>
void fields(Io& io, Run& m) {
  io("steps", m.steps);
  io("seconds", m.seconds);
  io("first_step", m.first_step);
  io("at_step", m.at_step);
  io("lr", m.lr);
  io("phase", m.phase);
  io("input", m.input);
  io("traced", m.traced);
  io("files", m.files);
}
template <class Io>
void fields(Io& io, Gemm& m) {
  io("precision", m.precision);
  io("seconds", m.seconds);
}
template <class Io>
void fields(Io& io, HelloReply& m) {
  io("version", m.version);
  io("framework", m.framework);
  io("framework_version", m.framework_version);
  io("modes", m.modes);
  io("devices", m.devices);
  io("precisions", m.precisions);
  io("layouts", m.layouts);
  io("passes", m.passes);
  io("pipeline", m.pipeline);
  io("build", m.build);
}
template <class Io>
void fields(Io& io, NodeRow& m) {
  io("phase", m.phase);
  io("node", m.node);
  io("kind", m.kind);
  io("level", m.level);
  io("detail", m.detail);
}
template <class Io>
void fields(Io& io, CheckReply& m) {
  io("nodes", m.nodes);
}
template <class Io>
void fields(Io& io, LoadReply& m) {
  io("batch", m.batch);
  io("parameters", m.parameters);
  io("threads", m.threads);
  io("settings", m.settings);
  io("seconds", m.seconds);
}
template <class Io>
void fields(Io& io, WriteReply& m) {
  io("tensors", m.tensors);
}
template <class Io>
void fields(Io& io, ReadReply& m) {
  io("tensors", m.tensors);
}
void fields(Writer& io, Steps& m) { io("rows", m.rows); }
void fields(Reader& io, Steps& m) { io.rows("rows", m.rows); }
template <class Io>
void fields(Io& io, RunReply& m) {
  io("steps", m.steps);
  io("ended", m.ended);
  io("nonfinite", m.nonfinite);
  io("losses", m.losses);
  io("launch", m.launch);
}
template <class Io>
void fields(Io& io, GemmReply& m) {
  io("flop_rate", m.flop_rate);
}
template <class Io>
void fields(Io& io, Failure& m) {
  io("kind", m.kind);
  io("sentence", m.sentence);
  io("fatal", m.fatal);
}

void Writer::operator()(const char* key, const InputPlan& value) {
  Json& object = json[key] = Json::object();
  Writer inner{object};
  fields(inner, const_cast<InputPlan&>(value));  // a Writer only reads
}
void Writer::operator()(const char* key, const std::vector<NodeRow>& value) {
  Json& list = json[key] = Json::array();
  for (NodeRow row : value) {
    Writer inner{list.emplace_back(Json::object())};
    fields(inner, row);
  }
}
void Reader::operator()(const char* key, InputPlan& value) {
  const Json inner = object(key);
  Reader reader{inner};
  fields(reader, value);
}
void Reader::operator()(const char* key, std::vector<NodeRow>& value) {
  const Json list = at<Json>(json, key);
  require(list.is_array(), "'", key, "' is not a list: ", list.dump().substr(0, 60));
  for (const Json& entry : list) {
    Reader reader{entry};
    fields(reader, value.emplace_back());
  }
}

constexpr const char* kRequests[] = {"hello", "check", "load", "write", "read", "run", "gemm", "stop", "bye"};
static_assert(std::size(kRequests) == std::variant_size_v<Request>);
constexpr const char* kMessages[] = {"hello", "check", "load", "write", "read",
                                     "steps", "run",   "gemm", "bye",   "failure"};
static_assert(std::size(kMessages) == std::variant_size_v<Message>);

template <class Variant, class Names>
std::string line_of(const Variant& variant, const Names& names) {
  Json json = {{"type", names[variant.index()]}};
  std::visit(
      [&]<class M>(const M& message) {
        Writer writer{json};
        fields(writer, const_cast<M&>(message));  // a Writer only reads
      },
      variant);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The alternative at `index`, with its fields read.
template <class Variant, size_t I = 0>
Variant read_alternative(size_t index, const Json& json) {
  if constexpr (I < std::variant_size_v<Variant>) {
    if (I != index) return read_alternative<Variant, I + 1>(index, json);
    std::variant_alternative_t<I, Variant> message;
    Reader reader{json};
    fields(reader, message);
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

}  // namespace tbd::protocol
