#pragma once

#include <cstdint>

#include "nn/kernels/recurrent.h"
#include "nn/kernels/types.h"

/// The toolkit's own CPU kernels, free of torch: plain pointers in, plain pointers out, single-threaded; callers split
/// the work into ranges of rows or (sentence, head) pairs. What a range computes does not depend on how the work was
/// split, so results are the same for every number of threads.
///
/// The bodies (kernel_set.cpp) are compiled once for each instruction set; kernels() picks at run time. bfloat16 is
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

/// One query a row against keys and values that lie where they were made: a decoding step. Queries and context are
/// float. Groups of heads / key_value_heads query heads share a head of keys and values.
struct AttentionStep {
  Type type = Type::kFloat;  ///< of keys and values
  int64_t heads = 0, key_value_heads = 0, head_dim = 0;
  const float* q = nullptr;  ///< [rows, heads * head_dim], rows query_stride apart
  int64_t query_stride = 0;
  const void* const* keys = nullptr;  ///< [rows, widest] where the keys of a row's positions stand, all heads
  int64_t widest = 0;
  const int64_t* lengths = nullptr;  ///< [rows] positions that are there, at least 1
  int64_t key_offset = 0;            ///< elements from there to the keys of this layer
  int64_t value_offset = 0;          ///< elements from the keys of a position to its values
  float* context = nullptr;          ///< [rows, heads * head_dim]
  float scale = 1;
};

/// Rows of float to be normalised: weight (x - mean) / sqrt(variance + epsilon) + bias, or without bias
/// weight x / sqrt(mean of squares + epsilon).
struct NormRows {
  const float* x = nullptr;       ///< [rows, size]
  const float* weight = nullptr;  ///< [size]
  const float* bias = nullptr;    ///< [size], or nullptr
  float* y = nullptr;             ///< [rows, size]
  int64_t size = 0;
  float epsilon = 0;
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

/// What a pair of rows with distributions p and q costs: first CE(p) + second CE(q) + forward KL(p||q) + backward
/// KL(q||p), each cross-entropy with its label smoothing.
struct PairLoss {
  float first = 1, second = 0, forward = 0, backward = 0;
};

constexpr int64_t kLogitBlock = 64;
constexpr int64_t logit_block_count(int64_t classes) { return (classes + kLogitBlock - 1) / kLogitBlock; }

/// Rows of logits in a search: what finding the best and their probabilities needs.
struct LogitRows {
  const float* logits = nullptr;  ///< [rows, classes]
  int64_t classes = 0;
  float* block_maxima = nullptr;  ///< [rows, logit_block_count(classes)] the greatest of each kLogitBlock logits
  float* maxima = nullptr;        ///< [rows] the greatest
  float* log_sums = nullptr;      ///< [rows] log of the sum of exp(logit - greatest); not finite for a damaged row
  float* weights = nullptr;       ///< [rows, classes] exp((logit - greatest) * sharpness), at least 2^-126; may be null
  float sharpness = 1;
};

struct Kernels {
  const char* name;  ///< "avx512", "avx2", "baseline"

  /// out[i] = (residual ? residual[i] : 0) + keep_i * x[i] / (1 - p) for i in [begin, end);
  /// keep_i is a function of (key, i). Also the gradient of x, with x := gradient of out and no residual.
  void (*dropout)(Type type, void* out, const void* x, const void* residual, float p, uint64_t key, int64_t begin,
                  int64_t end);

  /// out[i] = keep_i * max(x[i], 0) / (1 - p) for i in [begin, end), with keep_i as above. out may be x.
  void (*relu_dropout)(Type type, void* out, const void* x, float p, uint64_t key, int64_t begin, int64_t end);
  /// Its gradient of x, from that of out and from out itself: where out is 0, nothing flows. x_gradient may be
  /// out_gradient.
  void (*relu_dropout_backward)(Type type, void* x_gradient, const void* out_gradient, const void* out, float p,
                                int64_t begin, int64_t end);

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
  /// The same of the pairs of rows (2i, 2i + 1) for i in [begin, end), with the label of row 2i and its loss,
  /// label_loss and correct; those of row 2i + 1 become 0.
  void (*cross_entropy_pairs)(Type type, const CrossEntropyRows& rows, const PairLoss& pair, int64_t begin,
                              int64_t end);

  void (*normalise)(const NormRows& task, Range rows);
  void (*logit_rows)(const LogitRows& task, Range rows);
  /// y[i] = 1 / (1 + exp(-x[i])), relative error below 1e-6; y may be x.
  void (*sigmoid)(const float* x, float* y, int64_t count);

  RecurrentKernels recurrent;
};

/// The best set for this processor.
const Kernels& kernels();
/// A set by name, for tests; nullptr where the processor cannot run it or the environment does not allow it.
const Kernels* kernels_by_name(const char* name);

}  // namespace nmt::kernels
