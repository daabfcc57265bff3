#include "nn/positions/sinusoid.h"
#include "nn/positions/table_positions.h"

namespace nmt {
namespace {

// x_t + sinusoids of t (Vaswani et al. 2017, sec. 3.5): no weights, any length.
class SinusoidalPositions final : public TablePositions {
 public:
  explicit SinusoidalPositions(const PositionOptions& options) : sinusoids_(options.model, options.sinusoid) {}

 private:
  torch::Tensor rows(int64_t first, int64_t count) override { return sinusoids_.rows(first, count); }

  SinusoidRows sinusoids_;
};

}  // namespace

std::shared_ptr<Positions> make_sinusoidal(const PositionOptions& options) {
  return std::make_shared<SinusoidalPositions>(options);
}

}  // namespace nmt
