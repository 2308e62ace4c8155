#include "trace/import/chrome_objects.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "trace/import/repair.h"

namespace tbd {
namespace {

namespace od = simdjson::ondemand;
using simdjson::error_code;

std::string_view trimmed(std::string_view token) {
  const size_t last = token.find_last_not_of(" \n\t\r");
  return last == std::string_view::npos ? std::string_view() : token.substr(0, last + 1);
}

error_code read_value(od::value value, std::string_view& raw) {
  const std::string_view token = value.raw_json_token();
  if (token[0] == '[') {
    od::array array;
    if (const error_code error = value.get_array().get(array)) return error;
    return array.raw_json().get(raw);
  }
  if (token[0] == '{') {
    od::object object;
    if (const error_code error = value.get_object().get(object)) return error;
    return object.raw_json().get(raw);
  }
  raw = trimmed(token);
  return simdjson::SUCCESS;
}

std::string_view key_text(od::raw_json_string key) {
  const char* text = key.raw();
  return {text, static_cast<size_t>(static_cast<const char*>(std::memchr(text, '"', JsonWindow::kSize)) - text)};
}

error_code read_object(od::object object, ChromeEvent& event, bool in_args) {
  for (auto entry : object) {
    od::field field;
    if (const error_code error = std::move(entry).get(field)) return error;
    const std::string_view key = key_text(field.key());
    if (!in_args && key == "args" && field.value().raw_json_token()[0] == '{') {
      od::object args;
      if (const error_code error = field.value().get_object().get(args)) return error;
      if (const error_code error = read_object(args, event, true)) return error;
      continue;
    }
    const ChromeKey known = chrome_key(key, in_args);
    if (known == ChromeKey::none) continue;
    if (const error_code error = read_value(field.value(), event.values[static_cast<size_t>(known)])) return error;
  }
  return simdjson::SUCCESS;
}

// The place after the last '}' that ", {" follows: most likely the end of an object of the array. 0 where there is
// none. A wrong guess leaves a bracket or a string open, so that parsing fails and nothing wrong is read.
size_t likely_end(std::string_view text) {
  for (size_t at = text.rfind('{'); at != std::string_view::npos && at > 0; at = text.rfind('{', at - 1)) {
    size_t i = at;
    const auto back_over_blanks = [&] {
      while (i > 0 && std::strchr(" \n\t\r", text[i - 1]) != nullptr) --i;
    };
    back_over_blanks();
    if (i == 0 || text[i - 1] != ',') continue;
    --i;
    back_over_blanks();
    if (i > 0 && text[i - 1] == '}') return i;
  }
  return 0;
}

}  // namespace

struct ChromeObjects::Parser {
  Parser() {
    if (parser.allocate(JsonWindow::kSize + 2)) fail(ErrorKind::internal, "no memory for the JSON parser");
  }
  od::parser parser;
};

ChromeObjects::ChromeObjects(ChromeHandler& handler) : handler_(handler), parser_(std::make_unique<Parser>()) {}
ChromeObjects::~ChromeObjects() = default;

bool ChromeObjects::many(JsonWindow& window, bool& closed) {
  const size_t size = likely_end(window.text());
  if (size == 0) return false;
  char* const begin = window.begin();
  const int64_t position = window.position();
  const char before = begin[-1], after = begin[size];
  begin[-1] = '[';
  begin[size] = ']';
  size_t reached = 0;  // all before was handled
  bool good = false;
  od::document document;
  od::array array;
  if (!parser_->parser.iterate(begin - 1, size + 2, size + 2 + simdjson::SIMDJSON_PADDING).get(document) &&
      !document.get_array().get(array)) {
    good = true;
    for (auto entry : array) {
      od::object object;
      ChromeEvent event;
      od::value value;
      if (std::move(entry).get(value)) {
        good = false;
        break;
      }
      reached = static_cast<size_t>(value.raw_json_token().data() - begin);
      event.position = position + static_cast<int64_t>(reached);
      if (value.get_object().get(object) || read_object(object, event, false)) {
        good = false;
        break;
      }
      handler_.event(event);
    }
  }
  const char* next = nullptr;
  closed = good && !document.current_location().get(next) && next < begin + size;
  begin[-1] = before;
  begin[size] = after;
  if (closed)
    window.advance(static_cast<size_t>(next - begin));
  else
    window.advance(good ? size : reached);
  return good;
}

bool ChromeObjects::parse_one(char* text, size_t size, int64_t position) {
  od::document document;
  od::object object;
  ChromeEvent event{.position = position};
  if (parser_->parser.iterate(text, size, size + simdjson::SIMDJSON_PADDING).get(document) ||
      document.get_object().get(object) || read_object(object, event, false))
    return false;
  handler_.event(event);
  return true;
}

bool ChromeObjects::one(JsonWindow& window) {
  const size_t size = window.value_size();
  if (size == 0) return false;
  const int64_t position = window.position();
  if (!parse_one(window.begin(), size, position)) {
    std::string repaired = repaired_json({window.begin(), size});
    const size_t length = repaired.size();
    repaired.resize(length + JsonWindow::kPadding, ' ');
    if (parse_one(repaired.data(), length, position))
      handler_.fault("events that were no strict JSON, repaired", cat("byte ", position));
    else
      handler_.fault("malformed events, passed over", cat("byte ", position));
  }
  window.advance(size);
  return true;
}

}  // namespace tbd
