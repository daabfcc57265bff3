#define NMT_KERNEL_SET neon_dotprod
#define NMT_KERNEL_NAME "neon_dotprod"
#define NMT_PACKED_NEON
#define NMT_PACKED_WIDTH 4
#define NMT_PACKED_ROWS 5
#define NMT_PACKED_VECS 4
#include "nn/kernels/packed/packed_product_impl.h"
