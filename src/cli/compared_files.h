// Reading what is compared: records, result sets and baselines.
#pragma once
#include <filesystem>
#include <vector>

#include "analysis/compare/measured_row.h"
#include "cli/command.h"

namespace tbd::cli {

// The rows of a record, a result set, @latest, or of a baseline's file. Records that cannot be read are named on stderr
// unless `quiet`. Throws Error(not_found) where there is nothing, Error(invalid) where it cannot be read.
std::vector<MeasuredRow> compared_rows(Context& context, const std::string& path, bool quiet);

// "2%" or "0.02": at least 0 and below 1. Throws Error(usage) that begins with the option's name.
double fraction_from(const std::string& text, std::string_view option);

// Sentences, for people alone, and a blank line below them.
void print_sentences(Context& context, const std::vector<std::string>& sentences, Format format);

}  // namespace tbd::cli
