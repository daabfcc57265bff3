#include "nn/positions/table_positions.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <typeinfo>
#include <utility>

#include "config/sinusoid_values.h"
#include "nn/device/device.h"
#include "nn/ops/initial_values.h"

namespace nmt {
torch::Tensor sinusoid_table(int64_t first, int64_t count, int64_t features, Sinusoid variant) {
  return torch::tensor(sinusoid_values(variant, first, count, features), torch::kFloat32).view({count, features});
}

torch::Tensor SinusoidRows::rows(int64_t first, int64_t count) {
  const std::lock_guard lock(mutex_);
  const int64_t end = table_.defined() ? first_ + table_.size(0) : 0;
  if (!table_.defined() || first < first_ || first + count > end) {
    first_ = std::min(first_, 2 * first);
    table_ = sinusoid_table(first_, std::max<int64_t>({256, end, 2 * (first + count)}) - first_, features_, variant_);
  }
  return table_.narrow(0, first - first_, count);
}

namespace {

/// The whole table of a step with static caches, the same for all rows.
class StaticTable final : public LayerCache {
 public:
  explicit StaticTable(std::shared_ptr<const StaticSlot> slot) : slot(std::move(slot)) {}
  void select(const torch::Tensor& /*rows*/) override {}
  void join(LayerCache& /*other*/, int64_t /*own_rows*/, int64_t /*other_rows*/) override {}
  void continue_from(const LayerCache& /*from*/, const torch::Tensor& /*parents*/, int64_t /*steps*/) override {}

  std::shared_ptr<const StaticSlot> slot;
  torch::Tensor vectors;  // [capacity, model], made at the first step
};

}  // namespace

torch::Tensor TablePositions::forward(const torch::Tensor& x, const torch::Tensor& is_real) {
  const auto table = copy_to_device(rows(0, x.size(1)), x.device());  // [time, model]
  return combine(x, is_real.defined() ? where_real(table, is_real) : table);
}

torch::Tensor TablePositions::combine(const torch::Tensor& x, const torch::Tensor& vectors) const {
  return x + vectors;
}

std::unique_ptr<LayerCache> TablePositions::start(const CacheOptions& options) const {
  return options.form == CacheForm::kStatic ? std::make_unique<StaticTable>(options.slot) : nullptr;
}

torch::Tensor TablePositions::step(const torch::Tensor& x, const RowPositions& positions, LayerCache* cache) {
  if (!cache) return combine(x, copy_to_device(rows_at(positions, x.size(0), x.size(1)), x.device()));
  auto& table = dynamic_cast<StaticTable&>(*cache);
  if (!table.vectors.defined()) table.vectors = copy_to_device(rows(0, table.slot->capacity), x.device());
  return combine(x, table.vectors.index_select(0, table.slot->position));
}

torch::Tensor TablePositions::rows_at(const RowPositions& positions, int64_t row_count, int64_t n) {
  if (positions.are_equal()) return rows(positions.common(), n);
  const auto places = positions.tensor(row_count).unsqueeze(1) + at::arange(n, torch::kInt64);  // [rows, n]
  const auto first = places.min().item<int64_t>(), last = places.max().item<int64_t>();
  const auto table = rows(first, last - first + 1);
  return table.index_select(0, copy_to_device((places - first).flatten(), table.device())).unflatten(0, places.sizes());
}

namespace {

// x_t + sinusoids of t (Vaswani et al. 2017, sec. 3.5): no weights, any length.
class SinusoidalPositions final : public TablePositions {
 public:
  explicit SinusoidalPositions(const PositionOptions& options)
      : sinusoids_(options.model, options.sinusoid),
        inference_(std::make_shared<inference::SinusoidTable>(options.model, options.sinusoid)) {}
  std::shared_ptr<inference::PositionRows> inference_rows() const override { return inference_; }

 private:
  torch::Tensor rows(int64_t first, int64_t count) override { return sinusoids_.rows(first, count); }

  SinusoidRows sinusoids_;
  std::shared_ptr<inference::SinusoidTable> inference_;
};

}  // namespace

std::shared_ptr<Positions> make_sinusoidal(const PositionOptions& options) {
  return std::make_shared<SinusoidalPositions>(options);
}

LearnedPositions::LearnedPositions(const PositionOptions& options) {
  weight_ = register_parameter("weight", empty_parameter({options.max_positions, options.model}));
}

void LearnedPositions::reset_parameters(const InitialValues& values, at::Generator& generator) {
  values.positions.draw(weight_, generator);
}

std::shared_ptr<inference::PositionRows> LearnedPositions::inference_rows() const {
  if (typeid(*this) != typeid(LearnedPositions)) return Positions::inference_rows();  // derived: other vectors
  const inference::PositionTable all{.rows = weight_.const_data_ptr<float>(),
                                     .count = weight_.size(0),
                                     .owner = std::make_shared<torch::Tensor>(weight_)};
  return std::make_shared<inference::TrainedTable>(all, "learned");
}

torch::Tensor LearnedPositions::rows(int64_t first, int64_t count) {
  check_length(first + count, weight_.size(0), "learned");
  return weight_.narrow(0, first, count);
}

std::shared_ptr<Positions> make_learned(const PositionOptions& options) {
  return std::make_shared<LearnedPositions>(options);
}

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

namespace {

// The real part of r exp(i (omega t + theta)) feature by feature (Wang et al. 2020, eq. 6, with frequencies shared by
// all words): the embedding r is the amplitude, x_t * cos(omega t + theta). Frequencies omega and phases theta are
// trained. omega starts as those of the sinusoids, 10000^(-2 pair / model), theta as tables of positions.
class ComplexPositions final : public TablePositions {
 public:
  explicit ComplexPositions(const PositionOptions& options) {
    frequencies_ = register_parameter("frequencies", torch::empty({1, options.model}));
    phases_ = register_parameter("phases", torch::empty({1, options.model}));
  }

  void reset_parameters(const InitialValues& values, at::Generator& generator) override {
    const torch::NoGradGuard no_grad;
    const int64_t model = frequencies_.size(1);
    auto own = torch::empty({1, model}, torch::kFloat32);
    for (int64_t k = 0; k < model; ++k)
      own.mutable_data_ptr<float>()[k] =
          static_cast<float>(std::pow(10000.0, -static_cast<double>(k - k % 2) / static_cast<double>(model)));
    frequencies_.copy_(own);
    values.positions.draw(phases_, generator);
  }

 private:
  torch::Tensor rows(int64_t first, int64_t count) override {
    // In double: what float32 keeps of a cosine does not depend then on where in the table an element stands.
    const auto doubles = frequencies_.options().dtype(torch::kFloat64).requires_grad(false);
    const auto t = at::arange(first, first + count, doubles).unsqueeze(1);
    return at::cos(t * frequencies_.to(torch::kFloat64) + phases_.to(torch::kFloat64)).to(torch::kFloat32);
  }
  torch::Tensor combine(const torch::Tensor& x, const torch::Tensor& vectors) const override { return x * vectors; }
  torch::Tensor where_real(const torch::Tensor& vectors, const torch::Tensor& is_real) const override {
    return at::where(is_real, vectors, 1.0);
  }

  torch::Tensor frequencies_, phases_;  // [1, model]
};

}  // namespace

std::shared_ptr<Positions> make_complex(const PositionOptions& options) {
  return std::make_shared<ComplexPositions>(options);
}

}  // namespace nmt
