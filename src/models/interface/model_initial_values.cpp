#include "models/interface/model_initial_values.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/process/log.h"

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

std::vector<InitialEmbedding> read_initial_embeddings(const ModelConfig& config, const TextCodec& codec, Logger& log) {
  const bool joint = config.tie_embeddings == TiedEmbeddings::kAll;
  if (joint && !config.word_vectors2.empty())
    throw Error(
        "model.word_vectors2: model.tie_embeddings: all has one table for both languages; give word_vectors1 only");
  const bool recurrent = config.architecture == Architecture::kRecurrent;
  const int64_t size = recurrent && config.embedding_size > 0 ? config.embedding_size : config.d_model;
  std::vector<InitialEmbedding> embeddings;
  const auto read = [&](const std::string& file, const Tokenizer& vocabulary, const char* parameter) {
    if (file.empty()) return;
    embeddings.push_back({parameter, read_word_vectors(file, vocabulary, size)});
    const auto found = std::ssize(embeddings.back().vectors.ids);
    log.log(found > 0 ? spdlog::level::info : spdlog::level::warn, "{}: vectors for {} of {} pieces", file,
            with_commas(found), with_commas(vocabulary.size()));
  };
  read(config.word_vectors1, codec.source(), joint ? "embedding" : "source_embedding");
  read(config.word_vectors2, codec.target(), "target_embedding");
  return embeddings;
}

void set_initial_embeddings(TranslationModel& model, const std::vector<InitialEmbedding>& embeddings) {
  const torch::NoGradGuard no_grad;
  auto parameters = model.named_parameters();
  for (const auto& [name, vectors] : embeddings) {
    auto* table = parameters.find(name);
    if (!table) throw Error(fmt::format("model.word_vectors: this model has no table '{}'", name));
    const auto ids = torch::tensor(vectors.ids, torch::kInt64);
    const auto values = torch::tensor(vectors.values).view({ids.size(0), vectors.size});
    table->index_copy_(0, ids.to(table->device()), values.to(table->device()));
  }
}

}  // namespace nmt
