#include "nn/ops/parameter.h"
#include "nn/positions/distances.h"
#include "nn/positions/positions.h"

namespace nmt {
namespace {

// Relative positions of Shaw et al. 2018, sec. 3.2: trained vectors a of the distance j - i, clipped to -k..k, are
// added to keys and to values; each layer has its own, heads share them:
//   score_ij = q_i · (k_j + a^K_{j-i}) / sqrt(head_dim),   context_i = sum_j weight_ij (v_j + a^V_{j-i})
class ShawPositions final : public HeadScores {
 public:
  explicit ShawPositions(const PositionOptions& options) : HeadScores("positions"), farthest_(options.max_distance) {
    keys_ = register_parameter("keys", empty_parameter({2 * farthest_ + 1, options.model / options.heads}));
    values_ = register_parameter("values", empty_parameter({2 * farthest_ + 1, options.model / options.heads}));
  }

  void reset_parameters(const InitialValues& values, at::Generator& generator) override {
    values.positions.draw(keys_, generator);
    values.positions.draw(values_, generator);
  }

  torch::Tensor scores(const torch::Tensor& q, const torch::Tensor& k, int64_t first_query) override {
    const auto queries = q * attention_scale(q);
    const auto of_distance = head_products(queries, keys_.to(q.scalar_type()), 1);  // [batch, heads, target, 2k + 1]
    return head_products(queries, k, 1) + pick(of_distance, rows(first_query, q.size(2), k.size(2), q.device()));
  }

  torch::Tensor context(const torch::Tensor& weights, const torch::Tensor& v, int64_t first_query) override {
    // The weights of equal distances are summed first: [batch, heads, target, 2k + 1].
    const auto index = rows(first_query, weights.size(2), v.size(2), v.device()).expand_as(weights);
    auto sizes = weights.sizes().vec();
    sizes.back() = values_.size(0);
    const auto of_distance = torch::zeros(sizes, weights.options()).scatter_add(-1, index, weights);
    return head_sums(weights, v) + head_sums(of_distance, values_.to(v.scalar_type()));
  }

 private:
  // Row of the tables for each query and key: [target, source].
  torch::Tensor rows(int64_t first_query, int64_t target, int64_t source, torch::Device device) const {
    return distances(first_query, target, source, device).clamp(-farthest_, farthest_) + farthest_;
  }

  int64_t farthest_;
  torch::Tensor keys_, values_;  // [2k + 1, head_dim]
};

}  // namespace

std::shared_ptr<HeadScores> make_shaw(const PositionOptions& options) {
  return std::make_shared<ShawPositions>(options);
}

}  // namespace nmt
