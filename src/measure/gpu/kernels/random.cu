// Before every other text here: random bits of a thread, so that no multiplier works on constants, which draw less power
// and read too high a rate. THREADS (of a block), CHAINS and STEPS are defined where FLOPs are counted: gpu_kernels.cc.

// Of the thread's and the word's number, by the finalizer of MurmurHash3 (Appleby).
__device__ unsigned random_bits(unsigned word) {
  unsigned bits = (blockIdx.x * blockDim.x + threadIdx.x) * 64 + word + 1;
  bits = (bits ^ (bits >> 16)) * 0x85ebca6bu;
  bits = (bits ^ (bits >> 13)) * 0xc2b2ae35u;
  return bits ^ (bits >> 16);
}

__device__ unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }
