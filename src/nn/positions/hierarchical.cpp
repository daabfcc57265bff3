#include <ATen/ops/arange.h>

#include "nn/positions/table_positions.h"

namespace nmt {
namespace {

constexpr double kAlpha = 0.4;

// Learned positions stretched from n to n² (Su 2020): position i n + j has the vector alpha u_i + (1 - alpha) u_j with
// u_i = (p_i - alpha p_0) / (1 - alpha), so that the first n are the trained rows p themselves.
class HierarchicalPositions final : public LearnedPositions {
 public:
  using LearnedPositions::LearnedPositions;

  int64_t limit() const override { return weight_.size(0) * weight_.size(0); }

 private:
  torch::Tensor rows(int64_t first, int64_t count) override {
    const int64_t n = weight_.size(0);
    check_length(first + count, n * n, "hierarchical");
    const auto places = at::arange(first, first + count, weight_.options().dtype(torch::kInt64));
    const auto bases = (weight_ - kAlpha * weight_[0]) / (1 - kAlpha);  // u: [n, model]
    return kAlpha * bases.index_select(0, places.div(n, "floor")) +
           (1 - kAlpha) * bases.index_select(0, places.remainder(n));
  }
};

}  // namespace

std::shared_ptr<Positions> make_hierarchical(const PositionOptions& options) {
  return std::make_shared<HierarchicalPositions>(options);
}

}  // namespace nmt
