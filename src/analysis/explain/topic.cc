#include "analysis/explain/topic.h"

#include <algorithm>

#include "analysis/flags.h"
#include "analysis/metrics.h"
#include "base/error.h"

namespace tbd {
namespace {

// Flags have their sentence in their own rows.
std::string_view sentence_of(const Topic& topic) {
  if (!topic.what.empty()) return topic.what;
  for (const Flag& flag : known_flags())
    if (flag.name == topic.id) return flag.meaning;
  return {};
}

std::vector<Topic> metric_topics() {
  std::vector<Topic> topics;
  for (const Metric& m : metrics())
    topics.push_back({.id = m.id,
                      .unit = m.unit_text,
                      .what = m.what,
                      .formula = m.formula,
                      .counts = m.counts,
                      .how = m.how,
                      .source = m.source,
                      .limits = m.limits});
  return topics;
}

template <class... More>
TopicGroup group(std::string_view id, std::string_view title, std::span<const Topic> rows, More... more) {
  TopicGroup made{.id = id, .title = title, .topics = {rows.begin(), rows.end()}};
  (made.topics.insert(made.topics.end(), more.begin(), more.end()), ...);
  for (Topic& topic : made.topics) topic.what = sentence_of(topic);
  return made;
}

std::string_view short_name(std::string_view id) { return id.substr(id.find('.') + 1); }

}  // namespace

std::span<const TopicGroup> topic_groups() {
  static const std::vector<TopicGroup> groups = {
      group("metrics", "Metrics", metric_topics()),
      group("trace", "Figures of the trace pass", trace_topics(), loss_topics(), counter_topics()),
      group("memory", "Figures of the memory pass", memory_topics()),
      group("sweep", "Figures of sweeps over batch size", sweep_topics()),
      group("workers", "Figures of several workers", worker_topics()),
      group("flags", "Flags", flag_topics()),
      group("outcomes", "Outcomes", outcome_topics()),
      group("grades", "Grades", grade_topics()),
      group("levels", "How a framework runs a network", level_topics())};
  return groups;
}

FoundTopic topic(std::string_view name) {
  std::string wanted(name);
  std::ranges::replace(wanted, ' ', '_');
  std::vector<std::string> known, meant;
  FoundTopic by_short_name;
  for (const TopicGroup& group : topic_groups())
    for (const Topic& topic : group.topics) {
      if (topic.id == wanted) return {&topic, &group};
      known.emplace_back(topic.id);
      if (short_name(topic.id) != wanted) continue;
      meant.emplace_back(topic.id);
      by_short_name = {&topic, &group};
    }
  if (meant.size() == 1) return by_short_name;
  if (meant.size() > 1) fail(ErrorKind::usage, "'", name, "' may mean ", join(meant, " or "));
  fail(ErrorKind::usage, unknown_name("name", wanted, known));
}

}  // namespace tbd
