#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "config/loading/schema.h"
#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "text/words.h"

namespace nmt::test {

/// Words a to h, and more with their counts; the model's section of the configuration is `model`. Its languages: from
/// `source` to `target`.
inline std::filesystem::path save_tiny_model(const std::filesystem::path& directory, const std::string& model,
                                             const std::string& more = "", const std::string& source = "de",
                                             const std::string& target = "en") {
  const auto config = parse_config(
                          "{data: {maxlen1: 20, maxlen2: 20, tokenizer: words}, decoding: {beam_size: 2}, "
                          "model: {d_model: 16, dropout_rate: 0, " +
                              model + "}}",
                          "test")
                          .config;
  const auto words = std::make_shared<const nmt::WordTokenizer>(
      "<PAD>\t9\n<UNK>\t9\n<S>\t9\n</S>\t9\na\t9\nb\t8\nc\t7\nd\t6\ne\t5\nf\t4\ng\t3\nh\t2\n" + more, "test",
      WordLimits{.min_count = 1, .max_size = 100});
  const TextCodec codec({.source_language = source, .target_language = target}, words, words);
  std::filesystem::create_directories(directory);
  save_model(directory, *formula_model(config.model, words->size(), words->size()), config, codec,
             nlohmann::json::object());
  return directory;
}

inline const char* const kTinyTransformer = "d_ff: 32, num_blocks: 1, num_heads: 2";
/// It has places for 20 tokens.
inline const char* const kTinyLearned = "d_ff: 32, num_blocks: 1, num_heads: 2, positions: learned, max_positions: 20";
inline const char* const kTinyRecurrent =
    "architecture: recurrent, attention_score: additive, num_blocks: 1, encoder_size: 8, tie_embeddings: none";

}  // namespace nmt::test
