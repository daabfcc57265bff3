#pragma once

#include <cstdint>

#include "nn/kernels/recurrent.h"
#include "nn/kernels/types.h"

/// The toolkit's own CPU kernels, free of torch: plain pointers in, plain pointers out, single-threaded; callers split
/// the work into ranges of rows or (sentence, head) pairs. What a range computes does not depend on how the work was
/// split, so results are the same for every number of threads.
///
/// The bodies (kernels_impl.h) are compiled once for each instruction set; kernels() picks at run time. bfloat16 is
/// stored as the upper half of a float (uint16_t); all arithmetic is in float.
namespace nmt::kernels {

/// One (batch, head) grid of attention. Row t of head h in sentence b of q stands at
/// q + (b * target + t) * query_stride + h * head_dim (elements); k and v alike with source and key_stride; context,
/// its gradient and the gradients of q, k and v likewise with the strides named.
struct AttentionShape {
  int64_t batch = 0, heads = 0, target = 0, source = 0, head_dim = 0;
  int64_t query_stride = 0, key_stride = 0, context_stride = 0;  ///< between neighbouring rows
  const int64_t* target_lengths = nullptr;  ///< [batch] real rows; rows beyond get context 0; nullptr = all
  const int64_t* source_lengths = nullptr;  ///< [batch] keys that may be looked at; nullptr = all
  bool causal = false;                      ///< row t looks at keys 0..t only
  float scale = 1;                          ///< of the scores
  float dropout = 0;                        ///< probability that a weight is dropped
  uint64_t dropout_key = 0;
};

/// Backward of attention: what comes in and what goes out; strides as in AttentionShape.
struct AttentionGradients {
  const void* context_gradient = nullptr;
  void* query_gradient = nullptr;
  void* key_gradient = nullptr;
  void* value_gradient = nullptr;
  int64_t query_gradient_stride = 0, key_gradient_stride = 0;
};

/// One query a row against cached keys and values, float: a decoding step.
struct AttentionStep {
  int64_t heads = 0, head_dim = 0;
  const float* q = nullptr;                ///< [rows, heads * head_dim]
  const float* keys = nullptr;             ///< [memories, positions, heads * head_dim]
  const float* values = nullptr;           ///< like keys
  float* context = nullptr;                ///< [rows, heads * head_dim]
  int64_t memory_stride = 0;               ///< elements from one memory to the next
  const int64_t* memory_of_row = nullptr;  ///< [rows] which memory a row looks at; nullptr = row r at memory r
  const int64_t* lengths = nullptr;        ///< [memories] positions that are there
  float scale = 1;
};

/// Label smoothing on rows of logits: q = (1 - smoothing) onehot + smoothing / classes.
struct CrossEntropyRows {
  void* logits = nullptr;  ///< [rows, classes]; becomes the gradient times gradient_scale where write_gradient
  int64_t rows = 0, classes = 0;
  const int64_t* labels = nullptr;  ///< [rows]; negative: the row does not count (loss 0, gradient 0)
  float smoothing = 0;
  bool write_gradient = false;
  float gradient_scale = 1;
  float* loss = nullptr;        ///< [rows] -sum_v q_v log p_v, in nats
  float* label_loss = nullptr;  ///< [rows] -log p(label): what perplexity is made of
  uint8_t* correct = nullptr;   ///< [rows] 1 where the label has the highest logit
};

constexpr int64_t kPanel = 32;  ///< columns of the result that pack() puts side by side

struct LinearTask {
  const float* x = nullptr;       ///< [rows, in]
  const float* packed = nullptr;  ///< of pack()
  const float* bias = nullptr;    ///< [out] or nullptr
  float* y = nullptr;             ///< [rows, out]
  int64_t out = 0, in = 0;
};

struct Kernels {
  const char* name;  ///< "avx512", "avx2", "baseline"

  /// out[i] = (residual ? residual[i] : 0) + keep_i * x[i] / (1 - p) for i in [begin, end);
  /// keep_i is a function of (key, i). Also the gradient of x, with x := gradient of out and no residual.
  void (*dropout)(Type type, void* out, const void* x, const void* residual, float p, uint64_t key, int64_t begin,
                  int64_t end);

  /// Scaled dot-product attention of the (sentence, head) pairs [begin, end) of batch * heads (Vaswani et al.
  /// 2017, 3.2.1). log_sums [batch, heads, target]: log of the sum of exp(scores), for the backward pass; may be
  /// nullptr.
  void (*attention)(Type type, const AttentionShape& shape, const void* q, const void* k, const void* v, void* context,
                    float* log_sums, int64_t begin, int64_t end);
  void (*attention_backward)(Type type, const AttentionShape& shape, const void* q, const void* k, const void* v,
                             const void* context, const float* log_sums, const AttentionGradients& gradients,
                             int64_t begin, int64_t end);

  /// Attention of the (row, head) pairs [pairs.begin, pairs.end) of rows * heads. A row's result depends on nothing
  /// else.
  void (*attention_step)(const AttentionStep& step, Range pairs);

  void (*cross_entropy)(Type type, const CrossEntropyRows& rows, int64_t begin, int64_t end);

  /// Packs weight [out, in] (float, row-major) for linear(): packed_size(out, in) floats.
  void (*pack)(const float* weight, int64_t out, int64_t in, float* packed);
  /// y[r, c] = x[r, :] · weight[c, :] + bias[c] for the rows [rows.begin, rows.end) and the panels of kPanel columns
  /// [panels.begin, panels.end). Each element is one chain of sums over `in` in ascending order: the same bits whatever
  /// the number of rows. bias may be nullptr.
  void (*linear)(const LinearTask& task, Range rows, Range panels);

  RecurrentKernels recurrent;
};

/// Floats that pack() writes: `out` is rounded up to whole panels.
constexpr int64_t packed_size(int64_t out, int64_t in) { return (out + kPanel - 1) / kPanel * kPanel * in; }

/// The best set for this processor.
const Kernels& kernels();
/// A set by name, for tests; nullptr where the processor cannot run it.
const Kernels* kernels_by_name(const char* name);

}  // namespace nmt::kernels
