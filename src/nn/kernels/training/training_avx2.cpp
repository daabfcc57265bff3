#define NMT_KERNEL_SET avx2
#define NMT_KERNEL_NAME "avx2"
#define NMT_PACKED_WIDTH 8
#define NMT_PACKED_ROWS 6
#define NMT_PACKED_VECS 2
#include "nn/kernels/training/training_product_impl.h"
