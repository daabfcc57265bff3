#define NMT_KERNEL_SET avx512
#define NMT_KERNEL_NAME "avx512"
#define NMT_PACKED_WIDTH 16
#define NMT_PACKED_ROWS 6
#define NMT_PACKED_VECS 4
#include "nn/kernels/training/training_product_impl.h"
