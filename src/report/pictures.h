// Pictures of records as figures.
#pragma once
#include <string>

#include "report/page.h"

namespace tbd {

// Adds to the page what the records of a model hold of pictures: inlined with their captions, and a table of all of
// them. Where a record's pictures cannot be read, the reason stands in their place.
void add_pictures(Page& page, const std::string& model, std::span<const ReportCell> cells);

}  // namespace tbd
