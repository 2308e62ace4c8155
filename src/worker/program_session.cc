#include "worker/program_session.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "worker/inputs.h"

namespace tbd {
namespace {

const StepEntry* entry_of(const Program& program, const std::string& phase) {
  const auto found = std::ranges::find(program.step, phase, &StepEntry::phase);
  return found == program.step.end() ? nullptr : &*found;
}

// No engine does these together.
void require_way(const World& world) {
  if (world.every > 1 && (world.exchange != ExchangeMode::kAllReduce || world.wire != WireType::kSame))
    fail(ErrorKind::unsupported, "weights become their mean as they are, with exchange all_reduce and wire same, not ",
         world.exchange, " and ", world.wire);
}

}  // namespace

void require_one_op_at_once(const LoadOptions& options, std::string_view framework) {
  if (options.interop > 1)
    fail(ErrorKind::unsupported, "interop ", options.interop, ": ", framework, "'s ops run one after the other");
}

void ProgramSession::load(const Program& program, const LoadOptions& options) {
  require(bound_.empty(), "a session loads one program");
  require(options.interop >= 1, "ops that run at once must be at least 1, got ", options.interop);
  require(options.threads >= 1, "threads must be at least 1, got ", options.threads);
  require(!options.device_memory_bytes || options.device != Device::kCpu, "the CPU has no memory of a device");
  require_place(options.world.place);
  require_way(options.world);
  program_ = program;
  options_ = options;
  Store& store = open(program_, options_);
  std::set<std::string> averaged;
  for (const Phase& phase : program_.phases) {
    const BoundPhase& bound = *bound_.emplace_back(std::make_unique<BoundPhase>(program_, phase, options_));
    averaged.insert(bound.averaged.begin(), bound.averaged.end());
    const StepEntry* entry = entry_of(program_, phase.name);
    if (!entry) entry = &evaluations_.emplace_back(StepEntry{.phase = phase.name});
    runs_.emplace_back(bound, lower(bound), entry, options_);
  }
  for (const StepEntry& entry : program_.step) {
    program_.phase(entry.phase);  // throws with the nearest names
    PhaseRuns& phase = *std::ranges::find(runs_, entry.phase, &PhaseRuns::name);
    require(phase.entry() == &entry, "phase '", entry.phase, "' stands twice in the step list");
    steps_.push_back(&phase);
  }
  state_.emplace(program_, store, averaged);
}

void ProgramSession::require_place(const RankPlace& place) const {
  require(place.world >= 1 && place.rank >= 0 && place.rank < place.world, "rank ", place.rank, " of ", place.world);
  if (const SessionIdentity self = identity(); place.world > 1 && self.exchanges.empty())
    fail(ErrorKind::unsupported, "the worker of ", self.framework, " cannot sum gradients over ", place.world,
         " ranks");
}

std::string ProgramSession::rank_identity() const {
  const SessionIdentity self = identity();
  std::string extents;
  for (const auto& [name, extent] : options_.bindings) extents += cat(extents.empty() ? "" : ", ", name, " ", extent);
  return cat("framework: ", self.framework, " ", self.version, "\nprogram: ", program_hash(program_),
             "\nextents: ", extents, "\nlayout: ", options_.layout, "\nmode: ", options_.mode,
             "\nseed: ", options_.seed, "\nranks: ", options_.world.place.world,
             "\nexchange: ", options_.world.exchange, "\nwire: ", options_.world.wire,
             "\nsteps alone: ", options_.world.every, "\nbytes of a bucket: ", options_.world.bucket_bytes);
}

void ProgramSession::average_weights() { fail(ErrorKind::internal, "this session averages no weights"); }

void ProgramSession::require_sums_alone(const World& world) {
  if (world.every > 1) fail(ErrorKind::unsupported, "ranks of this framework exchange gradients in every step");
  if (world.exchange != ExchangeMode::kAllReduce && world.exchange != ExchangeMode::kNone)
    fail(ErrorKind::unsupported, "ranks of this framework each keep all optimizer state: they sum gradients on all, ",
         "or on none, not by exchange ", world.exchange);
}

void ProgramSession::require_alike(const std::vector<std::string>& identities) {
  const std::vector<std::string> first = split(identities.at(0), '\n');
  for (size_t rank = 1; rank < identities.size(); ++rank) {
    const std::vector<std::string> other = split(identities[rank], '\n');
    require(other.size() == first.size(), "rank ", rank, " cannot train with rank 0: it is of another version");
    const auto [own, differs] = std::ranges::mismatch(first, other);
    if (own != first.end()) fail(ErrorKind::invalid, "rank ", rank, " has ", *differs, "; rank 0 has ", *own);
  }
}

void ProgramSession::write(const TensorMap& values) {
  TensorMap weights;
  std::map<std::string, int64_t> updates;
  for (const auto& [name, value] : values)
    if (name.starts_with(kUpdatesPrefix))
      updates[name.substr(kUpdatesPrefix.size())] = std::llround(as_doubles(value).at(0));
    else
      weights[name] = value;
  for (const auto& [phase, count] : updates) run_alone(phase);  // throws before anything is changed
  state_->write(weights);
  for (const auto& [phase, count] : updates) run_alone(phase).set_applied_updates(count);
}

TensorMap ProgramSession::read(const std::vector<std::string>& prefixes) {
  TensorMap out;
  state_->read(prefixes, out);
  for (const PhaseRuns* phase : steps_)
    if (const std::string name = cat(kUpdatesPrefix, phase->name()); starts_with_any(name, prefixes))
      out[name] = scalar_tensor(static_cast<double>(phase->applied_updates()), DType::f64);
  for (const PhaseRuns& phase : runs_)
    for (const auto& [name, tensor] : phase.captured())
      if (starts_with_any(name, prefixes)) out[name] = tensor;
  for (const PhaseRuns& phase : runs_) {
    const std::string name = runs_.size() == 1 ? "loss" : cat("loss/", phase.name());
    if (options_.capture && phase.loss() && starts_with_any(name, prefixes))
      out[name] = scalar_tensor(*phase.loss(), DType::f64);
  }
  return out;
}

void ProgramSession::stage(const TensorMap& batch) {
  staged_ = false;
  for (PhaseRuns& phase : runs_) phase.unstage();
  std::vector<std::pair<PhaseRuns*, std::vector<const HostTensor*>>> found;
  for (PhaseRuns& phase : runs_)
    if (takes_part(phase)) found.emplace_back(&phase, phase.find_inputs(batch));
  for (const auto& [phase, inputs] : found) phase->stage(inputs);
  staged_ = true;
}

bool ProgramSession::takes_part(const PhaseRuns& phase) const {
  return evaluated_ ? &phase == evaluated_ : std::ranges::find(steps_, &phase) != steps_.end();
}

TensorMap ProgramSession::evaluate(const std::string& phase, const TensorMap& batch) {
  program_.phase(phase);  // throws with the nearest names
  const auto found = std::ranges::find(runs_, phase, &PhaseRuns::name);
  require(std::ranges::find(steps_, &*found) == steps_.end(), "phase '", phase, "' is a part of the step");
  evaluated_ = &*found;
  try {
    stage(batch);
    run_step({});
  } catch (...) {
    end_evaluation();
    throw;
  }
  end_evaluation();
  return found->captured();
}

void ProgramSession::end_evaluation() {
  evaluated_ = nullptr;
  staged_ = false;
}

PhaseRuns& ProgramSession::run_alone(const std::string& phase) {
  program_.phase(phase);  // throws with the nearest names
  const auto found = std::ranges::find(steps_, phase, &PhaseRuns::name);
  if (found == steps_.end()) fail(ErrorKind::invalid, "no step entry runs the phase '", phase, "'");
  return **found;
}

StepReport ProgramSession::step(const StepRequest& request) {
  require(options_.trace || !request.traced, "a traced step needs a program loaded for pass trace");
  require(staged_, "a step needs staged inputs");
  if (request.only_phase) run_alone(*request.only_phase);
  return run_step(request);
}

StepReport ProgramSession::run_step(const StepRequest& request) {
  state_->start_averages();
  for (PhaseRuns& phase : runs_) phase.forget_loss();
  StepReport report;
  if (evaluated_) {
    run_phase(*evaluated_, 1, request, report);
  } else if (request.only_phase) {
    run_phase(run_alone(*request.only_phase), 1, request, report);
  } else {
    for (PhaseRuns* phase : steps_)
      if (request.number >= phase->entry()->from_step) run_phase(*phase, phase->entry()->repeat, request, report);
  }
  report.votes = request.votes_to_end ? 1 : 0;
  report.votes_to_measure = request.votes_to_measure ? 1 : 0;
  if (options_.world.place.world > 1 && !evaluated_) end_step(request, report);
  if (!std::isfinite(report.loss)) report.loss = std::numeric_limits<double>::quiet_NaN();
  return report;
}

// By the step's own number: a run that goes on after a pause takes the same steps.
void ProgramSession::end_step(const StepRequest& request, StepReport& report) {
  if (options_.world.averages_weights() && request.number % options_.world.every == 0) average_weights();
  add_up(report);
}

// One exchange: what a step says of itself is the same on all ranks, so all of them end a run after the same step.
void ProgramSession::add_up(StepReport& report) {
  std::vector<double> values = {static_cast<double>(report.votes), static_cast<double>(report.votes_to_measure)};
  for (const PhaseRuns* phase : steps_) {
    const std::vector<double> shares = phase->shares();
    values.insert(values.end(), shares.begin(), shares.end());
  }
  sum_over_ranks(values);
  report.votes = std::llround(values[0]);
  report.votes_to_measure = std::llround(values[1]);
  size_t at = 2;
  for (PhaseRuns* phase : steps_) {
    const size_t count = phase->shares().size();
    phase->set_sums(std::span(values).subspan(at, count));
    at += count;
    if (count > 0) report.loss = report.losses[phase->name()] = *phase->loss();
  }
}

void ProgramSession::run_phase(PhaseRuns& phase, int64_t repeats, const StepRequest& request, StepReport& report) {
  report.loss = report.losses[phase.name()] = phase.run(repeats, request);
  if (phase.rows()) report.rows = report.rows.value_or(0) + *phase.rows();
}

std::string ProgramSession::first_non_finite() {
  std::string found = state_->first_non_finite();
  for (PhaseRuns& phase : runs_)
    if (found.empty()) found = phase.first_non_finite_gradient();
  return found;
}

}  // namespace tbd
