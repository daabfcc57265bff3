#include "models/initial_embeddings.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/process/progress.h"

namespace nmt {

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
