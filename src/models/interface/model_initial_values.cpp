#include "models/interface/model_initial_values.h"

#include <cmath>

namespace nmt {
namespace {

using Kind = InitialDistribution::Kind;

InitialDistribution normal(double deviation) { return {.kind = Kind::kNormal, .deviation = deviation}; }

InitialDistribution matrices_of(const ModelConfig& c) {
  return c.init == MatrixInit::kNormal ? normal(c.init_std) : InitialDistribution();
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
                       .score_vectors = matrices_of(c)};
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
