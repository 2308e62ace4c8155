// Small programs that between them use every op and every form of a program: what back-ends are proven on before
// networks need it. All run in milliseconds; batch 4 suits each.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "graph/program.h"

namespace tbd {

// mlp20         20 linear layers of width 32: what a step costs to dispatch; sgd with momentum
// conv_forms    groups, dilation, stride, asymmetric pads; accumulation of two; adamw, clip, ema, warm-up, cosine
// norms         every norm and batch-norm mode, pools; Nesterov, step schedule by epochs
// elementwise   every unary and binary function, broadcasts, reductions; two loss terms; adam
// tied          tied weights, matrix products, dropout; lamb with two decay groups, linear decay
// frozen        a trunk behind stop_gradient and a parameter left out of the groups; plain sgd
// host_labels   a host op, top_rows, makes the labels; poly schedule
// penalty       two phases: generator once from step 2 on, critic three times; gradient penalty; adam
// tokens        embedding with a padding row, waves and positions; attention with mask and dropout, and causal with
//               rotary and grouped heads; gelu, SwiGLU; the table again as projection; smoothed loss that ignores
//               padding; a key bias, whose gradient is 0; adam, noam
// recurrent     lstm in both directions with lengths, its last states into unrolled lstm_cells; gather, slices, concat,
//               transpose, softmax; weighted rows; adam with clip
// speech        convolution over sound with lengths: masks, clamp, gru in both directions, norms over rows, CTC;
// Nesterov,
//               rate falling by the epoch, clip
// growing       upsampled and transposed convolutions, a gate; shares as targets, and a value; sgd with momentum
// boxes         feature maps fused by weights and plainly, one dropped by sample; a box at each place, whose distance
//               from a target counts by place; its class by focal loss; masks by a transposed convolution; plain sgd
// regions       patches of two maps at boxes of any place and size, their classes; plain sgd
std::vector<std::pair<std::string, Program>> toy_programs();
Program toy_program(std::string_view name);  // throws Error(not_found)

}  // namespace tbd
