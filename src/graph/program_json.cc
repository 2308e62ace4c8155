// The JSON form of programs: docs/program.md.
#include "base/codec.h"
#include "graph/program.h"

namespace tbd {
namespace codec {

template <>
struct EnumNames<Init::Kind> {
  static constexpr std::string_view kNames[] = {"zeros", "ones", "constant", "normal", "uniform", "truncated_normal"};
};
template <>
struct EnumNames<Optimizer::Kind> {
  static constexpr std::string_view kNames[] = {"sgd", "adam", "adamw", "lamb"};
};
template <>
struct EnumNames<Schedule::Kind> {
  static constexpr std::string_view kNames[] = {"constant", "step",         "cosine",          "noam",
                                                "poly",     "linear_decay", "exp_warmup_step", "exp_decay"};
};
template <>
struct EnumNames<Schedule::Unit> {
  static constexpr std::string_view kNames[] = {"step", "epoch", "sample"};
};
template <>
struct Noun<Phase> {
  static constexpr std::string_view kText = "phase";
};
template <>
struct Noun<InputSpec> {
  static constexpr std::string_view kText = "input";
};
template <>
struct Noun<Parameter> {
  static constexpr std::string_view kText = "parameter";
};
template <>
struct Noun<LossTerm> {
  static constexpr std::string_view kText = "loss term";
};
template <>
struct Noun<ParameterGroup> {
  static constexpr std::string_view kText = "group";
};
template <>
struct Noun<StepEntry> {
  static constexpr std::string_view kText = "step entry";
};
template <>
struct Noun<Dim> {
  static constexpr std::string_view kText = "axis";
};

// A node is known by its op: "conv2d 'conv1'".
template <>
std::string element_label<Node>(const Json& json, size_t index) {
  const auto text = [&](const char* key) {
    return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
  };
  if (text("name").empty()) return cat("node ", index);
  return cat(text("op").empty() ? "node" : text("op"), " '", text("name"), "'");
}

}  // namespace codec

using codec::Is;
using codec::Must;

Json to_json_value(const Dim& dim) { return dim.symbol.empty() ? Json(dim.extent) : Json(dim.symbol); }
void from_json_value(const Json& json, Dim& dim) {
  if (json.is_string())
    dim = Dim(json.get<std::string>());
  else
    dim = Dim(codec::integer(json));
  require(!json.is_string() || !dim.symbol.empty(), "a symbol has no name");
}

template <Is<InputSpec> T>
void fields(T& input, auto visit) {
  visit("name", Must{input.name});
  visit("shape", input.shape);
  visit("dtype", input.dtype);
  visit("like", input.like);
}
template <Is<Init> T>
void fields(T& init, auto visit) {
  visit("kind", Must{init.kind});
  visit("a", init.a);
  visit("low", init.low);
  visit("high", init.high);
  visit("zero_row", init.zero_row);
}
template <Is<Parameter> T>
void fields(T& parameter, auto visit) {
  visit("name", Must{parameter.name});
  visit("shape", Must{parameter.shape});
  visit("dtype", parameter.dtype);
  visit("init", parameter.init);
}
template <Is<LossTerm> T>
void fields(T& term, auto visit) {
  visit("name", Must{term.name});
  visit("value", Must{term.value});
  visit("norm", term.norm);
}
template <Is<Optimizer> T>
void fields(T& optimizer, auto visit) {
  visit("kind", Must{optimizer.kind});
  visit("momentum", optimizer.momentum);
  visit("nesterov", optimizer.nesterov);
  visit("beta1", optimizer.beta1);
  visit("beta2", optimizer.beta2);
  visit("epsilon", optimizer.epsilon);
  visit("bias_correction", optimizer.bias_correction);
}
template <Is<ParameterGroup> T>
void fields(T& group, auto visit) {
  visit("parameters", Must{group.parameters});
  visit("weight_decay", group.weight_decay);
  visit("lr_scale", group.lr_scale);
}
template <Is<Schedule> T>
void fields(T& schedule, auto visit) {
  visit("kind", Must{schedule.kind});
  visit("base", Must{schedule.base});
  visit("batch_reference", schedule.batch_reference);
  visit("batch_power", schedule.batch_power);
  visit("unit", schedule.unit);
  visit("epoch_samples", schedule.epoch_samples);
  visit("milestones", schedule.milestones);
  visit("factor", schedule.factor);
  visit("warmup", schedule.warmup);
  visit("warmup_from", schedule.warmup_from);
  visit("total", schedule.total);
  visit("degree", schedule.degree);
  visit("width", schedule.width);
  visit("decay_from", schedule.decay_from);
  visit("decays", schedule.decays);
}
template <Is<Update> T>
void fields(T& update, auto visit) {
  visit("optimizer", Must{update.optimizer});
  visit("groups", update.groups);
  visit("schedule", Must{update.schedule});
  visit("clip_norm", update.clip_norm);
  visit("loss_scale", update.loss_scale);
  visit("ema", update.ema);
}
template <Is<StepEntry> T>
void fields(T& entry, auto visit) {
  visit("phase", Must{entry.phase});
  visit("repeat", entry.repeat);
  visit("from_step", entry.from_step);
  visit("fresh_inputs", entry.fresh_inputs);
}

// {"name": "conv1", "op": "conv2d", "inputs": ["image", "conv1.weight"], "attributes": {"out": 64}}
Json to_json_value(const Node& node) {
  Json out = {{"name", node.name}, {"op", kind(node.op)}, {"inputs", node.inputs}};
  if (Json attributes = attributes_to_json(node.op); !attributes.empty()) out["attributes"] = std::move(attributes);
  return out;
}
void from_json_value(const Json& json, Node& node) {
  codec::expect(json.is_object(), "an object", json);
  std::string op;
  std::vector<std::string> known;
  const codec::Reader<codec::JsonForm::definition> read{json, known};
  read("name", Must{node.name});
  read("op", Must{op});
  read("inputs", Must{node.inputs});
  known.emplace_back("attributes");
  codec::refuse_unknown(json, known);
  node.op = op_from_json(op, json.contains("attributes") ? json["attributes"] : Json::object());
}

template <Is<Phase> T>
void fields(T& phase, auto visit) {
  visit("name", Must{phase.name});
  visit("inputs", phase.inputs);
  visit("nodes", phase.nodes);
  visit("loss", phase.loss);
  visit("outputs", phase.outputs);
  visit("update", phase.update);
  visit("accumulate", phase.accumulate);
}
template <Is<Program> T>
void fields(T& program, auto visit) {
  visit("version", Must{program.version});
  visit("model", program.model);
  visit("config", program.config);
  visit("unit", program.unit);
  visit("symbols", program.symbols);
  visit("step", program.step);
  visit("parameters", program.parameters);
  visit("buffers", program.buffers);
  visit("phases", program.phases);
}

Json to_json(const Program& program) { return codec::write_fields<codec::JsonForm::definition>(program); }

Program program_from_json(const Json& json) {
  codec::expect(json.is_object(), "a program, which is an object", json);
  const auto version = json.find("version");
  require(version != json.end(), "'version' is missing: not a program");
  const int64_t number = codec::integer(*version);
  require(number >= 1, "program version ", number, " does not exist");
  if (number > kProgramVersion)
    fail(ErrorKind::unsupported, "program version ", number, " is newer than version ", kProgramVersion,
         ", the newest that this build reads");
  Program program;
  codec::read_fields<codec::JsonForm::definition>(json, program);
  return program;
}

Program read_program(std::string_view text, std::string_view where) {
  const Json json = parse_json(text, where);
  try {
    return program_from_json(json);
  } catch (const Error& e) {
    throw e.within(where);
  }
}

}  // namespace tbd
