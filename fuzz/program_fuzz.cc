// Any bytes are a program or one Error; a program that is read survives a round trip, and a valid one every pass.
#include <cstdlib>

#include "base/json.h"
#include "graph/graph.h"
#include "graph/passes.h"

namespace {

void survive_round_trip(const tbd::Program& program) {
  const tbd::Json json = tbd::to_json(program);
  if (!(tbd::program_from_json(json) == program)) std::abort();
  if (tbd::program_hash(tbd::program_from_json(json)) != tbd::program_hash(program)) std::abort();
}

// A valid program stays valid in every mode and precision.
void survive_passes(const tbd::Program& program, const tbd::Bindings& bindings) {
  for (const auto& mode : {tbd::DropoutMode::kMask, tbd::DropoutMode::kOff})
    for (const auto& precision : {tbd::Precision::kBf16, tbd::Precision::kFp64}) try {
        tbd::validate(tbd::with_precision(tbd::with_dropout(program, mode), precision), bindings);
      } catch (const tbd::Error&) {  // a name that the pass would add may be taken
      }
  for (const tbd::Phase& phase : program.phases) tbd::liveness(tbd::bind(program, phase, bindings));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const tbd::Bindings bindings = {{"N", 2}};
  try {
    const tbd::Program program = tbd::read_program(text, "fuzz");
    survive_round_trip(program);
    tbd::validate(program, bindings);
    tbd::step_inputs(program);
    survive_passes(program, bindings);
  } catch (const tbd::Error&) {
  }
  return 0;
}
