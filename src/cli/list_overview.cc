// Marks fold the answers about a network's configurations and precisions into a word; the detail keeps each.
#include "cli/list_overview.h"

#include <algorithm>
#include <set>
#include <span>

#include "cli/screen.h"
#include "models/model.h"

namespace tbd::cli {
namespace {

using State = Lowering::State;

constexpr const char* kAbsent = "absent";

void add_note(Table& table, const std::string& text, size_t width) {
  for (const std::string& line : wrap(text, width)) table.notes.push_back(line);
}

constexpr std::string_view kName = "NAME";

// What is remarked of frameworks, their own names as NAME, with those that it is true of; in the order of the first.
using Remarks = std::vector<std::pair<std::string, std::vector<std::string>>>;

std::string with_word(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string with_name(const std::string& remark, const std::string& key) { return with_word(remark, kName, key); }

void add_remark(Remarks& remarks, const std::string& key, const std::string& text) {
  if (text.empty()) return;
  const std::string remark = with_word(text, key, kName);
  const auto known = std::ranges::find(remarks, remark, &Remarks::value_type::first);
  if (known != remarks.end())
    known->second.push_back(key);
  else
    remarks.push_back({remark, {key}});
}

// "cpu cuda:0 cuda:1 cuda:2" -> "cpu cuda:0-2"
std::string compact_devices(const std::vector<std::string>& devices) {
  std::string out, kind;
  int64_t first = 0, last = 0;
  const auto close = [&] {
    if (last > first) out += cat("-", last);
  };
  for (const std::string& device : devices) {
    const std::vector<std::string> parts = split(device, ':');
    const std::optional<int64_t> number = parse_int(parts.size() == 2 ? parts[1] : "");
    if (number && parts[0] == kind && *number == last + 1) {
      last = *number;
      continue;
    }
    close();
    out += (out.empty() ? "" : " ") + device;
    kind = number ? parts[0] : "";
    first = last = number.value_or(0);
  }
  close();
  return out;
}

// Of one network in one framework.
std::string mark(std::span<const LoweringQuestion> questions, std::span<const Lowering> lowerings) {
  std::set<std::string> configs, running;
  bool composed = false;
  for (size_t i = 0; i < questions.size(); ++i) {
    configs.insert(questions[i].config);
    if (lowerings[i].state == State::unsupported) continue;
    running.insert(questions[i].config);
    composed = composed || lowerings[i].state == State::composed;
  }
  if (running.empty()) return "no";
  if (running.size() < configs.size()) return cat(running.size(), " of ", configs.size());
  return composed ? "composed" : "runs";
}

// How many questions from `begin` on are about the same network.
size_t questions_of_network(std::span<const LoweringQuestion> questions, size_t begin) {
  size_t end = begin;
  while (end < questions.size() && questions[end].model == questions[begin].model) ++end;
  return end - begin;
}

void explain_marks(Table& table, const std::set<std::string>& marks, size_t width) {
  const auto explain = [&](bool seen, const char* meaning) {
    if (seen) add_note(table, meaning, width);
  };
  explain(marks.contains("runs"), "runs: the framework has every op itself");
  explain(marks.contains("composed"), "composed: runs, but some ops are combined from several of the framework's own");
  explain(std::ranges::any_of(marks, [](const std::string& text) { return text.find(" of ") != std::string::npos; }),
          "N of M: N of the network's M configurations run");
  explain(marks.contains("no"), "no: no configuration runs");
  explain(marks.contains(kAbsent), "absent: the framework cannot be used here");
}

// The precisions of one configuration that run: "fp32* bf16".
std::string running_precisions(std::span<const LoweringQuestion> questions, std::span<const Lowering> lowerings) {
  std::vector<std::string> out;
  for (size_t i = 0; i < questions.size(); ++i)
    if (lowerings[i].state != State::unsupported)
      out.push_back(questions[i].precision.text() + (lowerings[i].state == State::composed ? "*" : ""));
  return out.empty() ? "no" : join(out, " ");
}

size_t questions_of_config(std::span<const LoweringQuestion> questions, size_t begin) {
  size_t end = begin;
  while (end < questions.size() && questions[end].config == questions[begin].config) ++end;
  return end - begin;
}

void explain_detail(Table& table, const std::vector<Availability>& frameworks,
                    const std::vector<LoweringQuestion>& questions, const Matrix& matrix, size_t width) {
  std::set<std::string> reasons;
  bool composed = false;
  for (size_t f = 0; f < frameworks.size(); ++f)
    for (size_t i = 0; i < questions.size(); ++i) {
      const Lowering& lowering = matrix[f][i];
      composed = composed || lowering.state == State::composed;
      if (lowering.state != State::unsupported) continue;
      const bool absent = frameworks[f].state == kAbsent;
      reasons.insert(
          cat(frameworks[f].key, " ", absent ? kAbsent : questions[i].precision.text(), ": ", lowering.reason));
    }
  if (composed) add_note(table, "*: some ops are combined from several of the framework's own, as listed below", width);
  for (const std::string& reason : reasons) add_note(table, reason, width);
}

}  // namespace

Table framework_overview(const std::vector<Availability>& frameworks, size_t width) {
  Table table{.title = "Frameworks",
              .columns = {{"framework", "framework"},
                          {"version", "version"},
                          {"state", "state"},
                          {"precisions", "precisions"},
                          {"devices", "devices"}},
              .rows = {},
              .notes = {}};
  Remarks remarks;
  for (const Availability& framework : frameworks) {
    table.rows.push_back({framework.key, framework.version, framework.state,
                          framework.can ? join(texts(framework.can->precisions), " ") : "",
                          framework.can ? compact_devices(texts(framework.can->devices)) : ""});
    for (const std::string& remark : {framework.note, framework.reason}) add_remark(remarks, framework.key, remark);
  }
  for (const auto& [remark, keys] : remarks)
    add_note(table, cat(join(keys, ", "), ": ", keys.size() > 1 ? remark : with_name(remark, keys.front())), width);
  return table;
}

std::vector<Table> network_overview(const std::vector<Availability>& frameworks,
                                    const std::vector<LoweringQuestion>& questions, const Matrix& matrix,
                                    size_t width) {
  Table table{.title = "Models",
              .columns = {{"model", "model"}, {"domain", "domain"}, {"configs", "configs", Unit::count}},
              .rows = {},
              .notes = {}};
  const size_t kept = table.columns.size();
  for (const Availability& framework : frameworks) table.columns.push_back({framework.key, framework.key});
  std::set<std::string> marks;
  size_t count = 0;
  for (size_t begin = 0; begin < questions.size(); begin += count) {
    count = questions_of_network(questions, begin);
    const Model& model = find_model(questions[begin].model);
    std::vector<TableCell> row = {model.name, model.domain, static_cast<int64_t>(model.configs.size())};
    for (size_t f = 0; f < frameworks.size(); ++f) {
      const std::string text = frameworks[f].state == kAbsent ? kAbsent
                                                              : mark(std::span(questions).subspan(begin, count),
                                                                     std::span(matrix[f]).subspan(begin, count));
      marks.insert(text);
      row.push_back(text);
    }
    table.rows.push_back(std::move(row));
  }
  explain_marks(table, marks, width);
  std::vector<Table> parts = split_to_width(table, kept, width);
  if (parts.size() < 2) return parts;
  table.columns.erase(table.columns.begin() + 1);  // 'tbd list MODEL' says the domain, too
  for (auto& row : table.rows) row.erase(row.begin() + 1);
  return split_to_width(table, kept - 1, width);
}

std::vector<Table> network_detail(const std::vector<Availability>& frameworks,
                                  const std::vector<LoweringQuestion>& questions, const Matrix& matrix, size_t width) {
  const Model& model = find_model(questions.front().model);
  Table table{
      .title = cat(model.name, ": ", model.title, ", ", model.domain, ", ", model.dataset),
      .columns = {{"config", "config"}, {"layers", "layers", Unit::count}, {"parameters", "parameters", Unit::count}},
      .rows = {},
      .notes = {}};
  const size_t kept = table.columns.size();
  for (const Availability& framework : frameworks) table.columns.push_back({framework.key, framework.key});
  size_t count = 0;
  for (size_t begin = 0; begin < questions.size(); begin += count) {
    count = questions_of_config(questions, begin);
    const Config& config = model.config(questions[begin].config);
    std::vector<TableCell> row = {config.name, config.layers, config.expected.parameters};
    for (size_t f = 0; f < frameworks.size(); ++f)
      row.push_back(frameworks[f].state == kAbsent ? kAbsent
                                                   : running_precisions(std::span(questions).subspan(begin, count),
                                                                        std::span(matrix[f]).subspan(begin, count)));
    table.rows.push_back(std::move(row));
  }
  explain_detail(table, frameworks, questions, matrix, width);
  return split_to_width(table, kept, width);
}

}  // namespace tbd::cli
