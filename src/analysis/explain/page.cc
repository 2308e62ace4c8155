#include "analysis/explain/page.h"

#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace tbd {
namespace {

struct Part {
  const char* label;
  std::string_view text;
};
std::vector<Part> parts_of(const Topic& topic) {
  std::vector<Part> parts;
  for (const Part& part : {Part{"Formula", topic.formula}, Part{"In and out", topic.counts}, Part{"Unit", topic.unit},
                           Part{"On a CPU", topic.how}, Part{"Source", topic.source}, Part{"Limits", topic.limits}})
    if (!part.text.empty()) parts.push_back(part);
  return parts;
}

// Words in lines of at most 100 columns, later lines indented.
std::string wrapped(std::string_view text, size_t indent, size_t used) {
  std::string out;
  for (const std::string& word : split(text, ' ')) {
    if (used + word.size() + 1 > 100 && used > indent) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    }
    if (used > indent) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*') out += '\\';
    out += c;
  }
  return out;
}

std::string group_table(const TopicGroup& group) {
  bool units = false;
  for (const Topic& topic : group.topics) units |= !topic.unit.empty();
  std::string out = units ? "| id | unit | definition |\n|---|---|---|\n" : "| id | meaning |\n|---|---|\n";
  for (const Topic& topic : group.topics) {
    out += cat("| `", topic.id, "` | ");
    if (units) out += cat(topic.unit.empty() ? "–" : topic.unit, " | ");
    out += cat(topic.what, " |\n");
  }
  return out;
}

std::string details(const Topic& topic) {
  std::string out;
  for (const Part& part : parts_of(topic))
    if (std::string_view(part.label) != "Unit")
      out += cat(out.empty() ? "" : " ", "*", part.label, ":* ", escaped(part.text),
                 part.text.back() == '.' || part.text.back() == ')' ? "" : ".");
  return out.empty() ? "" : cat("- `", topic.id, "` ", out, "\n");
}

}  // namespace

std::string explanation(const FoundTopic& found) {
  std::string out = cat(found.topic->id, " (", found.group->title, ")\n  ", wrapped(found.topic->what, 2, 2), "\n");
  for (const Part& part : parts_of(*found.topic)) {
    std::string label = part.label;
    label.resize(12, ' ');
    out += cat("  ", label, wrapped(part.text, 14, 14), "\n");
  }
  return out;
}

std::string topic_list() {
  std::string out;
  for (const TopicGroup& group : topic_groups()) {
    std::string names;
    for (const Topic& topic : group.topics) names += cat(names.empty() ? "" : " ", topic.id);
    out += cat(group.title, "\n  ", wrapped(names, 2, 2), "\n");
  }
  return out;
}

std::string topics_markdown() {
  std::string out;
  for (const TopicGroup& group : topic_groups()) {
    out += cat(out.empty() ? "" : "\n", "## ", group.title, "\n\n", group_table(group));
    std::string more;
    for (const Topic& topic : group.topics) more += details(topic);
    if (!more.empty()) out += "\n" + more;
  }
  return out;
}

Json to_json(const FoundTopic& found) {
  const auto text = [](std::string_view value) { return value.empty() ? Json() : Json(value); };
  const Topic& t = *found.topic;
  return {{"id", t.id},
          {"group", found.group->id},
          {"unit", text(t.unit)},
          {"what", t.what},
          {"formula", text(t.formula)},
          {"counts", text(t.counts)},
          {"measured", text(t.how)},
          {"source", text(t.source)},
          {"limits", text(t.limits)}};
}

Json to_json(const std::vector<Fact>& facts) {
  Json out = Json::array();
  for (const Fact& fact : facts) {
    const Json value = std::visit(
        [](const auto& v) -> Json {
          if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>)
            return nullptr;
          else
            return v;
        },
        fact.value);
    out.push_back({{"what", fact.what}, {"value", value}, {"unit", fact.unit}, {"from", fact.from}});
  }
  return out;
}

}  // namespace tbd
