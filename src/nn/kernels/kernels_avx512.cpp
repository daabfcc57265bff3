#define NMT_KERNEL_SET avx512
#define NMT_KERNEL_NAME "avx512"
#define NMT_ROW_BLOCK 8  // rows of accumulators that fit this instruction set's registers
#include "nn/kernels/kernels_impl.h"
