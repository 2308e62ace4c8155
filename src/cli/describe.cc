// tbd describe: a network's layers, sizes and costs; no framework is asked.
#include <ostream>
#include <set>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/workload_options.h"
#include "graph/expand.h"
#include "graph/least_batch.h"
#include "graph/memory.h"
#include "graph/passes.h"
#include "graph/ragged_rows.h"
#include "models/model.h"

namespace tbd::cli {
namespace {

// Elements, over the whole program.
struct Sizes {
  int64_t parameters = 0, trainable = 0, buffers = 0, weight_bytes = 0;
};
Sizes sizes_of(const Program& program) {
  Sizes out;
  std::map<std::string, int64_t> elements;
  for (const Parameter& p : program.parameters) {
    elements[p.name] = p.shape.elements();
    out.parameters += p.shape.elements();
    out.weight_bytes += p.shape.elements() * size_of(p.dtype);
  }
  for (const Parameter& b : program.buffers) out.buffers += b.shape.elements();
  std::set<std::string> trained;
  for (const Phase& phase : program.phases)
    for (const std::string& name : phase.wrt())
      if (trained.insert(name).second) out.trainable += elements[name];
  return out;
}

// "T=128": extents of the program's symbols. The batch has an option of its own.
Bindings bindings_from(const Program& program, const std::vector<std::string>& shapes) {
  Bindings bindings = program.symbols;
  std::vector<std::string> known;
  for (const auto& [symbol, extent] : program.symbols) known.push_back(symbol);
  for (const std::string& shape : shapes) {
    const std::vector<std::string> parts = split(shape, '=');
    if (parts.size() != 2) fail(ErrorKind::usage, "--shape needs SYMBOL=EXTENT, got '", shape, "'");
    if (!program.symbols.contains(parts[0])) {
      if (known.empty()) fail(ErrorKind::usage, "--shape cannot set anything of this network; --batch sets the batch");
      fail(ErrorKind::usage, unknown_name("extent", parts[0], known));
    }
    bindings[parts[0]] = positive(parts[1], "--shape");
  }
  return bindings;
}

// What is said of one sample is counted at two and halved: batch statistics need more than one.
struct PerSample {
  int64_t forward_macs = 0, train_flops = 0;
};
PerSample per_sample(const Program& program, Bindings bindings) {
  bindings["N"] = 2;
  const NodeCost cost = step_cost(program, bindings);
  return {cost.forward.model / 2 / 2, (cost.forward.model + cost.backward.model) / 2};
}

Json layer_json(const LayerRow& row) {
  return {{"name", row.name},
          {"op", row.kind},
          {"output", row.output.extents()},
          {"parameters", row.parameters},
          {"forward_macs", row.forward_macs},
          {"train_flops", row.train_flops},
          {"bytes", row.bytes.value},
          {"saved_bytes", row.saved.value}};
}

void require_rows(std::optional<int64_t> rows, int64_t most) {
  if (!rows) return;
  if (most == 0) fail(ErrorKind::usage, "--rows sets nothing of this network: it has no ragged rows");
  if (*rows > most) fail(ErrorKind::usage, "--rows is ", *rows, ", of ", most, " ragged rows");
}

struct Description {
  Program program;
  Bindings bindings;
  std::string hash;
  Sizes sizes;
  PerSample sample;
  int64_t most_rows = 0;        // 0: the program has no ragged rows
  std::optional<int64_t> rows;  // that memory counts; absent: all
  MemoryPrediction memory;
  std::vector<std::pair<std::string, std::vector<LayerRow>>> phases;
};
Description describe(Program program, const Bindings& bindings, Precision precision, std::optional<int64_t> rows,
                     Keeper keeper) {
  Description out{.program = program, .bindings = bindings, .hash = program_hash(program), .rows = rows};
  out.most_rows = most_rows(program, bindings);
  require_rows(rows, out.most_rows);
  out.sizes = sizes_of(program);
  out.sample = per_sample(program, out.bindings);
  const Program in_precision = with_precision(std::move(program), precision);
  out.memory = predict_memory(in_precision, out.bindings, rows, keeper);
  const Program lowered = expanded_for_counts(in_precision);
  for (const Phase& phase : lowered.phases) {
    const Graph graph = tbd::bind(lowered, phase, out.bindings);
    out.phases.emplace_back(phase.name, layer_table(rows ? with_rows(graph, *rows) : graph, keeper));
  }
  return out;
}

Json memory_json(const Description& d) {
  Json out = {{"weights", d.memory.weights.value},
              {"weight_copies", d.memory.weight_copies.value},
              {"gradients", d.memory.gradients.value},
              {"optimizer_state", d.memory.optimizer_state.value},
              {"feature_maps", d.memory.feature_maps.value},
              {"inputs", d.memory.inputs.value},
              {"backward", d.memory.backward.value},
              {"kernels", d.memory.kernels.value},
              {"peak", d.memory.peak().value}};
  if (d.most_rows > 0) out["ragged_rows"] = d.rows.value_or(d.most_rows);
  return out;
}

Json description_json(const Description& d, Precision precision) {
  Json layers = Json::array();
  int64_t weighted = 0;
  for (const auto& [phase, rows] : d.phases)
    for (const LayerRow& row : rows) {
      layers.push_back(layer_json(row));
      weighted += row.kind == "conv2d" || row.kind == "linear";
      if (d.phases.size() > 1) layers.back()["phase"] = phase;
    }
  return {{"model", d.program.model},
          {"config", d.program.config},
          {"model_hash", d.hash},
          {"parameters", d.sizes.parameters},
          {"trainable_parameters", d.sizes.trainable},
          {"buffers", d.sizes.buffers},
          {"weight_bytes", d.sizes.weight_bytes},
          {"forward_macs", d.sample.forward_macs},
          {"train_flops", d.sample.train_flops},
          {"batch", d.bindings.at("N")},
          {"precision", precision.text()},
          {"unit", d.program.unit},
          {"predicted_memory_bytes", memory_json(d)},
          {"matrix_layers", weighted},
          {"layers", layers}};
}

Table layers_table(const std::string& phase, const std::vector<LayerRow>& rows) {
  Table table{.title = cat("Layers of phase ", phase),
              .columns = {{"layer", "layer"},
                          {"op", "op"},
                          {"output", "output"},
                          {"parameters", "parameters", Unit::count},
                          {"forward_macs", "forward MACs", Unit::count},
                          {"train_flops", "train FLOPs", Unit::count},
                          {"bytes", "bytes moved", Unit::bytes},
                          {"saved_bytes", "kept for backward", Unit::bytes}},
              .rows = {},
              .notes = {}};
  for (const LayerRow& row : rows)
    table.rows.push_back({row.name, row.kind, cat(row.output), row.parameters, row.forward_macs, row.train_flops,
                          row.bytes.value, row.saved.value});
  return table;
}

std::vector<std::string> memory_notes(const Description& d, Precision precision) {
  std::vector<std::string> out = {
      cat("Memory is predicted for batch ", d.bindings.at("N"), " in ", precision.text(),
          ", without the framework's own and its workspaces. Its peak is weights, optimizer "
          "state, feature maps, inputs and backward at its worst moment, gradients among it.")};
  if (d.rows)
    out.push_back(cat("Of ", d.most_rows, " ragged rows ", *d.rows, " are valid."));
  else if (d.most_rows > 0)
    out.push_back(cat("All ", d.most_rows, " ragged rows are valid: an upper bound; --rows says how many are."));
  return out;
}

Table facts_table(const Description& d, Precision precision) {
  Table out = {.title = cat(d.program.model, d.program.config.empty() ? "" : " " + d.program.config),
               .columns = {{"what", "what"}, {"value", "value"}},
               .rows = {{"parameters", grouped(d.sizes.parameters)},
                        {"trainable parameters", grouped(d.sizes.trainable)},
                        {"buffers", grouped(d.sizes.buffers)},
                        {"weight bytes", grouped(d.sizes.weight_bytes)},
                        {"forward MACs per sample", grouped(d.sample.forward_macs)},
                        {"train FLOPs per sample", grouped(d.sample.train_flops)},
                        {"model hash", d.hash},
                        {"weights", format_bytes(d.memory.weights.value + d.memory.weight_copies.value)},
                        {"gradients", format_bytes(d.memory.gradients.value)},
                        {"optimizer state", format_bytes(d.memory.optimizer_state.value)},
                        {"feature maps", format_bytes(d.memory.feature_maps.value)},
                        {"inputs", format_bytes(d.memory.inputs.value)},
                        {"backward, over what it lets go", format_bytes(d.memory.backward.value)}},
               .notes = memory_notes(d, precision)};
  if (d.memory.kernels > Bytes(0))
    out.rows.push_back({"copies and workspaces of kernels", format_bytes(d.memory.kernels.value)});
  out.rows.push_back({"predicted peak", format_bytes(d.memory.peak().value)});
  return out;
}

class Describe final : public Command {
 public:
  std::string name() const override { return "describe"; }
  std::string summary() const override {
    return "Show layers, parameters, MACs, FLOPs, bytes and predicted memory of a model";
  }

  void declare(Options& options) override {
    options.positional("MODEL", model_, "Model name or path of a program file", {.required = true});
    options.option("--config", config_, "Configuration of the model [its first]");
    options.option("--batch", batch_, "Batch size for layers and memory [the least that the network takes: 1 or 2]");
    options.option("--framework", framework_,
                   "Framework by whose rules memory is predicted: pytorch, tensorflow, mxnet", {.show_default = true});
    options.option("--precision", precision_, "Precision for layers and memory: fp64, fp32, tf32, bf16 or fp16",
                   {.show_default = true});
    options.option("--shape", shapes_, "Set sizes of the network's symbols, such as T=128,S=64 [the network's own]",
                   {.separator = ','});
    options.option("--rows", rows_, "Valid rows of what is ragged, such as regions with a mask, for memory [all]");
    options.flag("--program", program_,
                 "Print the program as JSON; commands accept a file of it in place of a model name");
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    const std::optional<int64_t> batch = batch_.empty() ? std::nullopt : std::optional(positive(batch_, "--batch"));
    const std::optional<int64_t> rows = rows_.empty() ? std::nullopt : std::optional(positive(rows_, "--rows"));
    const Precision precision(precision_);
    require_known(precision);
    const Program program = load_program(model_, config_).program;
    if (program_) {
      context.out << tbd::to_json(program).dump(1) << "\n";
      return kDone;
    }
    Bindings bindings = bindings_from(program, shapes_);
    bindings["N"] = batch ? *batch : least_batch(program, bindings);
    const Description description = describe(program, bindings, precision, rows, known_keeper(framework_));
    if (format == Format::json) {
      context.out << description_json(description, precision).dump() << "\n";
      return kDone;
    }
    if (format != Format::csv) context.out << print(facts_table(description, precision), format, context.width) << "\n";
    for (const auto& [phase, rows] : description.phases)
      context.out << print(layers_table(phase, rows), format, context.width);
    return kDone;
  }

 private:
  std::string model_, config_, batch_, rows_, framework_ = "pytorch", precision_ = "fp32";
  std::vector<std::string> shapes_;
  bool program_ = false;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_describe() { return std::make_unique<Describe>(); }

}  // namespace tbd::cli
