// Explanations as text, Markdown and JSON lines.
#pragma once
#include <string>

#include "analysis/explain/walk.h"
#include "base/json_fwd.h"

namespace tbd {

std::string explanation(const FoundTopic& found);  // for people, lines of at most 100 columns
std::string topic_list();                          // names by group, for people
std::string topics_markdown();                     // everything: the second half of docs/metrics.md
Json to_json(const FoundTopic& found);             // one object
Json to_json(const std::vector<Fact>& facts);      // an array of objects

}  // namespace tbd
