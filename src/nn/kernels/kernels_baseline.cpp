#define NMT_KERNEL_SET baseline
#define NMT_KERNEL_NAME "baseline"
#define NMT_ROW_BLOCK 2  // rows of accumulators that fit this instruction set's registers
#include "nn/kernels/kernels_impl.h"
