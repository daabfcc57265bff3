#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nn/inference/key_value_store.h"
#include "nn/inference/operations.h"
#include "nn/inference/weights.h"

namespace nmt::inference {

/// The encoder's output for sentences that lie end to end, without padding: ids of all of them, the number of tokens of
/// each -> x [ids, model].
void encode(const TransformerWeights& weights, std::span<const int64_t> ids, std::span<const int64_t> lengths, float* x,
            Workspace& work);

/// The hypotheses of a search, a row each, in buffers of its own. What is found for a row depends on that row alone.
class TransformerDecoder {
 public:
  /// Encodes sentences that lie end to end: one row each. Borrows `work` for as long as it lives.
  TransformerDecoder(std::shared_ptr<const TransformerWeights> weights, std::span<const int64_t> ids,
                     std::span<const int64_t> lengths, Workspace& work);

  int64_t rows() const { return std::ssize(rows_); }
  /// New row r continues old row rows[r].
  void select(std::span<const int64_t> rows);
  /// Adds the rows of another decoder of the same model and workspace behind its own ones.
  void join(TransformerDecoder&& other);

  /// The next n tokens of each row, one row after the other.
  void feed(std::span<const int64_t> tokens);
  /// What stands before the output layer after one of the tokens that each row was fed: [rows, model].
  const float* hidden(int64_t token) const { return hidden_.data() + token * rows() * weights_->model; }
  /// What comes after that token: [rows, vocabulary], for the caller to change, until it feeds or asks again.
  std::span<float> logits(int64_t token);

 private:
  struct Row {
    int64_t position = 0;                       // of the next token
    std::shared_ptr<const std::byte[]> source;  // keys and values of its sentence: [source, layers, features]
    int64_t source_length = 0;
  };
  struct Queries;

  void start_sources(const float* memory, std::span<const int64_t> lengths);
  void add_self_attention(const AttentionWeights& weights, int64_t layer, const Queries& queries, const float* y,
                          float* x);
  void add_average(const AverageWeights& weights, int64_t layer, const Queries& queries, const float* y, float* x);
  void add_ssru(const SsruWeights& weights, int64_t layer, const Queries& queries, const float* y, float* x);
  void add_cross_attention(const AttentionWeights& weights, int64_t layer, const Queries& queries, const float* y,
                           float* x);
  /// Queries [queries, stride] against rows of keys, through the last projection.
  void add_attention(const AttentionWeights& weights, const float* q, int64_t stride, const Queries& queries,
                     bool of_source, int64_t key_offset, float* x);

  std::shared_ptr<const TransformerWeights> weights_;
  Workspace& work_;
  std::vector<Row> rows_;
  std::optional<KeyValueStore> past_;       // where the mixers are self-attention
  std::vector<std::vector<float>> states_;  // of each other mixer: [rows, model]
  std::vector<float> hidden_, logits_;      // of the tokens that were fed: [tokens, rows, model]; [rows, vocabulary]
};

}  // namespace nmt::inference
