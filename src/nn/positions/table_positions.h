#pragma once

#include <cstdint>
#include <limits>

#include "nn/positions/positions.h"

namespace nmt {

/// Positions by one vector each, added to x unless a kind combines them otherwise.
class TablePositions : public Positions {
 public:
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& is_real) override {
    const auto table = rows(0, x.size(1)).to(x.device());  // [time, model]
    return combine(x, is_real.defined() ? table * is_real : table);
  }
  torch::Tensor step(const torch::Tensor& x, const RowPositions& positions, MixerState& state) override {
    if (!state.fixed) return combine(x, rows_at(positions, x.size(0)).to(x.device()));
    if (state.tensors.empty()) state.tensors = {rows(0, state.fixed->room).to(x.device())};
    return combine(x, state.tensors[0].index_select(0, state.fixed->position));
  }
  int64_t fixed_room() const override { return std::numeric_limits<int64_t>::max(); }

 protected:
  /// Vectors of positions first .. first + count - 1, [count, model] float32.
  virtual torch::Tensor rows(int64_t first, int64_t count) = 0;
  /// x and its vectors, broadcast against each other; a vector of zeros leaves x as it is.
  virtual torch::Tensor combine(const torch::Tensor& x, const torch::Tensor& vectors) const { return x + vectors; }

 private:
  /// Of the positions of `count` rows: [1 or count, model].
  torch::Tensor rows_at(const RowPositions& positions, int64_t count) {
    if (positions.are_equal()) return rows(positions.common(), 1);
    const auto places = positions.tensor(count);
    const auto first = places.min().item<int64_t>(), last = places.max().item<int64_t>();
    const auto table = rows(first, last - first + 1);
    return table.index_select(0, (places - first).to(table.device()));
  }
};

/// A trained table of max_positions rows. A longer sentence is an Error.
class LearnedPositions : public TablePositions {
 public:
  explicit LearnedPositions(const PositionOptions& options);
  int64_t fixed_room() const override { return weight_.size(0); }
  void reset_parameters(const InitialValues& values, at::Generator& generator) override;

 protected:
  torch::Tensor rows(int64_t first, int64_t count) override;
  torch::Tensor weight_;  // [max_positions, model]
};

/// For tables that have an end: throws Error where a sentence of `needed` tokens goes beyond `limit` positions.
void check_length(int64_t needed, int64_t limit, const char* kind);

}  // namespace nmt
