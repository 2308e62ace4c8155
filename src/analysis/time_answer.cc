// Each part of the loss bar has a row here: what happens in it, what to try, and the axis whose values would show it.
#include "analysis/time_answer.h"

#include <algorithm>

#include "analysis/tune/remedies.h"
#include "base/text.h"

namespace tbd {
namespace {

using Command = std::string (*)(const MeasuredWorkload&);

std::string larger_batch(const MeasuredWorkload& w) {
  return with_option(as_command(w, "run"), "batch", cat(w.batch, ",", 2 * w.batch));
}

std::string memory_of_step(const MeasuredWorkload& w) { return as_command(w, "memory"); }

std::string both_layouts(const MeasuredWorkload& w) {
  return w.layout == ImageLayout() ? larger_batch(w) : with_option(as_command(w, "run"), "layout", "nchw,nhwc");
}

std::string without_exchange(const MeasuredWorkload& w) {
  return with_option(as_command(w, "run"), "exchange", "all_reduce,none");
}

std::string both_inputs(const MeasuredWorkload& w) {
  return with_option(as_command(w, "run"), "input", "resident,pipeline");
}

std::string fewer_threads(const MeasuredWorkload& w) {
  if (w.threads < 2) return as_command(w, "profile");
  return with_option(as_command(w, "run"), "threads", cat(w.threads - 1, ",", w.threads));
}

std::string longer(const MeasuredWorkload& w) { return with_option(as_command(w, "profile"), "effort", "publish"); }

std::string timeline(const MeasuredWorkload& w) {
  return with_option(as_command(w, "profile"), "trace", "timeline.json");
}

struct Cause {
  std::string_view name;    // of a part of the loss bar
  std::string_view what;    // goes on after "40 % of a step"
  std::string_view remedy;  // goes on after "Try: "
  Command command;
};

constexpr std::string_view kMoreWork = "a larger batch gives each op more work";
constexpr std::string_view kTimeline = "a timeline shows where";

constexpr Cause kLossCauses[] = {
    {"system time", "the system works for the ops, mostly on page faults", "see what a step allocates anew",
     memory_of_step},
    {"layout", "tensors are cast, transposed and copied", "another layout may need fewer transposes", both_layouts},
    {"kernel inefficiency", "ops compute, slower than the machine's peaks allow", kMoreWork, larger_batch},
    {"exposed communication", "gradients are exchanged while nothing computes", "see what the exchange costs",
     without_exchange},
    {"copies", "copies run while nothing computes", kTimeline, timeline},
    {"input", "the step loop fetches its batch", "see whether the input is the limit", both_inputs},
    {"sync", "the step loop waits for the device", kMoreWork, larger_batch},
    {"alloc", "memory is allocated and freed", "see what a step allocates", memory_of_step},
    {"compile", "code is built, loaded or tuned, which belongs into warming up", "measure for longer", longer},
    {"collective wait", "the ranks wait for each other", "see what the exchange costs", without_exchange},
    {"off-CPU", "the cores do other work: an op could run and has no processor",
     "fewer threads, or a machine with less other work, leave each op its core", fewer_threads},
    {"dispatch", "the framework works between its kernels", kMoreWork, larger_batch},
    {"host other", "the host works outside the ops", kMoreWork, larger_batch},
    {"launch", "the host launches kernels", kMoreWork, larger_batch},
    {"latency", "the device waits for kernels that were just launched", kMoreWork, larger_batch},
    {"dependency", "one stream of the device waits for another", kTimeline, timeline},
    {"device other", "the device idles for a reason that the trace does not show", kTimeline, timeline},
    {"unattributed", "the device idles for a reason that the trace does not show", kTimeline, timeline},
};

// What is no loss, or none without the trace, has no row.
const Cause* cause_of(const LossPart& part) {
  const auto found = std::ranges::find(kLossCauses, part.cause, &Cause::name);
  return found == std::end(kLossCauses) ? nullptr : found;
}

struct Loss {
  const Cause* cause = nullptr;
  double share = 0;  // of the window
};

std::vector<Loss> losses_of(const Profile& profile) {
  std::vector<Loss> losses;
  for (const LossPart& part : profile.loss)
    if (const Cause* cause = cause_of(part); cause && part.ns > 0)
      losses.push_back({cause, static_cast<double>(part.ns) / static_cast<double>(profile.window_ns)});
  std::ranges::stable_sort(losses, std::greater{}, &Loss::share);
  return losses;
}

constexpr double kWorthSaying = 0.05;  // of the window, for the second loss

}  // namespace

std::vector<Answer> time_answers(const Profile& profile, const MeasuredWorkload& workload) {
  const bool is_foreign = workload.mode == Mode::kExternal;  // no option of tbd changes it
  const std::vector<Loss> losses = losses_of(profile);
  if (losses.empty() || profile.window_ns <= 0) return {};
  const Loss& first = losses.front();
  std::string text = cat("In ", format_percent(first.share), " of a step of ", workload.framework, " ",
                         first.cause->what, " (", first.cause->name, ").");
  if (losses.size() > 1 && losses[1].share >= kWorthSaying)
    text += cat(" In ", format_percent(losses[1].share), " ", losses[1].cause->what, " (", losses[1].cause->name, ").");
  if (profile.ideal_share)
    text += cat(" At the machine's peaks the work would need ", format_percent(*profile.ideal_share), " of the time.");
  if (profile.overhead && profile.overhead->value > kUseless)
    text += cat(" But tracing made a step ", significant(profile.overhead->value),
                " times as long: these shares are not those of an untraced step.");
  std::vector<Answer> out = {
      {.text = text, .command = {}},
      {.text = cat("Try: ", first.cause->remedy, "."), .command = is_foreign ? "" : first.cause->command(workload)}};
  if (const std::string tune = tune_command(workload); !tune.empty() && has_remedy(first.cause->name))
    out.push_back({.text = "Or let the known remedies be tried and what each brings be measured:", .command = tune});
  return out;
}

std::string with_option(const std::string& command, std::string_view option, std::string_view value) {
  const std::string name = cat(" --", option, " ");
  const std::string added = value.empty() ? "" : cat(name, value);
  const size_t at = command.find(name);
  if (at == std::string::npos) return command + added;
  const size_t end = command.find(" --", at + name.size());
  return command.substr(0, at) + added + (end == std::string::npos ? "" : command.substr(end));
}

namespace {

// The program's own arguments, after " -- ", stay as they are.
std::string profile_of_exec(const MeasuredWorkload& workload, const std::string& command) {
  if (workload.framework == Mode::kExternal.text()) return "";
  const size_t end = std::min(command.find(" -- "), command.size());
  std::string own = command.substr(0, end);
  for (const char* option : {"effort", "launches", "step-regex"}) own = with_option(own, option, "");
  return cat("tbd profile --exec", own.substr(std::string_view("tbd exec").size()), command.substr(end));
}

}  // namespace

std::string as_command(const MeasuredWorkload& workload, std::string_view name) {
  constexpr std::string_view kRun = "tbd run ", kExec = "tbd exec ";
  std::string command = workload.repro.empty() ? repro_line(workload) : workload.repro;
  if (command.starts_with(kExec)) return name == "profile" ? profile_of_exec(workload, command) : command;
  if (command.starts_with(kRun)) command.replace(0, kRun.size(), cat("tbd ", name, " "));
  if (command.find(" --batch largest") != std::string::npos)
    command = with_option(command, "batch", cat(workload.batch));
  if (name == "run") return workload.effort == "smoke" ? with_option(command, "effort", "quick") : command;
  return with_option(with_option(command, "passes", ""), "launches", "");
}

std::string tune_command(const MeasuredWorkload& workload) {
  const std::string command = as_command(workload, "tune");
  if (!command.starts_with("tbd tune ")) return "";
  return with_option(with_option(command, "effort", ""), "limit", "");
}

}  // namespace tbd
