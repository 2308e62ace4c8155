// What every name in rows, tables and reports means: metrics, flags, outcomes, grades, and the figures of the trace and
// memory passes and of sweeps. The text of a metric lies in its row (metrics/), that of a flag here and in flags.cc,
// every other here, once; `tbd explain` and docs/metrics.md print it.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

struct Topic {
  std::string_view id;
  std::string_view unit;     // for people; empty where there is none
  std::string_view what;     // one sentence; of a flag it is left empty here, its own row has it
  std::string_view formula;  // empty where `what` says all
  std::string_view counts;   // what is in, what is out
  std::string_view how;      // how it is measured on a CPU
  std::string_view source;   // author, year, section; empty where the formula is its own definition
  std::string_view limits;   // when it is absent, what it must not be compared with, what follows from it
};

struct TopicGroup {
  std::string_view id, title;
  std::vector<Topic> topics;  // with `what` filled in
};
// In the order in which they are listed: metrics, trace, memory, sweep, workers, flags, outcomes, grades, levels.
std::span<const TopicGroup> topic_groups();

struct FoundTopic {
  const Topic* topic = nullptr;
  const TopicGroup* group = nullptr;
};
// By id, or by the part after its dot where one topic alone has it ("knee" is "sweep.knee"); blanks read as '_'.
// Throws Error(usage) that offers the nearest names, or those that a short name might mean.
FoundTopic topic(std::string_view name);

// The rows of one group each, in files of their own; those of metrics are made from metrics().
std::span<const Topic> trace_topics();
std::span<const Topic> loss_topics();
std::span<const Topic> counter_topics();
std::span<const Topic> memory_topics();
std::span<const Topic> sweep_topics();
std::span<const Topic> worker_topics();
std::span<const Topic> flag_topics();
std::span<const Topic> outcome_topics();
std::span<const Topic> grade_topics();
std::span<const Topic> level_topics();

}  // namespace tbd
