// The paper's two drawings (Zhu et al. 2018, figures 1 and 3) as pictures of what is in the records.
#pragma once
#include <span>
#include <string>

#include "record/record.h"

namespace tbd {

// From network to report: the passes that these records hold, with their launches. An <svg>, escaped.
std::string pipeline_figure(std::span<const Record* const> records);
// One training step of the network: its stages forward and backward, with their share of the step's counted FLOPs. A
// stage is what the node names have before their first dot; beyond twelve, neighbours share a box. Empty without ops.
std::string training_flow_figure(const RunInfo& run);

}  // namespace tbd
