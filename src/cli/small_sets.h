// The small real data sets that the set-up makes (docs/data.md), by name. Defined in locations.cc.
#pragma once
#include "cli/command.h"
#include "record/workload.h"

namespace tbd::cli {

// Where the set-up made the small set of this name; empty where it did not.
std::filesystem::path small_set(const Context& context, std::string_view name);
// The folder of a data set: as it stands, else the small set of that name that the set-up made. A name that is neither
// stays, for who reads it to say so.
std::string data_folder(const Context& context, const std::string& named);
// The same for the data of each.
void find_data(const Context& context, std::vector<Workload>& cells);

}  // namespace tbd::cli
