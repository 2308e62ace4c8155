#include "runner/lowerings.h"

#include <algorithm>

#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "graph/passes.h"
#include "models/model.h"
#include "runner/worker_process.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

using Answers = std::map<LoweringQuestion, Lowering>;

Lowering::State state_from(std::string_view text) {
  using S = Lowering::State;
  for (const S state : {S::runs, S::composed, S::unsupported})
    if (name(state) == text) return state;
  fail(ErrorKind::invalid, "unknown state of a lowering: ", text);
}

// Networks may change with this program, lowerings with the worker.
std::string worker_identity(const WorkerEntry& entry) {
  std::error_code failed;
  const auto changed = fs::last_write_time("/proc/self/exe", failed).time_since_epoch().count();
  return cat(capability_key(entry), " ", fs::read_symlink("/proc/self/exe", failed).string(), " ", changed);
}

fs::path kept_in(const WorkerEntry& entry, const fs::path& cache) {
  return cache / "lowerings" / (sha256_hex(entry.worker.string()).substr(0, 16) + ".json");
}

Answers read_kept(const WorkerEntry& entry, const fs::path& cache) {
  const fs::path file = kept_in(entry, cache);
  Answers answers;
  if (!fs::exists(file)) return answers;
  try {
    const Json kept = parse_json(read_file(file), file.string());
    if (at<std::string>(kept, "key") != worker_identity(entry)) return answers;
    for (const Json& row : at<Json>(kept, "lowerings"))
      answers[{at<std::string>(row, "model"), at<std::string>(row, "config"),
               Precision(at<std::string>(row, "precision"))}] = {
          .state = state_from(at<std::string>(row, "state")),
          .composed = at<Json>(row, "composed").get<std::map<std::string, std::string>>(),
          .reason = at<std::string>(row, "reason")};
  } catch (const std::exception&) {  // a cache that cannot be read is no cache
    answers.clear();
  }
  return answers;
}

void keep(const WorkerEntry& entry, const fs::path& cache, const Answers& answers) {
  if (cache.empty()) return;
  Json rows = Json::array();
  for (const auto& [question, lowering] : answers)
    rows.push_back({{"model", question.model},
                    {"config", question.config},
                    {"precision", question.precision},
                    {"state", name(lowering.state)},
                    {"composed", lowering.composed},
                    {"reason", lowering.reason}});
  const fs::path file = kept_in(entry, cache);
  make_folder(file.parent_path());
  write_file_atomic(file, Json{{"key", worker_identity(entry)}, {"lowerings", rows}}.dump() + "\n");
}

class Asking {
 public:
  Asking(const WorkerEntry& entry, const RunnerSettings& settings)
      : settings_(settings),
        worker_(entry, settings, allowed_environment(settings.environment), {}, scratch_.path() / "log") {
    worker_.hello();
  }
  Lowering ask(const LoweringQuestion& question) {
    Program program = load_program(question.model, question.config).program;
    program = with_precision(with_dropout(std::move(program), DropoutMode::kFramework), question.precision);
    return lowering_from(
        worker_.ask<protocol::CheckReply>(protocol::Check{program}, "checking the program", settings_.deadlines.load));
  }
  void bye() { worker_.bye(); }

 private:
  const RunnerSettings& settings_;
  TemporaryFolder scratch_;  // the log, whose last line says why a worker did not start
  WorkerProcess worker_;
};

bool offered(const protocol::HelloReply& can, const Precision& precision) {
  return std::ranges::find(can.precisions, precision) != can.precisions.end();
}

void ask_all(const WorkerEntry& entry, std::span<const LoweringQuestion> questions, const RunnerSettings& settings,
             Answers& answers) {
  try {
    Asking asking(entry, settings);
    for (const LoweringQuestion& question : questions) answers[question] = asking.ask(question);
    asking.bye();
  } catch (const WorkerFault& fault) {
    fail(ErrorKind::unsupported, fault.what());
  }
}

}  // namespace

std::string_view name(Lowering::State state) {
  switch (state) {
    case Lowering::State::runs:
      return "runs";
    case Lowering::State::composed:
      return "composed";
    case Lowering::State::unsupported:
      return "unsupported";
  }
  return "";
}

Lowering lowering_from(const protocol::CheckReply& reply) {
  Lowering lowering;
  for (const protocol::NodeRow& row : reply.nodes) {
    if (row.level == "unsupported")
      return {.state = Lowering::State::unsupported,
              .composed = {},
              .reason = cat("node '", row.node, "' (", row.kind, "): ", row.detail)};
    if (row.level == "composed") lowering.composed.try_emplace(row.kind, row.detail);
  }
  if (!lowering.composed.empty()) lowering.state = Lowering::State::composed;
  return lowering;
}

std::vector<Lowering> lowerings(const WorkerEntry& entry, std::span<const LoweringQuestion> questions,
                                const RunnerSettings& settings) {
  const protocol::HelloReply can = capabilities(entry, settings);
  Answers answers = read_kept(entry, settings.cache);
  std::vector<LoweringQuestion> open;
  for (const LoweringQuestion& question : questions)
    if (offered(can, question.precision) && !answers.contains(question)) open.push_back(question);
  if (!open.empty()) {
    ask_all(entry, open, settings, answers);
    keep(entry, settings.cache, answers);
  }
  std::vector<Lowering> out;
  for (const LoweringQuestion& question : questions)
    out.push_back(
        offered(can, question.precision)
            ? answers.at(question)
            : Lowering{.state = Lowering::State::unsupported,
                       .composed = {},
                       .reason = "not offered on this machine: its devices are " + join(texts(can.devices), ", ")});
  return out;
}

}  // namespace tbd
