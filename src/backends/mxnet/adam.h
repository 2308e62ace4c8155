// Adam, AdamW and LAMB (docs/conventions.md, Optimizers): by MXNet's update ops, or composed of elementwise ones.
#pragma once
#include "backends/mxnet/optimizer.h"

namespace tbd::mxnet {

// Whether MXNet's ops keep our moments to 1e-6, whatever the number of steps. Their betas are single precision: 1 - b
// is 1.3e-5 too small for 0.999, which is put right by multiples of gradient and moments (adam.cc).
bool folds_moments(const Optimizer& optimizer);

void adam_by_mxnet(const Trained& t, const Optimizer& o, const Rates& r);  // adam, adamw
void lamb_by_mxnet(const Trained& t, const Optimizer& o, const Rates& r);
void adam_composed(const Trained& t, const Optimizer& o, const Rates& r);
void lamb_composed(const Trained& t, const Optimizer& o, const Rates& r);

}  // namespace tbd::mxnet
