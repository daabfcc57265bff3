#include "nn/device/device.h"
#include "nn/ops/linear.h"
#include "nn/positions/distances.h"
#include "nn/positions/positions.h"
#include "nn/positions/sinusoid.h"

namespace nmt {
namespace {

// The form of Transformer-XL and XLNet (Dai et al. 2019, sec. 3.3), R sinusoidal, u and v trained, each layer its own:
//   score_ij = (q_i · k_j + q_i · W_R R_{i-j} + u · k_j + v · W_R R_{i-j}) / sqrt(head_dim)
class TransformerXlPositions final : public HeadScores {
 public:
  explicit TransformerXlPositions(const PositionOptions& options)
      : HeadScores("positions"), sinusoids_(options.model, options.sinusoid) {
    const auto of_heads = torch::empty({options.heads, options.model / options.heads});
    projection_ = register_module("projection", Linear(options.model, options.model, LinearImpl::Bias::kNo));
    u_ = register_parameter("u", of_heads.clone());
    v_ = register_parameter("v", of_heads.clone());
  }

  void reset_parameters(const InitialValues& values, at::Generator& generator) override {
    values.positions.draw(u_, generator);
    values.positions.draw(v_, generator);
  }

  torch::Tensor scores(const torch::Tensor& q, const torch::Tensor& k, int64_t first_query) override {
    const int64_t heads = q.size(1), target = q.size(2), source = k.size(2);
    const auto add = [&](const torch::Tensor& vector) { return q + vector.to(q.scalar_type()).unsqueeze(1); };
    // W_R R of the differences i - j, from the least: [heads, target + source - 1, head_dim].
    const int64_t min = first_query - (source - 1);
    const auto sinusoids = copy_to_device(sinusoids_.rows(min, target + source - 1), q.device()).to(q.scalar_type());
    const auto of_difference = projection_(sinusoids).unflatten(-1, {heads, -1}).transpose(0, 1);
    const auto index = -distances(first_query, target, source, q.device()) - min;
    const double scale = attention_scale(q);
    return head_products(add(u_), k, scale) + pick(head_products(add(v_), of_difference, scale), index);
  }

 private:
  SinusoidRows sinusoids_;
  Linear projection_{nullptr};  // W_R
  torch::Tensor u_, v_;         // [heads, head_dim]
};

}  // namespace

std::shared_ptr<HeadScores> make_transformer_xl(const PositionOptions& options) {
  return std::make_shared<TransformerXlPositions>(options);
}

}  // namespace nmt
