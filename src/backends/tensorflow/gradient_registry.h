// Gradients that TensorFlow's C++ registry lacks. Of all sources only gradient_registry.cc and gradient_watch.cc
// see TensorFlow's C++ headers.
#pragma once

// Once a process, before a gradient is asked for. Ops that have a gradient by now are left alone.
extern "C" void tbd_register_gradients();
// How often a gradient function of ours was called, for tests: 0 for an op whose registration was ignored.
extern "C" int tbd_gradient_calls(const char* op);
