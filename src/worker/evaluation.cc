#include "worker/evaluation.h"

#include <algorithm>
#include <numeric>

#include "base/json.h"
#include "measure/clock.h"
#include "record/pictures.h"
#include "worker/data_report.h"
#include "worker/inputs.h"
#include "worker/sample_rows.h"
#include "worker/store.h"

namespace tbd {
namespace {

// A term over the set, and what it is divided by.
struct TermSum {
  double sum = 0, count = 0;
};

bool of_samples(const std::string& name) { return !name.starts_with(kCount); }

// Rows from `samples` on become copies of the first; with 0, all do.
TensorMap filled(const TensorMap& batch, int64_t samples, int64_t rows) {
  std::vector<int64_t> taken(static_cast<size_t>(rows), 0);
  std::iota(taken.begin(), taken.begin() + samples, int64_t{0});
  TensorMap out;
  for (const auto& [name, tensor] : batch) out[name] = of_samples(name) ? gathered_rows(tensor, taken) : tensor;
  return out;
}

// While it lives the session answers by the averages of its weights. Weights without one stay as they are.
class AveragedWeights {
 public:
  explicit AveragedWeights(Session& session) : session_(session) {
    const std::string slot = cat("/", kAverageSlot);
    TensorMap averages;
    for (auto& [name, tensor] : session_.read({std::string(kStatePrefix)})) {
      if (!name.ends_with(slot)) continue;
      averages[name.substr(kStatePrefix.size(), name.size() - kStatePrefix.size() - slot.size())] = std::move(tensor);
    }
    if (averages.empty()) return;
    trained_ = session_.read({std::string(kParameterPrefix), std::string(kBufferPrefix)});
    TensorMap written;
    for (const auto& [name, tensor] : trained_)
      if (const auto average = averages.find(name.substr(name.find('/') + 1)); average != averages.end())
        written[name] = average->second;
    session_.write(written);
  }
  ~AveragedWeights() {
    if (!trained_.empty()) session_.write(trained_);
  }
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  Session& session_;
  TensorMap trained_;
};

// As the program reads it; of `split` unless the source says otherwise.
SourceSpec fitted_spec(const protocol::Load& loaded, const Json& asked, const char* split) {
  Json source = asked.is_object() ? asked : Json::object();
  if (!source.contains("split")) source["split"] = split;
  std::optional<DataSource> data = fitted_source(input_needs(loaded.program, loaded.bindings), source, loaded.seed);
  if (!data) fail(ErrorKind::unsupported, "no data can be made for what this program reads");
  return std::move(data->spec);
}

std::unique_ptr<Source> with_end(const SourceSpec& spec) {
  std::unique_ptr<Source> source = open_source(spec);
  if (!source->size()) fail(ErrorKind::unsupported, "this needs a data set with an end, not made data");
  return source;
}

class HeldOut {
 public:
  HeldOut(Session& session, const protocol::Load& loaded, const protocol::Evaluate& request)
      : session_(session), request_(request), phase_(loaded.program.phase(request.phase)) {
    Program alone = loaded.program;
    alone.step = {{.phase = request.phase}};
    needs_ = input_needs(alone, loaded.bindings);
    const SourceSpec spec = fitted_spec(loaded, *request.source, "val");
    source_ = with_end(spec);
    seed_ = loaded.seed;
    judge_ = make_judge(request.judge, spec, phase_, [this](const TensorMap& batch) {
      return outputs_of(session_.evaluate(phase_.name, inputs_of(batch)));
    });
    batch_ = spec.batch;
  }

  protocol::EvaluateReply run(const std::function<bool()>& stopped) {
    const int64_t begin = now_ns(), steps = *source_->steps_per_epoch();
    for (int64_t step = 1; step <= steps && !enough(); ++step) {
      if (stopped()) fail(ErrorKind::io, "the evaluation was stopped after ", reply_.samples, " samples");
      TensorMap batch = source_->next(step);
      const int64_t samples = samples_of(batch);
      add_noise(step, batch);
      take(std::move(batch), samples);
    }
    finish();
    reply_.wall_seconds = seconds_since(begin);
    *reply_.data = data_report(source_->statistics(), source_->data_hash());
    return std::move(reply_);
  }

 private:
  bool enough() const { return request_.samples > 0 && reply_.samples >= request_.samples; }

  // What a generator begins with, the same in each evaluation; no data give it.
  void add_noise(int64_t step, TensorMap& batch) const {
    for (InputNeed need : needs_.inputs) {
      if (batch.contains(need.base) || !is_noise(need)) continue;
      need.name = cat("held_out/", need.base);  // a stream of its own: training draws from that of the input
      batch[need.base] = generated_input(need, seed_, step);
    }
  }
  static bool is_noise(const InputNeed& need) { return is_float(need.dtype) && !need.keep && !need.padding; }

  void take(TensorMap batch, int64_t samples) {
    const bool whole = samples == batch_;
    if (!whole) batch = filled(batch, samples, batch_);
    const TensorMap answers = answers_of(batch);
    for (const LossTerm& term : phase_.loss) {
      TermSum& sum = terms_[term.name];
      sum.sum += as_doubles(answers.at(cat("term/", term.name))).front();
      const auto counted = batch.find(cat(kCount, term.name));
      sum.count += counted == batch.end() ? static_cast<double>(samples) : as_doubles(counted->second).front();
    }
    if (!whole && !phase_.loss.empty()) take_out_filling(batch, samples);
    if (judge_) judged([&] { judge_->add(batch, outputs_of(answers), samples); });
    reply_.samples += samples;
  }

  template <class Judging>
  void judged(const Judging& judging) {
    const int64_t begin = now_ns();
    judging();
    reply_.judging_seconds += seconds_since(begin);
  }
  static double seconds_since(int64_t begin_ns) { return 1e-9 * static_cast<double>(now_ns() - begin_ns); }

  // A batch of nothing but the first sample has its terms times the batch.
  void take_out_filling(const TensorMap& batch, int64_t samples) {
    const TensorMap answers = answers_of(filled(batch, 0, batch_));
    const double share = static_cast<double>(batch_ - samples) / static_cast<double>(batch_);
    for (const LossTerm& term : phase_.loss)
      terms_[term.name].sum -= share * as_doubles(answers.at(cat("term/", term.name))).front();
  }

  static int64_t samples_of(const TensorMap& batch) {
    for (const auto& [name, tensor] : batch)
      if (of_samples(name) && tensor.shape().rank() > 0) return tensor.shape()[0];
    return 0;
  }

  TensorMap inputs_of(const TensorMap& batch) const {
    TensorMap inputs;
    for (const InputNeed& need : needs_.inputs) {
      const auto found = batch.find(need.base);
      if (found == batch.end())
        fail(ErrorKind::unsupported, "the data do not give '", need.base, "', which phase '", phase_.name, "' reads");
      inputs[need.name] = found->second.dtype() == need.dtype ? found->second : converted(found->second, need.dtype);
    }
    for (const auto& [name, norm] : needs_.norms) inputs[name] = scalar_tensor(1, norm.dtype());
    return inputs;
  }

  TensorMap answers_of(const TensorMap& batch) {
    const TensorMap inputs = inputs_of(batch);
    const int64_t begin = now_ns();
    TensorMap answers = session_.evaluate(phase_.name, inputs);
    reply_.seconds += seconds_since(begin);
    return answers;
  }

  void finish() {
    if (judge_) judged([&] { reply_.metrics = judge_->metrics(); });
    double loss = 0;
    for (const LossTerm& term : phase_.loss) loss += term.norm * terms_[term.name].sum / terms_[term.name].count;
    if (!phase_.loss.empty()) reply_.metrics["loss"] = loss;
    if (judge_ && request_.pictures > 0) write_pictures(request_.files, judge_->pictures(request_.pictures));
  }

  Session& session_;
  const protocol::Evaluate& request_;
  const Phase& phase_;
  InputNeeds needs_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Judge> judge_;
  int64_t batch_ = 1;
  uint64_t seed_ = 0;
  std::map<std::string, TermSum> terms_;
  protocol::EvaluateReply reply_;
};

}  // namespace

protocol::EvaluateReply evaluate(Session& session, const protocol::Load& loaded, const protocol::Evaluate& request,
                                 const std::function<bool()>& stopped) {
  std::optional<AveragedWeights> averaged;
  if (request.averaged) averaged.emplace(session);
  return HeldOut(session, loaded, request).run(stopped);
}

TensorMap outputs_of(const TensorMap& captured) {
  constexpr std::string_view kOutput = "output/";
  TensorMap outputs;
  for (const auto& [name, tensor] : captured)
    if (name.starts_with(kOutput)) outputs[name.substr(kOutput.size())] = tensor;
  return outputs;
}

protocol::SurveyReply survey(const protocol::Load& loaded, const protocol::Survey& request) {
  const auto part = [&](const char* split) {
    SourceSpec spec = fitted_spec(loaded, *request.source, split);
    spec.threads = 0;  // nothing is prepared ahead
    return with_end(spec);
  };
  const std::unique_ptr<Source> train = part("train"), held_out = part("val");
  return {.samples = *train->size(),
          .held_out = *held_out->size(),
          .steps_per_epoch = std::max<int64_t>(1, *train->steps_per_epoch()),
          .hash = train->data_hash()};
}

}  // namespace tbd
