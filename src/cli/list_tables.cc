#include "cli/list_tables.h"

#include <set>

namespace tbd::cli {
namespace {

const Precision kPrecisions[] = {Precision::kFp32, Precision::kBf16, Precision::kFp16};

std::string composed_text(const Lowering& lowering) {
  std::vector<std::string> parts;
  for (const auto& [kind, of] : lowering.composed) parts.push_back(cat(kind, ": ", of));
  return join(parts, "; ");
}

// A table of networks without rows, and what each of its rows begins with.
Table network_table() {
  return {.title = "Models",
          .columns = {{"model", "model"},
                      {"config", "config"},
                      {"domain", "domain"},
                      {"layers", "layers", Unit::count},
                      {"dominant_layer", "dominant layer"},
                      {"parameters", "parameters", Unit::count}},
          .rows = {},
          .notes = {}};
}
std::vector<TableCell> network_cells(const LoweringQuestion& question) {
  const Model& model = find_model(question.model);
  const Config& config = model.config(question.config);
  return {model.name, config.name, model.domain, config.layers, model.dominant_layer, config.expected.parameters};
}

}  // namespace

std::vector<LoweringQuestion> questions_of(const Model& model) {
  std::vector<LoweringQuestion> questions;
  for (const Config& config : model.configs)
    for (const Precision& precision : kPrecisions) questions.push_back({model.name, config.name, precision});
  return questions;
}

std::vector<LoweringQuestion> all_questions() {
  std::vector<LoweringQuestion> questions;
  for (const Model& model : all_models())
    for (LoweringQuestion& question : questions_of(model)) questions.push_back(std::move(question));
  return questions;
}

Matrix matrix_of(std::vector<Availability>& frameworks, const std::vector<LoweringQuestion>& questions,
                 const RunnerSettings& settings) {
  Matrix matrix;
  for (Availability& framework : frameworks) {
    Lowering absent{.state = Lowering::State::unsupported, .composed = {}, .reason = framework.reason};
    matrix.emplace_back(questions.size(), absent);
    if (!framework.can) continue;
    try {
      matrix.back() = lowerings(find_worker(settings.workers, framework.key), questions, settings);
    } catch (const Error& e) {
      framework.state = "absent";
      framework.reason = absent.reason = e.what();
      matrix.back().assign(questions.size(), absent);
    }
  }
  return matrix;
}

Table cell_table(const std::vector<Availability>& frameworks, const std::vector<LoweringQuestion>& questions,
                 const Matrix& matrix) {
  Table table = network_table();
  table.columns.insert(table.columns.end(), {{"dataset", "data set"},
                                             {"framework", "framework"},
                                             {"precision", "precision"},
                                             {"state", "state"},
                                             {"composed", "composed"},
                                             {"note", "note"},
                                             {"reason", "reason"}});
  for (size_t i = 0; i < questions.size(); ++i)
    for (size_t f = 0; f < frameworks.size(); ++f) {
      const Lowering& lowering = matrix[f][i];
      const std::string state = frameworks[f].can ? std::string(name(lowering.state)) : "absent";
      std::vector<TableCell> row = network_cells(questions[i]);
      row.insert(row.end(), {find_model(questions[i].model).dataset, frameworks[f].key, questions[i].precision.text(),
                             state, composed_text(lowering), frameworks[f].note, lowering.reason});
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table matrix_table(const std::vector<Availability>& frameworks, const std::vector<LoweringQuestion>& questions,
                   const Matrix& matrix) {
  Table table = network_table();
  const size_t precisions = std::size(kPrecisions);
  std::set<std::string> reasons;
  for (size_t i = 0; i < questions.size(); i += precisions) {
    std::vector<TableCell> row = network_cells(questions[i]);
    for (size_t f = 0; f < frameworks.size(); ++f)
      for (size_t p = 0; frameworks[f].can && p < precisions; ++p) {
        const Lowering& lowering = matrix[f][i + p];
        const bool no = lowering.state == Lowering::State::unsupported;
        row.push_back(no ? std::string("no") : std::string(name(lowering.state)));
        if (no) reasons.insert(cat(frameworks[f].key, " ", questions[i + p].precision, ": ", lowering.reason));
      }
    table.rows.push_back(std::move(row));
  }
  for (const Availability& framework : frameworks)
    for (const Precision& precision : kPrecisions)
      if (framework.can)
        table.columns.push_back({cat(framework.key, "_", precision), cat(framework.key, " ", precision)});
  table.notes.assign(reasons.begin(), reasons.end());
  return table;
}

Table composed_table(const std::vector<Availability>& frameworks, const Matrix& matrix) {
  Table table{.title = "Composed",
              .columns = {{"framework", "framework"}, {"op", "op"}, {"of", "of"}},
              .rows = {},
              .notes = {}};
  for (size_t f = 0; f < frameworks.size(); ++f) {
    std::set<std::pair<std::string, std::string>> seen;
    for (const Lowering& lowering : matrix[f]) seen.insert(lowering.composed.begin(), lowering.composed.end());
    for (const auto& [kind, of] : seen) table.rows.push_back({frameworks[f].key, kind, of});
  }
  return table;
}

}  // namespace tbd::cli
