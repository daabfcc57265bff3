#define NMT_KERNEL_SET avx2
#define NMT_KERNEL_NAME "avx2"
#define NMT_ROW_BLOCK 3  // rows of accumulators that fit this instruction set's registers
#include "nn/kernels/kernels_impl.h"
