// Wilson's interval of a share, of games that were won or of trials that failed.
#pragma once
#include <cstdint>

namespace tbd {

struct ShareInterval {
  double low = 0, high = 0;
};
// Of a share of `successes` among `trials`, which holds 95 % of the time and never leaves [0, 1]. Wilson 1927, JASA 22.
// A draw is half a success. 200 of 200 show 0.981 and no more: an end of 0.99 takes 381. Throws Error(invalid) without
// trials or for successes outside of [0, trials].
ShareInterval wilson_interval(double successes, int64_t trials);

}  // namespace tbd
