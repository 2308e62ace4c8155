// The loops of bandwidth.h.
#pragma once
#include <cstdint>

extern "C" {
void tbd_loop_triad(double* a, const double* b, const double* c, int64_t elements);
void tbd_loop_copy(double* a, const double* b, const double* c, int64_t elements);
#ifdef __x86_64__
void tbd_loop_triad_avx2(double* a, const double* b, const double* c, int64_t elements);
void tbd_loop_copy_avx2(double* a, const double* b, const double* c, int64_t elements);
void tbd_loop_triad_nt(double* a, const double* b, const double* c, int64_t elements);
void tbd_loop_copy_nt(double* a, const double* b, const double* c, int64_t elements);
#endif
}
