#include "nn/positions.h"

#include <fmt/format.h>

#include <cmath>
#include <mutex>

#include "base/error.h"

namespace nmt {

torch::Tensor sinusoid_table(int64_t first, int64_t count, int64_t model, Sinusoid variant) {
  auto table = torch::empty({count, model}, torch::kFloat32);
  auto values = table.accessor<float, 2>();
  const int64_t half = (model + 1) / 2;
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t k = 0; k < model; ++k) {
      const bool interleaved = variant == Sinusoid::kInterleaved;
      const int64_t pair = interleaved ? k / 2 : k % half;
      const bool sine = interleaved ? k % 2 == 0 : k < half;
      const double angle =
          static_cast<double>(first + row) / std::pow(10000.0, 2.0 * pair / static_cast<double>(model));
      values[row][k] = static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

namespace {

class SinusoidalPositions final : public PositionsImpl {
 public:
  SinusoidalPositions(int64_t model, Sinusoid variant) : model_(model), variant_(variant) {}

  torch::Tensor rows(int64_t first, int64_t count) override {
    const std::lock_guard lock(mutex_);
    if (!table_.defined() || table_.size(0) < first + count)
      table_ = sinusoid_table(0, std::max<int64_t>(256, 2 * (first + count)), model_, variant_);
    return table_.narrow(0, first, count);
  }

 private:
  int64_t model_;
  Sinusoid variant_;
  std::mutex mutex_;
  torch::Tensor table_;  // grows with the longest sentence seen
};

class LearnedPositions final : public PositionsImpl {
 public:
  LearnedPositions(int64_t model, int64_t max_positions) {
    weight_ = register_parameter("weight", torch::empty({max_positions, model}));
  }
  torch::Tensor rows(int64_t first, int64_t count) override {
    if (first + count > weight_.size(0))
      throw Error(
          fmt::format("model.max_positions: a sentence of {} tokens does not fit the {} learned positions; raise it or "
                      "shorten the input (data.maxlen1, data.maxlen2)",
                      first + count, weight_.size(0)));
    return weight_.narrow(0, first, count);
  }

 private:
  torch::Tensor weight_;
};

}  // namespace

std::shared_ptr<PositionsImpl> make_positions(const std::string& kind, const std::string& sinusoid, int64_t model,
                                              int64_t max_positions) {
  if (kind == "none") return nullptr;
  if (kind == "learned") return std::make_shared<LearnedPositions>(model, max_positions);
  if (kind != "sinusoidal") throw Error("model.positions: '" + kind + "' is none of sinusoidal, learned, none");
  if (sinusoid == "interleaved") return std::make_shared<SinusoidalPositions>(model, Sinusoid::kInterleaved);
  if (sinusoid == "half_split") return std::make_shared<SinusoidalPositions>(model, Sinusoid::kHalfSplit);
  throw Error("model.sinusoid: '" + sinusoid + "' is none of interleaved, half_split");
}

}  // namespace nmt
