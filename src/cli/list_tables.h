// The tables of `tbd list`: every network in every framework and precision, and of what ops are composed.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "models/model.h"
#include "record/frameworks.h"
#include "runner/lowerings.h"

namespace tbd::cli {

struct Availability {
  std::string key, framework, version, state, reason, note;  // state: runs, absent
  std::optional<protocol::HelloReply> can;

  std::string label() const {
    const KnownFramework* known = find_framework(framework);
    return known ? std::string(known->label) : framework;
  }
};

// How each network is lowered: by framework, then in the order of the questions.
using Matrix = std::vector<std::vector<Lowering>>;

// Every model and config in every precision; a config's precisions stand together.
std::vector<LoweringQuestion> all_questions();
std::vector<LoweringQuestion> questions_of(const Model& model);

// A framework whose worker cannot be asked becomes absent.
Matrix matrix_of(std::vector<Availability>& frameworks, const std::vector<LoweringQuestion>& questions,
                 const RunnerSettings& settings);

// For programs: one row per model, config, framework and precision.
Table cell_table(const std::vector<Availability>& frameworks, const std::vector<LoweringQuestion>& questions,
                 const Matrix& matrix);
// For people: a model and config a row, a framework and precision a column; the reasons of what does not run as notes.
Table matrix_table(const std::vector<Availability>& frameworks, const std::vector<LoweringQuestion>& questions,
                   const Matrix& matrix);
// Each op that is composed somewhere, with what it is composed of, once by framework.
Table composed_table(const std::vector<Availability>& frameworks, const Matrix& matrix);

}  // namespace tbd::cli
