#pragma once

#include <torch/types.h>

#include <cstdint>

namespace nmt {

/// A place of dropout: which elements are zero is a function of (key, site, number of the element), and the backward
/// pass makes it again (kernels/dropout.py). The others are divided by 1 - p.
struct DropoutPlace {
  double p = 0;
  torch::Tensor key;  ///< int64 [1] on the device
  int32_t site = 0;
};

/// Sentences that one program of attention takes together, and their places.
struct AttentionTiles {
  int64_t size = 64;    ///< the most queries, and the most keys, of a tile: 64 or 128
  torch::Tensor tiles;  ///< int32 [tiles, 4]: first query, queries, first key, keys; whole sentences
};

/// Attention of sentences that lie end to end; heads lie side by side, D features each. The matrices may be columns of
/// larger ones.
struct PackedAttention {
  torch::Tensor q, k, v;                       ///< [queries, heads D], [keys, heads D] twice
  torch::Tensor query_segments, key_segments;  ///< int32: the number of a word's sentence, whose keys alone it sees
  int64_t heads = 1;
  bool causal = false;  ///< a query sees no key behind it: queries and keys are the same words
  DropoutPlace dropout;
};

/// n = norm(y) weight + bias of y = x + dropout(r + r_bias).
struct PackedNorm {
  torch::Tensor weight, bias, r_bias;  ///< float32 [width]
  double epsilon = 1e-6;
  bool centred = true;  ///< the layer form; false: the root of the mean square, with a bias of zeros
  DropoutPlace dropout;
};

/// What the second gradient that a norm gets back is of.
enum class SecondGradient { kNone, kOfY, kOfN };

/// Gradients of the embeddings of a batch: rows of the same word are added up in one order. The host makes it.
struct WordGroups {
  torch::Tensor order = {};    ///< int32 [rows]: rows of the batch, those of one word together
  torch::Tensor pieces = {};   ///< int32 [pieces, 3]: first place in order, rows (at most kPieceRows), and the table's
                               ///< row, or -1 - the row of parts where the word has several pieces
  torch::Tensor entries = {};  ///< int32 [entries, 3]: the table's row, first row of parts, rows
  int64_t parts = 0;           ///< rows of parts
};
constexpr int64_t kPieceRows = 16;

/// The kernels of training on packed words (kernels/), one function each. Activations have one 16-bit type, float32 in
/// tests; "sums" are float32. Rows are words. What a function writes is there before it is called, contiguous unless it
/// says columns; nothing waits for the device.
class PackedOperations {
 public:
  virtual ~PackedOperations() = default;

  /// The largest tile of attention with heads of D features: 64 or 128; 0: none.
  virtual int64_t largest_tile(int64_t head) const = 0;

  /// Writes the rows of out [queries, heads D] that the tiles name: dropout(softmax(q kᵀ / sqrt(D))) v.
  virtual void attention_forward(const PackedAttention& task, const AttentionTiles& tiles,
                                 const torch::Tensor& out) = 0;
  /// Writes the gradients of q, k and v, columns, by dout [queries, heads D].
  virtual void attention_backward(const PackedAttention& task, const AttentionTiles& tiles, const torch::Tensor& dout,
                                  const torch::Tensor& dq, const torch::Tensor& dk, const torch::Tensor& dv) = 0;

  /// Rotary positions of the first `columns` columns of x [rows, width], whole heads, in place. angles float32
  /// [positions, D]: sine and cosine of each pair; positions int32 [rows]; direction 1, or -1 for the gradient.
  virtual void rotate(const torch::Tensor& x, const torch::Tensor& angles, const torch::Tensor& positions,
                      int64_t columns, double direction) = 0;

  /// Writes y and n [rows, width] and statistics float32 [rows, 2] of x and r [rows, width]. r undefined: y is x, and
  /// is not written.
  virtual void residual_norm_forward(const PackedNorm& task, const torch::Tensor& x, const torch::Tensor& r,
                                     const torch::Tensor& y, const torch::Tensor& n,
                                     const torch::Tensor& statistics) = 0;
  /// Writes dx [rows, width], and dr unless it is undefined (no r), by the gradients dn of n and `second`
  /// (SecondGradient says of what). parts float32 [programs, 3 width]: whose columns add up to the gradients of weight,
  /// bias, r_bias.
  virtual void residual_norm_backward(const PackedNorm& task, const torch::Tensor& dn, const torch::Tensor& second,
                                      SecondGradient which, const torch::Tensor& y, const torch::Tensor& statistics,
                                      const torch::Tensor& dx, const torch::Tensor& dr, const torch::Tensor& parts) = 0;

  /// h = dropout(relu(h)) in place, [rows, width].
  virtual void relu_dropout(const torch::Tensor& h, const DropoutPlace& dropout) = 0;
  /// dh / (1 - p) where h > 0, else 0, in place; h is what relu_dropout made. Undefined h: dh stays as it is. parts
  /// float32 [programs, width]: whose columns add up to those of the result.
  virtual void relu_backward(const torch::Tensor& dh, const torch::Tensor& h, double p, const torch::Tensor& parts) = 0;

  /// Sums of columns of many matrices in one launch: places int64 [sums, 5]: first element of parts, rows, stride,
  /// columns (at most kSumColumns), first element of sums, both float32.
  virtual void sum_parts(const torch::Tensor& parts, const torch::Tensor& places, const torch::Tensor& sums) = 0;

  /// Label-smoothed cross-entropy of the first `classes` columns of logits [rows, stride], which its gradient times
  /// scale (float32 [1]) takes the place of. labels int32 [rows], negative where a row does not count. losses float32
  /// [rows, 3]: the loss, -log p(label), in nats, and 1 where the label is the first of the highest.
  virtual void smoothed_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels, int64_t classes,
                                      double smoothing, const torch::Tensor& scale, const torch::Tensor& losses) = 0;
  /// The same of two predictions p and q of each label, rows 2i and 2i + 1: pair, float32 [4], times CE(p), CE(q),
  /// KL(p||q) and KL(q||p). labels int32 [pairs]; losses float32 [pairs, 3]: what both cost, the others for p.
  virtual void paired_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels, int64_t classes,
                                    double smoothing, const torch::Tensor& pair, const torch::Tensor& scale,
                                    const torch::Tensor& losses) = 0;

  /// Writes out [rows, width] = dropout(factor table[word] + position_table[position]); words, positions int32 [rows].
  /// position_table undefined: no positions.
  virtual void embedding_forward(const torch::Tensor& words, const torch::Tensor& positions, const torch::Tensor& table,
                                 const torch::Tensor& position_table, double factor, const DropoutPlace& dropout,
                                 const torch::Tensor& out) = 0;
  /// Adds factor times the gradient of words with one piece to dtable float32 [vocabulary, width], and writes that of
  /// the other pieces to parts float32 [groups.parts, width].
  virtual void embedding_pieces(const torch::Tensor& dx, const WordGroups& groups, double factor,
                                const DropoutPlace& dropout, const torch::Tensor& dtable,
                                const torch::Tensor& parts) = 0;
  /// Adds parts to dtable.
  virtual void embedding_words(const WordGroups& groups, const torch::Tensor& parts, const torch::Tensor& dtable) = 0;

  /// parts float32 [programs]: sums of squares, all together that of gradient (float32, any shape).
  virtual void squared_norm(const torch::Tensor& gradient, const torch::Tensor& parts) = 0;
  /// parts: of squared_norm. betas float64 [3]: beta1, beta2, the greatest norm (0: any). steps int64 [1] grows by one
  /// where the norm is finite. control float32 [5]: factor of the gradient, 1 / (1 - beta1^steps),
  /// 1 / sqrt(1 - beta2^steps), 1 where the update counts, norm.
  virtual void adam_control(const torch::Tensor& parts, const torch::Tensor& betas, const torch::Tensor& steps,
                            const torch::Tensor& control) = 0;
  /// An update of float32 weights and moments, and of the weights' copy in the type of activations. options float32
  /// [4]: beta1, beta2, epsilon, weight decay; rate float32 [1]. Nothing changes where the update does not count.
  virtual void adam(const torch::Tensor& weights, const torch::Tensor& first_moment, const torch::Tensor& second_moment,
                    const torch::Tensor& gradient, const torch::Tensor& copy, const torch::Tensor& control,
                    const torch::Tensor& options, const torch::Tensor& rate) = 0;
};

constexpr int64_t kSumColumns = 64;

/// The numbers of a norm's rows for dropout are so far apart: the next of 256, 512 and 1024.
constexpr int64_t norm_block(int64_t width) { return width <= 256 ? 256 : width <= 512 ? 512 : 1024; }

}  // namespace nmt
