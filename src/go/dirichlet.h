// Draws of the gamma and Dirichlet distributions.
#pragma once
#include <vector>

#include "go/random_player.h"

namespace tbd::go {

// The logarithm of one draw of Gamma(alpha, 1), alpha > 0: with a small alpha the draw itself is often below any
// double. Marsaglia & Tsang 2000, "A simple method for generating gamma variables", with its power of a uniform number
// for alpha < 1.
double log_gamma_draw(double alpha, RandomWords& words);

// `count` numbers that sum to 1: draws of Gamma(alpha) divided by their sum.
std::vector<double> dirichlet(double alpha, size_t count, RandomWords& words);

}  // namespace tbd::go
