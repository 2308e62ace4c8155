// Laplacian pyramid of an image: what each resolution adds to the next smaller one.
// Burt and Adelson 1983, IEEE Transactions on Communications 31(4).
#pragma once
#include <cstdint>
#include <vector>

namespace tbd {

// One channel, row by row.
struct ImagePlane {
  int64_t height = 0, width = 0;
  std::vector<double> values;
};

// Smoothed by the kernel [1 4 6 4 1] x [1 4 6 4 1] / 256, of which the even rows and columns stay. The border mirrors
// without repeating the edge. Throws Error(invalid) unless height and width are even.
ImagePlane pyramid_down(const ImagePlane& plane);
// Of twice the extents: zeros between the values, smoothed by the kernel x 4.
ImagePlane pyramid_up(const ImagePlane& plane);
// `levels` planes: each resolution less pyramid_up of the next, halved; the last is what is left. Throws Error(invalid)
// for less than one level, and as pyramid_down.
std::vector<ImagePlane> laplacian_pyramid(ImagePlane plane, int64_t levels);

}  // namespace tbd
