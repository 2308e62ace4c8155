#include "base/json.h"

namespace tbd {
namespace {

constexpr int kDeepest = 200;

// The parser recurses on nothing, but what reads the value does: refuse hostile nesting first.
void check_depth(std::string_view text, std::string_view where) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      require(++depth <= kDeepest, where, ": nested deeper than ", kDeepest, " at byte ", i);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
}

}  // namespace

Json parse_json(std::string_view text, std::string_view where) {
  check_depth(text, where);
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    fail(ErrorKind::invalid, where, ": not JSON at byte ", e.byte);
  } catch (const nlohmann::json::exception& e) {
    fail(ErrorKind::invalid, where, ": not JSON: ", e.what());
  }
}

}  // namespace tbd
