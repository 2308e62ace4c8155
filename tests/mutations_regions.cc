// Differences of what reads regions of maps.
#include "mutation_edits.h"

namespace tbd {
namespace {

Mutation region_mutation(std::string name, const std::function<void(RoiAlign&, Surrounded&)>& change) {
  return {.name = std::move(name), .guilty = "roi_align '", .rewrite = around<RoiAlign>(change)};
}

size_t rois_of(const RoiAlign& op) { return op.scales.size(); }

}  // namespace

std::vector<Mutation> region_mutations() {
  return {{.name = "control", .guilty = ""},
          region_mutation("one sample a bin", [](RoiAlign& op, Surrounded&) { op.sampling = 1; }),
          region_mutation("boxes a twentieth too large",
                          [](RoiAlign& op, Surrounded& part) { part.before(rois_of(op), {Affine{1.05}}); }),
          region_mutation("level assignment off by one",
                          [](RoiAlign& op, Surrounded& part) {
                            std::swap(part.node.inputs[0], part.node.inputs[1]);
                            std::swap(op.scales[0], op.scales[1]);
                          }),
          region_mutation("scale of the next level",
                          [](RoiAlign& op, Surrounded&) { std::swap(op.scales[0], op.scales[1]); }),
          region_mutation("rows and columns exchanged", [](RoiAlign&, Surrounded& part) {
            part.behind({Transpose{{0, 1, 3, 2}}});
          })};
}

}  // namespace tbd
