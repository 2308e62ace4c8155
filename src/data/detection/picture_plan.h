// How a picture with its objects comes onto the canvas of a network's input: scaled, perhaps mirrored, perhaps cut.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "data/detection/detection_spec.h"
#include "data/jpeg_decoder.h"
#include "host/run_lengths.h"

namespace tbd {

struct PicturePlan {
  ImageSize source;                // of the picture in its file
  ImageSize scaled;                // what the whole of it becomes
  int64_t left = 0, top = 0;       // of the part of `scaled` that is shown
  ImageSize shown;                 // that part, at the upper left of the canvas
  float scale_x = 1, scale_y = 1;  // of boxes
  bool flip = false;               // left and right are exchanged, before all else
};

// Which draws a picture gets: those of its place in the data set in one epoch. Flip: uniform 0 of stream data/flip
// (step = epoch, sample = position) < 1/2; scale: stream data/detection_scale (the same).
struct PictureDraws {
  uint64_t seed = 0;
  uint32_t epoch = 0, position = 0;
};

// Extents floor(h s) and floor(w s) in double, s = min(short_side / min(h, w), long_side / max(h, w)), and at least 1.
// Rounding makes the shorter side 799 of some heights, as in torchvision's GeneralizedRCNNTransform.
ImageSize resized_extents(ImageSize image, int64_t short_side, int64_t long_side);
// Whether a picture of that size finds place on the canvas of a network of two stages.
bool fits_canvas(ImageSize image, const DetectionSpec& spec);

// As torchvision's: resized_extents by spec; boxes by new / old extent in float32. With draws: mirrored by chance, and
// with spec.multiscale a shorter side of (20 + floor(6 u)) / 25 of short_side, u being uniform 0 of the scale's stream.
PicturePlan two_stage_plan(ImageSize image, const DetectionSpec& spec, std::optional<PictureDraws> draws);
// As effdet's RandomResizePad: the canvas' side times a factor, uniform in [least_scale, most_scale) of spec by uniform
// 0 of the scale's stream (without draws 1), is what the longer side becomes; extents are rounded down, and at least 1.
// What is larger than the canvas is cut at floor(u (extent - side)), of y by uniform 1 and of x by uniform 2.
PicturePlan one_stage_plan(ImageSize image, const DetectionSpec& spec, std::optional<PictureDraws> draws);
PicturePlan picture_plan(ImageSize image, const DetectionSpec& spec, std::optional<PictureDraws> draws);

// x1 y1 x2 y2 of a box x y width height, clipped to the picture, in float32; nullopt where nothing is left.
std::optional<std::array<float, 4>> clipped_box(const std::array<double, 4>& box, ImageSize image);
// That box on the canvas, in float32; nullopt where nothing of it is shown.
std::optional<std::array<float, 4>> placed_box(const std::array<float, 4>& box, const PicturePlan& plan);
// The mask of plan.source as one of plan.shown, which is all of plan.scaled. Nearest neighbour, as resize.
RunLengths placed_mask(const RunLengths& mask, const PicturePlan& plan);
// out (3, canvas.height, canvas.width): the picture normalised and resampled, 0 where it is not. Bilinear between the
// two nearest of either axis, without antialiasing: pixel i of an axis is at max((i + 1/2) r - 1/2, 0) with r = old /
// new extent, in float32.
void place_picture(const RgbImage& image, const PicturePlan& plan, ImageSize canvas, std::span<float> out);

}  // namespace tbd
