#include "nn/positions/relative_positions.h"

#include <ATen/ops/arange.h>

#include <cmath>
#include <vector>

#include "nn/device/device.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/linear.h"
#include "nn/positions/positions.h"
#include "nn/positions/table_positions.h"

namespace nmt {

torch::Tensor distances(int64_t first_query, int64_t target, int64_t source, torch::Device device) {
  const auto options = torch::TensorOptions(torch::kInt64).device(device);
  return at::arange(source, options).unsqueeze(0) - at::arange(first_query, first_query + target, options).unsqueeze(1);
}

torch::Tensor pick(const torch::Tensor& table, const torch::Tensor& index) {
  return table.gather(-1, index.expand({table.size(0), table.size(1), index.size(0), index.size(1)}));
}

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
