// A network's whole training step, framework-neutral: what is stored, hashed, sent to workers and lowered.
// The JSON form is docs/program.md. Extents that vary (the batch) are symbols, so one program serves every batch.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/op.h"

namespace tbd {

inline constexpr int kProgramVersion = 1;

// An extent of an input: fixed, or a symbol bound when the program is bound ("N" is the batch).
struct Dim {
  int64_t extent = 0;  // when symbol is empty
  std::string symbol;
  Dim(int64_t fixed = 0) : extent(fixed) {}
  Dim(std::string name) : symbol(std::move(name)) {}
  bool operator==(const Dim&) const = default;
};
using Bindings = std::map<std::string, int64_t>;  // {"N", 8}

struct InputSpec {
  std::string name;
  std::vector<Dim> shape;
  DType dtype = DType::f32;
  // When set, `shape` is empty and the shape is that of this value; where that is an attention or a dropout still to
  // come when the input is first read, the shape of its mask.
  std::string like;
  bool operator==(const InputSpec&) const = default;
};

struct Parameter {  // a parameter, or a buffer in Program::buffers
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
  Init init;
  bool operator==(const Parameter&) const = default;
};

// Operands are named: an input, parameter, buffer, or a node ("conv1"; its later results are "conv1:1", ...).
struct Node {
  std::string name;
  Op op;
  std::vector<std::string> inputs;
  bool operator==(const Node&) const = default;
};

// A loss term: the scalar `value` times the input scalar "norm/<name>". A phase's loss is the sum of its terms.
struct LossTerm {
  std::string name;
  std::string value;
  double norm = 1;  // numerator of the norm: norm/<name> = norm / (global batch), unless the loader says otherwise
  bool operator==(const LossTerm&) const = default;
};

struct Optimizer {
  // lamb divides by max(1, global gradient norm) itself (docs/conventions.md).
  enum class Kind { sgd, adam, adamw, lamb };
  Kind kind = Kind::sgd;
  double momentum = 0;  // sgd
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // adam, adamw, lamb
  bool bias_correction = true;                        // adamw
  bool operator==(const Optimizer&) const = default;
};

struct ParameterGroup {
  std::vector<std::string> parameters;
  double weight_decay = 0;
  double lr_scale = 1;
  bool operator==(const ParameterGroup&) const = default;
};

// The learning rate as a function of step and batch (graph/schedule.h evaluates it, in double, in one place).
struct Schedule {
  enum class Kind { constant, step, cosine, noam, poly, linear_decay, exp_warmup_step, exp_decay };
  enum class Unit { step, epoch, sample };
  Kind kind = Kind::constant;
  double base = 0.1;
  int64_t batch_reference = 0;  // base is for this global batch; 0: for every batch
  double batch_power = 1;       // lr = base (B / reference)^power
  Unit unit = Unit::step;       // of milestones, warm-up and total; sample: x samples are ceil(x / batch) steps
  int64_t epoch_samples = 0;    // samples of one epoch, for Unit::epoch
  std::vector<double> milestones;
  double factor = 0.1;  // step: at each milestone; exp_decay: per epoch
  double warmup = 0;    // linear from warmup_from to base; poly, linear_decay: a fraction of total
  double warmup_from = 0;
  double total = 0;       // cosine, poly, linear_decay
  double degree = 1;      // poly
  double width = 0;       // noam: model width d
  double decay_from = 0;  // exp_warmup_step: fraction of total from which the rate falls
  int64_t decays = 0;     // exp_warmup_step: how many times it falls at most
  bool operator==(const Schedule&) const = default;
};

struct Update {
  Optimizer optimizer;
  std::vector<ParameterGroup> groups;  // together the phase's trained parameters (wrt), each once
  Schedule schedule;
  std::optional<double> clip_norm;  // global norm of all gradients of the phase
  bool loss_scale = false;          // dynamic, set by the fp16 pass
  std::optional<double> ema;        // decay of the average of weights and float buffers
  bool operator==(const Update&) const = default;
};

struct Phase {
  std::string name;
  std::vector<InputSpec> inputs;
  std::vector<Node> nodes;
  std::vector<LossTerm> loss;
  std::map<std::string, std::string> outputs;  // output name -> value
  Update update;
  int64_t accumulate = 1;                // micro-batches summed before one update
  std::vector<std::string> wrt() const;  // the trained parameters, in the order of the groups
  bool operator==(const Phase&) const = default;
};

struct StepEntry {
  std::string phase;
  int64_t repeat = 1;
  int64_t from_step = 1;     // steps count from 1
  bool fresh_inputs = true;  // each repetition has a batch of its own: inputs "critic.0/real" ... ; false: one batch
  bool operator==(const StepEntry&) const = default;
};

struct Program {
  int version = kProgramVersion;
  std::string model, config;
  std::string unit = "samples";  // of throughput
  std::vector<Parameter> parameters, buffers;
  std::vector<Phase> phases;
  std::vector<StepEntry> step;
  Bindings symbols;  // default binding of each symbol but "N"

  const Phase& phase(std::string_view name) const;  // throws Error(not_found) with the nearest names
  bool operator==(const Program&) const = default;
};

Json to_json(const Program& program);
// Throws Error(invalid) that says where: "phase 'train': conv2d 'conv1': unknown attribute 'kernal', ...".
// A newer version is refused with a sentence.
Program program_from_json(const Json& json);
Program read_program(std::string_view text, std::string_view where);

// Binds every phase and checks the whole: names unique, operands exist, groups cover known parameters, step entries
// name phases, outputs and loss terms exist. Throws Error(invalid).
void validate(const Program& program, const Bindings& bindings);

// First 16 hex digits of SHA-256 of the canonical JSON (keys sorted, no white space), model and config names left
// out, so that an alias hashes as what it names.
std::string program_hash(const Program& program);

// The input names of one step in the order of the step list: "image", or "critic.0/real" for a repeated phase with
// fresh inputs (StepEntry). accumulate > 1 prefixes micro-batches the same way: "train.1/image"; a repetition's
// micro-batches follow each other. A name without prefix that two phases share is one tensor, listed once.
// The scalars norm/<term> are not listed: the step loop computes them.
struct StepInput {
  std::string name;  // as the batch names it
  std::string phase;
  int64_t run = 0;        // which repetition or micro-batch
  const InputSpec* spec;  // points into the program
};
std::vector<StepInput> step_inputs(const Program& program);
std::string input_name(const Program& program, const StepEntry& entry, int64_t run, const std::string& input);
// The nodes of all phases, one phase after the other: "<phase>/<node>" where there are several.
std::vector<std::string> node_names(const Program& program);
// By the name of a parameter, buffer or input: the number in node_names of the first node that reads it.
std::map<std::string, int32_t> first_readers(const Program& program);
// Names of parameters that some convolution takes as its weight, itself or cast; sorted.
std::vector<std::string> convolution_weights(const Program& program);

}  // namespace tbd
