#include <cmath>

#include "nn/ops/linear.h"
#include "nn/ops/parameter.h"
#include "nn/positions/distances.h"
#include "nn/positions/positions.h"

namespace nmt {
namespace {

// Disentangled attention (He et al. 2021, sec. 3.1): content to content, content to position, position to content.
//   score_ij = (q_i · k_j + q_i · kr_{d(i,j)} + k_j · qr_{d(j,i)}) / sqrt(3 head_dim),
//   kr = P W_k, qr = P W_q,   d(i,j) = i - j + k, clipped to 0 .. 2k - 1
// W_k and W_q are a layer's own; all layers of a stack share the table P of the first.
class DebertaPositions final : public HeadScores {
 public:
  explicit DebertaPositions(const PositionOptions& options)
      : HeadScores("positions"),
        reach_(options.max_distance),
        heads_(options.heads),
        shares_table_(options.first_layer != nullptr) {
    const int64_t model = options.model;
    if (shares_table_)
      table_ = dynamic_cast<const DebertaPositions&>(*options.first_layer).table_;
    else
      table_ = register_parameter("weight", empty_parameter({2 * reach_, model}));
    query_ = register_module("query", Linear(model, model, LinearImpl::Bias::kNo));
    key_ = register_module("key", Linear(model, model, LinearImpl::Bias::kNo));
  }

  void reset_parameters(const InitialValues& values, at::Generator& generator) override {
    if (!shares_table_) values.positions.draw(table_, generator);
  }

  torch::Tensor scores(const torch::Tensor& q, const torch::Tensor& k, int64_t first_query) override {
    const auto behind = -distances(first_query, q.size(2), k.size(2), q.device());  // i - j: [target, source]
    const auto row = [&](const torch::Tensor& difference) { return (difference + reach_).clamp(0, 2 * reach_ - 1); };
    const double scale = attention_scale(q) / std::sqrt(3.0);
    const auto to_position = head_products(q, split_heads(key_, q), scale);      // [batch, heads, target, 2k]
    const auto from_position = head_products(k, split_heads(query_, q), scale);  // [batch, heads, source, 2k]
    return head_products(q, k, scale) + pick(to_position, row(behind)) +
           pick(from_position, row(-behind).t()).transpose(-1, -2);
  }

 private:
  // The table through one of the matrices, in the type of `like`: [heads, 2k, head_dim].
  torch::Tensor split_heads(Linear& matrix, const torch::Tensor& like) {
    return matrix(table_.to(like.scalar_type())).unflatten(-1, {heads_, -1}).transpose(0, 1);
  }

  int64_t reach_, heads_;
  bool shares_table_;    // that of the first layer
  torch::Tensor table_;  // P: [2k, model]
  Linear query_{nullptr}, key_{nullptr};
};

}  // namespace

std::shared_ptr<HeadScores> make_deberta(const PositionOptions& options) {
  return std::make_shared<DebertaPositions>(options);
}

}  // namespace nmt
