#define NMT_KERNEL_SET avx_vnni
#define NMT_KERNEL_NAME "avx_vnni"
#define NMT_PACKED_WIDTH 8
#define NMT_PACKED_ROWS 6
#define NMT_PACKED_VECS 2
#include "nn/kernels/packed/packed_product_impl.h"
