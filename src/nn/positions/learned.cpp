#include <fmt/format.h>

#include "base/error.h"
#include "nn/ops/parameter.h"
#include "nn/positions/table_positions.h"

namespace nmt {

LearnedPositions::LearnedPositions(const PositionOptions& options) {
  weight_ = register_parameter("weight", empty_parameter({options.max_positions, options.model}));
}

void LearnedPositions::reset_parameters(const InitialValues& values, at::Generator& generator) {
  values.positions.draw(weight_, generator);
}

torch::Tensor LearnedPositions::rows(int64_t first, int64_t count) {
  check_length(first + count, weight_.size(0), "learned");
  return weight_.narrow(0, first, count);
}

void check_length(int64_t needed, int64_t limit, const char* kind) {
  if (needed <= limit) return;
  throw Error(
      fmt::format("model.max_positions: a sentence of {} tokens does not fit the {} {} positions; raise it or shorten "
                  "the input (data.maxlen1, data.maxlen2)",
                  needed, limit, kind));
}

std::shared_ptr<Positions> make_learned(const PositionOptions& options) {
  return std::make_shared<LearnedPositions>(options);
}

}  // namespace nmt
