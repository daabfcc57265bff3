#include <cmath>
#include <vector>

#include "nn/device/device.h"
#include "nn/positions/distances.h"
#include "nn/positions/positions.h"

namespace nmt {

torch::Tensor alibi_slopes(int64_t heads) {
  const auto power = static_cast<int64_t>(std::exp2(std::floor(std::log2(static_cast<double>(heads)))));
  const auto slope = [](int64_t head, int64_t of) {
    return static_cast<float>(std::exp2(-8.0 * static_cast<double>(head) / static_cast<double>(of)));
  };
  std::vector<float> slopes;
  for (int64_t head = 1; head <= power; ++head) slopes.push_back(slope(head, power));
  for (int64_t head = 1; std::ssize(slopes) < heads; head += 2) slopes.push_back(slope(head, 2 * power));
  return torch::tensor(slopes);
}

namespace {

// Attention with linear biases (Press et al. 2022): score_ij = q_i · k_j / sqrt(head_dim) - slope_head |i - j|. No
// weights. In the encoder, too, a key counts by its distance alone.
class AlibiPositions final : public HeadScores {
 public:
  explicit AlibiPositions(const PositionOptions& options)
      : HeadScores("positions"), slopes_(alibi_slopes(options.heads).view({-1, 1, 1})) {}

  torch::Tensor scores(const torch::Tensor& q, const torch::Tensor& k, int64_t first_query) override {
    const auto apart = distances(first_query, q.size(2), k.size(2), q.device()).abs();
    const auto bias = copy_to_device(slopes_, q.device()) * apart;  // [heads, target, source]
    return head_products(q, k, attention_scale(q)) - bias.to(q.scalar_type());
  }

 private:
  torch::Tensor slopes_;  // [heads, 1, 1]
};

}  // namespace

std::shared_ptr<HeadScores> make_alibi(const PositionOptions& options) {
  return options.first_layer ? options.first_layer : std::make_shared<AlibiPositions>(options);
}

}  // namespace nmt
