#include "models/interface/model_initial_values.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/error.h"

namespace nmt {
namespace {

using Kind = InitialDistribution::Kind;

InitialDistribution normal(double deviation) { return {.kind = Kind::kNormal, .deviation = deviation}; }

[[noreturn]] void refuse(const char* option, const std::string& name, const char* choices) {
  throw Error(fmt::format("model.{}: '{}' is none of {}", option, name, choices));
}

InitialDistribution matrices_of(const ModelConfig& c) {
  if (c.init == "xavier") return {};
  if (c.init == "normal") return normal(c.init_std);
  refuse("init", c.init, "xavier, normal");
}

InitialDistribution embeddings_of(const ModelConfig& c) {
  if (c.embedding_init == "xavier") return {};
  if (c.embedding_init == "normal") return normal(std::pow(static_cast<double>(c.d_model), -0.5));
  if (c.embedding_init == "standard_normal") return normal(1);
  if (c.embedding_init == "init") return matrices_of(c);
  refuse("embedding_init", c.embedding_init, "xavier, normal, standard_normal, init");
}

InitialDistribution positions_of(const ModelConfig& c) {
  if (c.position_init == "xavier") return {};
  if (c.position_init == "normal") return normal(std::pow(static_cast<double>(c.d_model), -0.5));
  if (c.position_init == "standard_normal") return normal(1);
  refuse("position_init", c.position_init, "normal, xavier, standard_normal");
}

InitialDistribution recurrent_of(const ModelConfig& c) {
  if (c.recurrent_init == "xavier") return {};
  if (c.recurrent_init == "normal") return normal(c.init_std);
  if (c.recurrent_init == "orthogonal") return {.kind = Kind::kOrthogonal};
  refuse("recurrent_init", c.recurrent_init, "xavier, orthogonal, normal");
}

}  // namespace

InitialValues initial_values(const ModelConfig& c) {
  InitialValues values{.matrices = matrices_of(c),
                       .embeddings = embeddings_of(c),
                       .positions = positions_of(c),
                       .recurrent = recurrent_of(c),
                       .scores = matrices_of(c),
                       .score_vectors = matrices_of(c)};
  if (c.attention_init == "bahdanau") {  // Bahdanau et al. 2015, B.1
    values.scores = normal(0.001);
    values.score_vectors = normal(0);
  } else if (c.attention_init != "init") {
    refuse("attention_init", c.attention_init, "init, bahdanau");
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
