// The set for AVX-VNNI, with AVX-512's encoding of the same instruction: its code runs in tests where no processor with
// AVX-VNNI is at hand. QEMU 7.2 emulates neither.
#ifdef __AVX512VNNI__
#define NMT_KERNEL_SET avx_vnni_by_avx512
#define NMT_PACKED_WIDTH 8
#define NMT_PACKED_ROWS 6
#define NMT_PACKED_VECS 2
#include "nn/kernels/packed/packed_set.cpp"
#endif
