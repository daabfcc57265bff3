#define NMT_KERNEL_SET baseline
#define NMT_KERNEL_NAME "baseline"
#define NMT_PACKED_WIDTH 4
#define NMT_PACKED_ROWS 4
#define NMT_PACKED_VECS 2
#include "nn/kernels/training/training_product_impl.h"
