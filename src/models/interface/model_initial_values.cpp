#include "models/interface/model_initial_values.h"

#include <cmath>

namespace nmt {
namespace {

using Kind = InitialDistribution::Kind;

InitialDistribution normal(double deviation) { return {.kind = Kind::kNormal, .deviation = deviation}; }

InitialDistribution uniform(double limit) { return {.kind = Kind::kUniform, .limit = limit}; }

InitialDistribution matrices_of(const ModelConfig& c) {
  switch (c.init) {
    case MatrixInit::kXavier:
      return {};
    case MatrixInit::kNormal:
      return normal(c.init_std);
    case MatrixInit::kUniform:
      return uniform(c.init_range);
    case MatrixInit::kFanIn:
      return {.kind = Kind::kFanIn};
  }
  return {};
}

std::optional<InitialDistribution> biases_of(const ModelConfig& c) {
  switch (c.bias_init) {
    case BiasInit::kZero:
      return {};
    case BiasInit::kUniform:
      return uniform(c.init_range);
    case BiasInit::kFanIn:
      return InitialDistribution{.kind = Kind::kFanIn};
  }
  return {};
}

InitialDistribution embeddings_of(const ModelConfig& c) {
  switch (c.embedding_init) {
    case EmbeddingInit::kXavier:
      return {};
    case EmbeddingInit::kNormal:
      return normal(std::pow(static_cast<double>(c.d_model), -0.5));
    case EmbeddingInit::kStandardNormal:
      return normal(1);
    case EmbeddingInit::kInit:
      return matrices_of(c);
  }
  return {};
}

InitialDistribution positions_of(const ModelConfig& c) {
  switch (c.position_init) {
    case PositionInit::kXavier:
      return {};
    case PositionInit::kNormal:
      return normal(std::pow(static_cast<double>(c.d_model), -0.5));
    case PositionInit::kStandardNormal:
      return normal(1);
  }
  return {};
}

InitialDistribution recurrent_of(const ModelConfig& c) {
  switch (c.recurrent_init) {
    case RecurrentInit::kXavier:
      return {};
    case RecurrentInit::kNormal:
      return normal(c.init_std);
    case RecurrentInit::kUniform:
      return uniform(c.init_range);
    case RecurrentInit::kFanIn:
      return {.kind = Kind::kFanIn};
    case RecurrentInit::kOrthogonal:
      return {.kind = Kind::kOrthogonal};
  }
  return {};
}

}  // namespace

InitialValues initial_values(const ModelConfig& c) {
  InitialValues values{.matrices = matrices_of(c),
                       .embeddings = embeddings_of(c),
                       .positions = positions_of(c),
                       .recurrent = recurrent_of(c),
                       .scores = matrices_of(c),
                       .score_vectors = matrices_of(c),
                       .biases = biases_of(c)};
  if (c.attention_init == AttentionInit::kBahdanau) {  // Bahdanau et al. 2015, B.1
    values.scores = normal(0.001);
    values.score_vectors = normal(0);
  }
  return values;
}

void draw_embeddings(std::initializer_list<torch::Tensor> tables, bool zero_padding_row, const InitialValues& values,
                     at::Generator& generator) {
  for (const auto& table : tables) {
    if (!table.defined()) continue;
    values.embeddings.draw(table, generator);
    if (zero_padding_row) table[0].zero_();
  }
}

}  // namespace nmt
