#include <cmath>
#include <vector>

#include "nn/device/device.h"
#include "nn/ops/parameter.h"
#include "nn/positions/distances.h"
#include "nn/positions/positions.h"

namespace nmt {

int64_t t5_bucket(int64_t distance, int64_t buckets, int64_t max_distance, bool two_sided) {
  int64_t first = 0, steps = std::max<int64_t>(-distance, 0);
  if (two_sided) {
    buckets /= 2;
    if (distance > 0) first = buckets;
    steps = std::abs(distance);
  }
  const int64_t exact = buckets / 2;
  if (steps < exact) return first + steps;
  if (steps >= max_distance) return first + buckets - 1;
  const double share = std::log(static_cast<double>(steps) / static_cast<double>(exact)) /
                       std::log(static_cast<double>(max_distance) / static_cast<double>(exact));
  constexpr double kRounding = 1e-9;  // where the share is a whole number of buckets but for rounding
  const auto above = static_cast<int64_t>(share * static_cast<double>(buckets - exact) + kRounding);
  return first + std::min(exact + above, buckets - 1);
}

namespace {

// score_ij = q_i · k_j + b_{head, bucket(j - i)}, without 1 / sqrt(head_dim) (Raffel et al. 2020, sec. 2.1). All layers
// of a stack share the table of the first.
class T5Positions final : public HeadScores {
 public:
  explicit T5Positions(const PositionOptions& options)
      : HeadScores("positions"),
        buckets_(options.buckets),
        max_distance_(options.max_distance),
        two_sided_(options.two_sided),
        query_gain_(std::sqrt(static_cast<double>(options.heads) / static_cast<double>(options.model))) {
    weight_ = register_parameter("weight", empty_parameter({buckets_, options.heads}));
  }

  void reset_parameters(const InitialValues& values, at::Generator& generator) override {
    values.positions.draw(weight_, generator);
  }
  // Queries start smaller by what the scores lack.
  double initial_query_gain() const override { return query_gain_; }

  torch::Tensor scores(const torch::Tensor& q, const torch::Tensor& k, int64_t first_query) override {
    // One bias a distance -last .. source - 1 first, then [target, source] of them.
    const int64_t last = first_query + q.size(2) - 1;
    std::vector<int64_t> buckets;
    for (int64_t distance = -last; distance < k.size(2); ++distance)
      buckets.push_back(t5_bucket(distance, buckets_, max_distance_, two_sided_));
    const auto of_distance = weight_.index_select(0, copy_to_device(torch::tensor(buckets, torch::kInt64), q.device()));
    const auto index = distances(first_query, q.size(2), k.size(2), q.device()) + last;
    const auto bias = of_distance.index_select(0, index.flatten()).t().unflatten(1, index.sizes());
    return head_products(q, k, 1) + bias.to(q.scalar_type());  // bias [heads, target, source]
  }

 private:
  int64_t buckets_, max_distance_;
  bool two_sided_;
  double query_gain_;     // 1 / sqrt(head_dim)
  torch::Tensor weight_;  // [buckets, heads]
};

}  // namespace

std::shared_ptr<HeadScores> make_t5(const PositionOptions& options) {
  return options.first_layer ? options.first_layer : std::make_shared<T5Positions>(options);
}

}  // namespace nmt
