// Json by name alone, for headers that only declare functions with it; base/json.h has the rest.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace tbd {

using Json = nlohmann::ordered_json;

}  // namespace tbd
