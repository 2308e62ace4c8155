// One pass over held-out data: a phase without an update answers, and a judge says how right it is.
#pragma once
#include <functional>

#include "worker/judge.h"
#include "worker/protocol.h"
#include "worker/session.h"

namespace tbd {

// All samples of the set once, in its order, in batches of the program's binding; a last batch is filled up with its
// first sample, which then counts once. metrics["loss"] is the sum over terms of norm * (sum over the set) / (what the
// data count of the term, else samples), of the phase's terms where it has any; the judge's are beside it.
// Throws Error(unsupported) where the set does not give what the phase reads or has no end, Error(usage) for more
// pictures than the judge can draw, Error(io) when `stopped` says so.
protocol::EvaluateReply evaluate(Session& session, const protocol::Load& loaded, const protocol::Evaluate& request,
                                 const std::function<bool()>& stopped);

// The outputs of a phase by their names, among what a session captured of it.
TensorMap outputs_of(const TensorMap& captured);

// What the set has, in both its parts, before anything is trained on it. Throws Error(unsupported) for made data, which
// have no end, and as open_source does: not_found where nothing is held out.
protocol::SurveyReply survey(const protocol::Load& loaded, const protocol::Survey& request);

}  // namespace tbd
