// What fits the registers of the instruction set that a file is compiled for. kernel_set.cpp, packed_set.cpp and
// training_set.cpp are compiled once for each (nmt_kernel_set in cmake/NmtTargets.cmake), everything in them in a
// namespace of the set's name, NMT_KERNEL_SET. NMT_PACKED_NEON: with the instructions of ARM64.
#pragma once

#define NMT_TEXT_OF(name) #name
#define NMT_TEXT(name) NMT_TEXT_OF(name)
#define NMT_KERNEL_NAME NMT_TEXT(NMT_KERNEL_SET)

// Numbers in a register, rows of a tile of a packed product and vectors in each, rows of accumulators of a product.
#if defined(NMT_PACKED_WIDTH)  // a test has chosen
#elif defined(__AVX512F__)
#define NMT_PACKED_WIDTH 16
#define NMT_PACKED_ROWS 6
#define NMT_PACKED_VECS 4
#define NMT_ROW_BLOCK 8
#elif defined(__AVX2__)
#define NMT_PACKED_WIDTH 8
#define NMT_PACKED_ROWS 6
#define NMT_PACKED_VECS 2
#define NMT_ROW_BLOCK 3
#elif defined(NMT_PACKED_NEON)
#define NMT_PACKED_WIDTH 4
#define NMT_PACKED_ROWS 5
#define NMT_PACKED_VECS 4
#else
#define NMT_PACKED_WIDTH 4
#define NMT_PACKED_ROWS 4
#define NMT_PACKED_VECS 2
#define NMT_ROW_BLOCK 2
#endif
