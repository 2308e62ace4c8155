// Any bytes as run.json, launch.json or steps.csv are a record or one Error; what is read survives a round trip.
// The first byte picks the file.
#include "record/record.h"

#include <cstdlib>

#include "base/error.h"
#include "base/json.h"
#include "record/steps.h"

namespace {

void fuzz_run(std::string_view text) {
  const tbd::RunInfo run = tbd::run_from_json(tbd::parse_json(text, "run.json"));
  const tbd::Json json = tbd::to_json(run);
  if (tbd::to_json(tbd::run_from_json(json)) != json) std::abort();
}

void fuzz_launch(std::string_view text) {
  const tbd::Json json = tbd::to_json(tbd::launch_from_json(tbd::parse_json(text, "launch.json")));
  if (tbd::to_json(tbd::launch_from_json(json)) != json) std::abort();
}

void fuzz_steps(std::string_view text) {
  int64_t dropped = 0;
  const std::vector<tbd::StepRow> rows = tbd::parse_steps(text, dropped);
  if (tbd::parse_steps(tbd::steps_header() + tbd::format_steps(rows), dropped).size() != rows.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] == 'r')
      fuzz_run(text);
    else if (data[0] == 'l')
      fuzz_launch(text);
    else
      fuzz_steps(text);
  } catch (const tbd::Error&) {
  }
  return 0;
}
