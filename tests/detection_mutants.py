"""The mutants of detection: rules that a program of detection gets wrong most easily, each planted in a source file, and
the tests that must fail then. Most of these tests hold numbers of torchvision, effdet or pycocotools."""
from typing import NamedTuple

HOST = "src/host/detection/"
DATA = "src/data/detection/"


class Mutant(NamedTuple):
    name: str
    file: str
    edits: tuple  # of (text, the text in its place), wherever the text is
    caught_by: list


def mutant(name, file, *edits, caught_by):
    return Mutant(name, file, edits, caught_by.split())


MUTANTS = {
    "anchor rounding": [
        mutant("anchors not rounded", HOST + "anchors.cc",
               ("std::nearbyint(wide * static_cast<float>(size) / 2.0F)", "wide * static_cast<float>(size) / 2.0F"),
               ("std::nearbyint(tall * static_cast<float>(size) / 2.0F)", "tall * static_cast<float>(size) / 2.0F"),
               caught_by="Anchors.RoundAsTorchvision RpnTargets.AreTorchvisions SelectProposals.SelectsAsTorchvision"),
        mutant("anchors rounded down", HOST + "anchors.cc", ("std::nearbyint", "std::floor"),
               caught_by="Anchors.RoundAsTorchvision RpnTargets.AreTorchvisions SelectProposals.SelectsAsTorchvision"),
        mutant("halves rounded away from zero", HOST + "anchors.cc", ("std::nearbyint", "std::round"),
               caught_by="Anchors.RoundHalvesToEven"),
    ],
    "stride from the level's name": [
        mutant("strides are powers of two", HOST + "anchors.cc",
               (".stride = {image.height / height, image.width / width}", ".stride = {int64_t{4} << i, int64_t{4} << i}"),
               caught_by="Anchors.StrideIsTheWholeQuotient Anchors.AreTorchvisions"),
    ],
    "IoU with +1": [
        mutant("sides with +1", HOST + "boxes.cc",
               ("(box.x2 - box.x1) * (box.y2 - box.y1)", "(box.x2 - box.x1 + 1) * (box.y2 - box.y1 + 1)"),
               ("std::max(a.x1, b.x1);", "std::max(a.x1, b.x1) + 1;"), ("std::max(a.y1, b.y1);", "std::max(a.y1, b.y1) + 1;"),
               caught_by="Boxes.OverlapHasNoPlusOne RpnTargets.OfSmallBoxesAreTorchvisions SelectProposals.SelectsAsTorchvision"
                         " SampleRois.SamplesAsTorchvision Suppression.OfSmallBoxesIsTorchvisions"),
        mutant("sides of EfficientDet with +1", HOST + "efficientdet_labels.cc",
               ("std::max(box.y1, anchor.y1), 0.0F)", "std::max(box.y1, anchor.y1) + 1, 0.0F)"),
               ("std::max(box.x1, anchor.x1), 0.0F)", "std::max(box.x1, anchor.x1) + 1, 0.0F)"),
               caught_by="EfficientDetLabels.AreEffdets EfficientDetLabels.HaveTheSumsOfTheStep"),
    ],
    "equal-IoU rule": [
        mutant("an anchor is of the last of equal boxes", HOST + "rpn_targets.cc",
               ("shared > matches.best[anchor]", "shared >= matches.best[anchor]"),
               caught_by="RpnTargets.OfSmallBoxesAreTorchvisions RpnTargets.AreOfTheFirstOfEqualBoxes"),
        mutant("a box forces the first of its anchors alone", HOST + "rpn_targets.cc",
               ("if (shared == closest.most) closest", "if (shared == closest.most && closest.anchors.empty()) closest"),
               caught_by="RpnTargets.OfSmallBoxesAreTorchvisions RpnTargets.AreThePlainLoop"),
        mutant("a forced anchor is of the box that forces it", HOST + "rpn_targets.cc",
               ("matches.is_forced[anchor] = true", "matches.is_forced[anchor] = true, matches.match[anchor] = number"),
               caught_by="RpnTargets.OfSmallBoxesAreTorchvisions RpnTargets.AreThePlainLoop"),
        mutant("a region is of the last of equal objects", HOST + "roi_samples.cc",
               ("if (shared <= best) continue;", "if (shared < best) continue;"),
               caught_by="SampleRois.LabelsByTheFirstOfEqualObjectsFromTheOverlapOn"),
        mutant("a detection takes the first of equal objects", "src/quality/coco_ap.cc",
               ("if (overlap < least) continue;", "if (overlap < least || (best && overlap == least)) continue;"),
               caught_by="CocoAp.TakesTheLaterOfObjectsOverlappedAlike"),
        mutant("an anchor of EfficientDet is of the last of equal boxes", HOST + "efficientdet_labels.cc",
               ("if (shared > best[a])", "if (shared >= best[a])"),
               caught_by="EfficientDetLabels.GiveAnAnchorTheFirstOfEqualBoxes"),
        mutant("a box of EfficientDet takes the last of its best anchors", HOST + "efficientdet_labels.cc",
               ("if (shared > most)", "if (shared >= most)"), caught_by="EfficientDetLabels.AreEffdets"),
        mutant("EfficientDet's overlaps in double", HOST + "efficientdet_labels.cc",
               ("std::vector<float> best(", "std::vector<double> best("), ("float most = -1", "double most = -1"),
               ("const float shared = overlap_of", "const double shared = overlap_of"),
               ("float overlap_of(const YxBox& box, float box_area,", "double overlap_of(const YxBox& box, double,"),
               ("  const float height = std::max(std::min(box.y2, anchor.y2) - std::max(box.y1, anchor.y1), 0.0F);",
                "  const double height = std::max(1.0 * std::min(box.y2, anchor.y2) - std::max(box.y1, anchor.y1), 0.0);"),
               ("  const float width = std::max(std::min(box.x2, anchor.x2) - std::max(box.x1, anchor.x1), 0.0F);",
                "  const double width = std::max(1.0 * std::min(box.x2, anchor.x2) - std::max(box.x1, anchor.x1), 0.0);"),
               ("  const float shared = height * width;", "  const double shared = height * width;"),
               ("  const float either = (box_area + area_of(anchor)) - shared;",
                "  const auto area = [](const YxBox& x) { return (1.0 * x.y2 - x.y1) * (1.0 * x.x2 - x.x1); };\n"
                "  const double either = area(box) + area(anchor) - shared;"),
               caught_by="EfficientDetLabels.AreEffdets"),
    ],
    "sampler's order": [
        mutant("the higher index of equal keys", HOST + "sampler.cc",
               ("<< 32 | static_cast<uint32_t>(i)", "<< 32 | static_cast<uint32_t>(~i)"),
               ("static_cast<int32_t>(k); }", "~static_cast<int32_t>(k); }"),
               caught_by="Sampler.TakesTheLowerIndexOfEqualKeys RpnTargets.OfSmallBoxesAreTorchvisions"),
        mutant("the largest keys", HOST + "sampler.cc",
               ("static_cast<uint64_t>(keys[i])", "static_cast<uint64_t>(INT32_MAX - keys[i])"),
               caught_by="Sampler.TakesTheLowerIndexOfEqualKeys RpnTargets.AreTorchvisions SampleRois.SamplesAsTorchvision"),
        mutant("the lowest indices", HOST + "sampler.cc",
               ("static_cast<uint64_t>(keys[i]) << 32", "static_cast<uint64_t>(keys[i] * 0) << 32"),
               caught_by="Sampler.TakesTheLowerIndexOfEqualKeys RpnTargets.AreTorchvisions SampleRois.SamplesAsTorchvision"),
        mutant("taken in the order of keys", HOST + "sampler.cc",
               ("std::nth_element(keyed.begin(), keyed.begin() + taken, keyed.end());", "std::sort(keyed.begin(), keyed.end());"),
               ("std::sort(out.begin(), out.end());", ""),
               caught_by="Sampler.TakesTheLowerIndexOfEqualKeys RpnTargets.AreTorchvisions SampleRois.SamplesAsTorchvision"),
    ],
    "box code weights": [
        mutant("regions coded with the weights of anchors", HOST + "roi_samples.cc",
               ("kDetectionWeights", "kProposalWeights"), caught_by="SampleRois.SamplesAsTorchvision"),
        mutant("weights divide", HOST + "boxes.cc",
               ("weights[0] * (to.x - from.x)", "(to.x - from.x) / weights[0]"),
               ("weights[1] * (to.y - from.y)", "(to.y - from.y) / weights[1]"),
               ("weights[2] * std::log", "1 / weights[2] * std::log"), ("weights[3] * std::log", "1 / weights[3] * std::log"),
               caught_by="Boxes.EncodesAsTorchvision SampleRois.SamplesAsTorchvision"),
        mutant("anchors coded with the weights of regions", HOST + "rpn_targets.cc",
               ("kProposalWeights", "kDetectionWeights"), caught_by="RpnTargets.AreTorchvisions"),
        mutant("proposals decoded with the weights of regions", HOST + "proposals.cc",
               ("kProposalWeights", "kDetectionWeights"), caught_by="SelectProposals.SelectsAsTorchvision"),
    ],
    "level assignment off by one": [
        mutant("the level below", HOST + "roi_samples.cc", ("std::floor(4 +", "std::floor(3 +"),
               caught_by="RoiLevel.IsTorchvisions SampleRois.SamplesAsTorchvision"),
        mutant("the level above", HOST + "roi_samples.cc", ("std::floor(4 +", "std::floor(5 +"),
               caught_by="RoiLevel.IsTorchvisions SampleRois.SamplesAsTorchvision"),
        mutant("without the small addend", HOST + "roi_samples.cc", (" + 1e-6", ""),
               caught_by="RoiLevel.IsTorchvisions"),
    ],
    "mean over the wrong count": [
        mutant("regions over all rows", HOST + "roi_samples.cc",
               ("static_cast<double>(rows.size())", "static_cast<double>(extents.images * extents.rows)"),
               caught_by="SampleRois.LeavesUnusedRowsZero"),
        mutant("boxes over the positives", HOST + "roi_samples.cc",
               ("store_weights(std::ssize(samples.positives), weight,",
                "store_weights(std::ssize(samples.positives), double(extents.images) / double(samples.positives.size()),"),
               caught_by="SampleRois.WeighsByTheCountsOfTheBatch"),
        mutant("masks over all rows", HOST + "roi_samples.cc",
               ("images / (pixels * static_cast<double>(positives))", "images / (pixels * double(target.shape()[0]))"),
               caught_by="SampleRois.WeighsByTheCountsOfTheBatch"),
        mutant("anchors over all slots", DATA + "two_stage_encoder.cc",
               ("static_cast<float>(samples / sampled)", "static_cast<float>(1 / double(spec_.sampled_anchors))"),
               caught_by="TwoStageEncoder.WeightsSumToTheSamplesWhereAnchorsAreFewerThanSlots"),
        mutant("EfficientDet's positives without the 1", DATA + "one_stage_encoder.cc",
               ("1 + static_cast<double>(matched)", "static_cast<double>(matched)"),
               caught_by="OneStageEncoder.LabelsTheAnchorsOfTheReference"),
    ],
    "mask target thresholded": [
        mutant("mask targets of 0 and 1", HOST + "mask_targets.cc",
               ("  return target;", "  for (double& value : target) value = value >= 0.5;\n  return target;"),
               caught_by="MaskTarget.IsTorchvisions SampleRois.SamplesAsTorchvision"),
    ],
    "crowd counted": [
        mutant("a crowd is an object of training", DATA + "coco_pictures.cc",
               ("return !annotation.crowd &&", "return"), ("if (annotation.crowd) {", "if (false) {"),
               caught_by="Coco.TellsWhatIsLeftOutAndWhy Coco.AnImageOfOnePixelAndOneWithCrowdsAloneAreSamples"),
        mutant("a crowd is to be found", "src/quality/coco_ap.cc",
               ("!objects_[i].crowd && within", "within"),
               caught_by="Region/CocoGolden.EqualsPycocotools/Boxes Region/CocoGolden.EqualsPycocotools/Masks"
                         " CocoAp.PrefersAnObjectThatCountsToACrowd"),
        mutant("a crowd is taken once", "src/quality/coco_ap.cc",
               ("taken_[i] && !objects_[order_[i]].crowd", "taken_[i]"),
               caught_by="CocoAp.CrowdTakesAnyNumberAndCountsNone"),
        mutant("overlap with a crowd over both", "src/quality/coco_ap.cc", ("object.crowd ? own : own +", "own +"),
               caught_by="Region/CocoGolden.EqualsPycocotools/Boxes Region/CocoGolden.EqualsPycocotools/Masks"),
    ],
    "stochastic depth by batch": [
        mutant("one draw for all samples", "src/graph/ops/elementwise.cc", ("extents[0] = x[0];", ""),
               caught_by="DropoutOp.OfSamplesTakesAMaskOfOneEach DropoutCost.OfSamplesScalesOneNumberEach"),
        mutant("a draw for every element", "src/graph/ops/elementwise.cc", ("if (!op.per_sample) return x;", "return x;"),
               caught_by="DropoutOp.OfSamplesTakesAMaskOfOneEach DropoutCost.OfSamplesScalesOneNumberEach"),
    ],
}
