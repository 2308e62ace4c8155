// What the CNTK back-end itself costs in a ResNet-50 step: the time of its thread outside of CNTK's forward and
// backward pass. The update is a loop of the back-end (docs/backends.md), so that it is in.
#include "backends/cntk/abi.h"
#include "own_time.h"

using CNTK::CompositeFunction, CNTK::DeviceDescriptor, CNTK::Values, CNTK::Variables;
using State = std::shared_ptr<CNTK::BackPropState>;

// CompositeFunction::Forward and ::Backward
TBD_TIMED(
    State,
    _ZN4CNTK17CompositeFunction7ForwardERKSt13unordered_mapINS_8VariableESt10shared_ptrINS_5ValueEESt4hashIS2_ESt8equal_toIS2_ESaISt4pairIKS2_S5_EEERSE_RKNS_16DeviceDescriptorERKSt13unordered_setIS2_S7_S9_SaIS2_EESP_,
    (CompositeFunction * function, const Values& arguments, Values& outputs, const DeviceDescriptor& device,
     const Variables& roots, const Variables& without_gradient),
    (function, arguments, outputs, device, roots, without_gradient))
TBD_TIMED(
    void,
    _ZN4CNTK17CompositeFunction8BackwardERKSt10shared_ptrINS_13BackPropStateEERKSt13unordered_mapINS_8VariableES1_INS_5ValueEESt4hashIS7_ESt8equal_toIS7_ESaISt4pairIKS7_S9_EEERSI_,
    (CompositeFunction * function, const State& state, const Values& roots, Values& gradients),
    (function, state, roots, gradients))

int main(int argc, char** argv) { return tbd::bench::own_time(argc, argv, tbd::ImageLayout::kNchw); }
