#include <ATen/ops/where.h>

#include "nn/positions/table_positions.h"

namespace nmt {
namespace {

// x_t * (1 + w_t) with a trained table w: the factors start near 1, since factors near 0 would wipe out the words.
class ShiftedProductPositions final : public LearnedPositions {
 public:
  using LearnedPositions::LearnedPositions;

 private:
  torch::Tensor combine(const torch::Tensor& x, const torch::Tensor& vectors) const override {
    return x * (vectors + 1);
  }
};

// x_t * w_t, w as it is drawn.
class PlainProductPositions final : public LearnedPositions {
 public:
  using LearnedPositions::LearnedPositions;

 private:
  torch::Tensor combine(const torch::Tensor& x, const torch::Tensor& vectors) const override { return x * vectors; }
  torch::Tensor where_real(const torch::Tensor& vectors, const torch::Tensor& is_real) const override {
    return at::where(is_real, vectors, 1.0);
  }
};

}  // namespace

std::shared_ptr<Positions> make_product(const PositionOptions& options) {
  if (options.product_form == ProductForm::kPlain) return std::make_shared<PlainProductPositions>(options);
  return std::make_shared<ShiftedProductPositions>(options);
}

}  // namespace nmt
