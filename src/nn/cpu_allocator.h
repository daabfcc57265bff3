#pragma once

#include <cstdint>

namespace nmt {

/// From now on tensors on the CPU are kept when they are freed and handed out again: a training step frees and asks for
/// the same large tensors again and again, and the page faults of fresh memory would cost more than the arithmetic.
/// Sizes are rounded up to eighths of a power of two, so what is kept is bounded by the largest need of each size. Call
/// first thing in a program; calls after the first do nothing.
void reuse_freed_tensors();

/// Bytes that are taken from the system for tensors at present, in use or kept; 0 before reuse_freed_tensors().
int64_t tensor_bytes();

}  // namespace nmt
