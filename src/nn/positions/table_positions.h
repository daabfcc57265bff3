#pragma once

#include <torch/types.h>

#include <cstdint>
#include <mutex>

#include "config/kinds.h"
#include "nn/positions/positions.h"

namespace nmt {

/// Rows `first` .. `first + count - 1` of the sinusoid table, [count, features] float32, positions from 0, computed in
/// double. `first` may be negative: distances have signs.
torch::Tensor sinusoid_table(int64_t first, int64_t count, int64_t features, Sinusoid variant);

/// Rows of a sinusoid table that is kept and grows with what is asked for. Thread-safe.
class SinusoidRows {
 public:
  SinusoidRows(int64_t features, Sinusoid variant) : features_(features), variant_(variant) {}
  torch::Tensor rows(int64_t first, int64_t count);  ///< as sinusoid_table()

 private:
  int64_t features_, first_ = 0;
  Sinusoid variant_;
  std::mutex mutex_;
  torch::Tensor table_;  // rows first_ .. first_ + size - 1
};

/// Positions by one vector each, added to x unless a kind combines them otherwise.
class TablePositions : public Positions {
 public:
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& is_real) override;
  std::unique_ptr<LayerCache> start(const CacheOptions& options) const override;
  torch::Tensor step(const torch::Tensor& x, const RowPositions& positions, LayerCache* cache) override;
  DecodingCapabilities capabilities() const override {
    return {.ragged_positions = true, .exact_prefill = true, .static_positions = limit()};
  }

 protected:
  /// Vectors of positions first .. first + count - 1, [count, model] float32.
  virtual torch::Tensor rows(int64_t first, int64_t count) = 0;
  /// x and its vectors, broadcast against each other.
  virtual torch::Tensor combine(const torch::Tensor& x, const torch::Tensor& vectors) const;
  /// The vectors, and what leaves x as it is (zeros) where is_real [batch, time, 1] is false: [batch, time, model].
  virtual torch::Tensor where_real(const torch::Tensor& vectors, const torch::Tensor& is_real) const {
    return vectors * is_real;
  }

 private:
  /// The vectors of a step of n tokens a row: [n, model], or [rows, n, model] where the rows stand at different
  /// positions.
  torch::Tensor rows_at(const RowPositions& positions, int64_t row_count, int64_t n);
};

/// A trained table of max_positions rows. A longer sentence is an Error.
class LearnedPositions : public TablePositions {
 public:
  explicit LearnedPositions(const PositionOptions& options);
  void reset_parameters(const InitialValues& values, at::Generator& generator) override;

  int64_t limit() const override { return weight_.size(0); }
  std::shared_ptr<inference::PositionRows> inference_rows() const override;

 protected:
  torch::Tensor rows(int64_t first, int64_t count) override;
  torch::Tensor weight_;  // [max_positions, model]
};

}  // namespace nmt
