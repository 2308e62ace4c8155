// What the word of a link says: a rate in bits a second, and a delay each way where there is one.
#pragma once
#include <string_view>

#include "base/workload_words.h"

namespace tbd {

struct LinkLimits {
  double bits_per_second = 0;  // each way
  double delay_s = 0;          // each way
};
inline constexpr std::string_view kLoopback = "loopback";             // as a request spells it
inline constexpr double kLeastLinkRate = 1e5, kMostLinkRate = 1e11;   // bits per second
inline constexpr double kLeastLinkDelay = 1e-6, kMostLinkDelay = 10;  // seconds

// "1Gbit", "100Mbit+1ms". Throws Error(usage) with the nearest link on another form; the loopback has no limits.
LinkLimits limits_of(const Link& link);
void require_known(const Link& link);    // throws so
Link link_of(const LinkLimits& limits);  // in the largest units of which there is at least one

}  // namespace tbd
