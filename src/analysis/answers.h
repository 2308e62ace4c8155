// What a set of rows answers, in sentences: what is fastest and by how much, what is undecided and what would decide
// it, why the fastest is not faster, what to try. Pure functions of what was measured: each claim follows from a 95 %
// interval and its verdict (docs/statistics.md), and what no interval decides is called undecided.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/cell.h"
#include "analysis/time_answer.h"

namespace tbd {

struct AnswerRow {
  const CellResult* cell = nullptr;
  const Profile* profile = nullptr;  // of the row's trace pass; nullptr without one
};

// Rows of one machine. Frameworks of one workload are set against each other; where there is one framework, rows that
// differ in one axis are. The sentences on the first workloads, as many as fit on a screen, and how many more there
// are.
std::vector<Answer> answers(std::span<const AnswerRow> rows);

// Sentences wrapped to the width, commands below them on lines of their own, which are never wrapped.
std::string to_text(std::span<const Answer> answers, size_t width);
std::string to_markdown(std::span<const Answer> answers);
std::string print(std::span<const Answer> answers, Format format, size_t width);  // nothing for machines

}  // namespace tbd
