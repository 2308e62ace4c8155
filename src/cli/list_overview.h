// The short forms of `tbd list`: all networks on a screen, and one network in detail.
#pragma once
#include <string>
#include <vector>

#include "cli/list_tables.h"

namespace tbd::cli {

// A framework a row, with precisions and devices ("cpu cuda:0-7"); notes say what is special and why one is absent.
Table framework_overview(const std::vector<Availability>& frameworks, size_t width);

// A network a row, a framework a column; a mark says whether it runs, the notes what the marks mean:
//   runs, composed    every configuration runs, in one precision or more
//   4 of 6, no        so many do, none does
//   absent            the framework cannot be used here
// Frameworks that do not fit beside the others are in the next table.
std::vector<Table> network_overview(const std::vector<Availability>& frameworks,
                                    const std::vector<LoweringQuestion>& questions, const Matrix& matrix, size_t width);

// Of the questions' one network: a configuration a row, a framework a column; cells hold the precisions that run, with
// a star where an op is composed. Notes say why not the rest.
std::vector<Table> network_detail(const std::vector<Availability>& frameworks,
                                  const std::vector<LoweringQuestion>& questions, const Matrix& matrix, size_t width);

}  // namespace tbd::cli
