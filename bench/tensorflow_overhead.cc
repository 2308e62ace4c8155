// What the TensorFlow back-end itself costs in a ResNet-50 step: the time of its thread outside of TF_SessionRun.
#include <tensorflow/c/c_api.h>

#include "own_time.h"

TBD_TIMED(void, TF_SessionRun,
          (TF_Session * session, const TF_Buffer* options, const TF_Output* inputs, TF_Tensor* const* values, int n,
           const TF_Output* outputs, TF_Tensor** results, int m, const TF_Operation* const* targets, int k,
           TF_Buffer* metadata, TF_Status* status),
          (session, options, inputs, values, n, outputs, results, m, targets, k, metadata, status))

int main(int argc, char** argv) { return tbd::bench::own_time(argc, argv, tbd::ImageLayout::kNhwc); }
