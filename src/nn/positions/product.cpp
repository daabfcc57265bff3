#include "nn/positions/table_positions.h"

namespace nmt {
namespace {

// x_t * (1 + w_t) with a trained table w: the factors start near 1, since factors near 0 would wipe out the words.
class ProductPositions final : public LearnedPositions {
 public:
  using LearnedPositions::LearnedPositions;

 private:
  torch::Tensor combine(const torch::Tensor& x, const torch::Tensor& vectors) const override {
    return x * (vectors + 1);
  }
};

}  // namespace

std::shared_ptr<Positions> make_product(const PositionOptions& options) {
  return std::make_shared<ProductPositions>(options);
}

}  // namespace nmt
