#pragma once

#include <cstdint>

namespace nmt {

/// From now on tensors on the CPU are kept when they are freed and handed out again: a training step frees and asks for
/// the same large tensors again and again, and the page faults of fresh memory would cost more than the arithmetic.
/// Sizes are rounded up to eighths of a power of two, and a block serves what is at most a fifth smaller. What is in
/// use and what is kept together never take more than an eighth above the largest need so far (but at least 16 MB and
/// at most 64 MB): what has not been wanted for longest goes back to the system first. Call first thing in a program;
/// calls after the first do nothing.
void reuse_freed_tensors();

/// All that is kept goes back to the system, and the largest need begins again with what is in use: where others, such
/// as oneDNN for its code, found no memory left.
void give_back_freed_tensors();

/// Bytes that are taken from the system for tensors at present, in use or kept; 0 before reuse_freed_tensors().
int64_t tensor_bytes();

/// The most bytes that tensors had in use at once since the last call of measure_tensors_anew(), by what they asked
/// for; those of at most 4 KB are not counted. 0 before reuse_freed_tensors().
int64_t most_tensor_bytes_in_use();
void measure_tensors_anew();

/// While it lives, tensors on the CPU have at most so many bytes together: what asks for more gets std::bad_alloc, as
/// on a machine without memory. Those of at most 4 KB are not counted. One at a time; after reuse_freed_tensors().
class TensorLimit {
 public:
  explicit TensorLimit(int64_t bytes);
  ~TensorLimit();
  TensorLimit(const TensorLimit&) = delete;
};

}  // namespace nmt
