#include <ATen/ops/stack.h>
#include <fmt/format.h>

#include "base/error.h"
#include "nn/positions.h"
#include "nn/positions/sinusoid.h"

namespace nmt {
namespace {

// Rotary positions (Su et al. 2021, eq. 34): features 2i and 2i + 1 of a head of q and k are turned by the angle
// position / 10000^(2i / head_dim), so that their product depends on the difference of positions. No weights.
class RotaryPositions final : public HeadScores {
 public:
  explicit RotaryPositions(const PositionOptions& options)
      : HeadScores("positions"), head_dim_(options.model / options.heads), angles_(head_dim_, Sinusoid::kInterleaved) {
    if (head_dim_ % 2 != 0)
      throw Error(fmt::format(
          "model.positions: rotary turns pairs of features; d_model {} / num_heads {} is odd, choose other sizes",
          options.model, options.heads));
  }

  bool fits_kernel() const override { return true; }

  torch::Tensor turn(const torch::Tensor& x, int64_t first) override {
    // Sine and cosine of each pair stand side by side in the table: [time, 1, head_dim / 2, 2].
    const auto table = angles_.rows(first, x.size(1)).to(x.device()).view({x.size(1), 1, -1, 2});
    const auto sine = table.select(-1, 0), cosine = table.select(-1, 1);
    const auto pairs = x.unflatten(-1, {-1, head_dim_ / 2, 2});  // [batch, time, heads, head_dim / 2, 2]
    const auto a = pairs.select(-1, 0), b = pairs.select(-1, 1);
    return at::stack({a * cosine - b * sine, a * sine + b * cosine}, -1).flatten(2).to(x.scalar_type());
  }

 private:
  int64_t head_dim_;
  SinusoidRows angles_;
};

}  // namespace

std::shared_ptr<HeadScores> make_rotary(const PositionOptions& options) {
  return options.first_layer ? options.first_layer : std::make_shared<RotaryPositions>(options);
}

}  // namespace nmt
