// Whose gradient an op is part of: TF_AddGradients names what it adds by kind alone ("gradients/Mul_7"), so the
// gradient functions themselves are watched while they add.
#pragma once

// `added` is told of every op that the gradient of `forward` adds or is given, ops that were there before included;
// nullptr: nobody is. From the first call on the registry holds functions that tell and pass on.
extern "C" void tbd_watch_gradients(void (*added)(void* context, const char* op, const char* forward), void* context);
