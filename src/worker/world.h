// What the ranks of a world have to have in common before they exchange anything: an engine adds up what it is given.
#pragma once
#include <string>
#include <vector>

#include "worker/session.h"

namespace tbd {

// What decides the numbers of a rank and the order of its exchanges, but not its place.
std::string identity_of_rank(const SessionIdentity& worker, const Program& program, const LoadOptions& options);
// Throws Error(invalid) with the first difference and both values where a rank, by number, differs from rank 0.
void require_alike(const std::vector<std::string>& identities);

}  // namespace tbd
