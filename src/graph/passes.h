// Program to program rewrites, applied by the runner before a program is sent to a worker.
// model_hash is program_hash before them, lowered_hash after. Error(usage) with the nearest names on an unknown word.
#pragma once
#include "base/workload_words.h"
#include "graph/program.h"

namespace tbd {

// fp32, tf32: unchanged (tf32 is a run option of the back-end). fp64: every float value is double.
// bf16, fp16: explicit casts as docs/conventions.md, Precision: operands of matrix-like ops (attention and recurrent
// ones too) take the low type, a weight is cast once per phase and shared, losses run in fp32, norms and softmax keep
// their operand's type with own parameters in fp32, an embedding has its weight's type; fp16 also turns on dynamic loss
// scaling. A cast of value v to bf16 is the node "v@bf16".
Program with_precision(Program program, const Precision& precision);

// mask: each dropout node gets an input mask/<node> of its operand's shape as operand 1, each attention node with
// dropout an input mask/<node> (N, heads, Tq, Ts) as its last operand; off: dropout nodes disappear, attention's
// dropout is 0. Comes before with_precision, which casts masks like other operands.
Program with_dropout(Program program, const DropoutMode& mode);

// Each phase of the step list gets a form for held-out data beside it, "<phase>.evaluation", which no step entry names:
// norms by their running statistics, no dropout, no update. Its terms are sums over a batch as those of training are.
// `own`, where it has phases, stands for them all: a network whose answers are made otherwise than its loss brings
// them. Throws Error(invalid) where they read a parameter or buffer that the program has not.
Program with_evaluation(Program program, const Program& own = {});
std::string evaluation_of(std::string_view phase);

// A phase "<phase>.answers" beside the others, which no step entry names: what the outputs of `phase` need, without
// its loss and the labels that only this reads.
Program with_answers(Program program, std::string_view phase);
std::string answers_of(std::string_view phase);

}  // namespace tbd
