#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "convert/formats/hugging_face_folder.h"

namespace nmt::convert {

/// How a weight of T5 becomes one of ours.
enum class T5Role {
  kPlain,       ///< as it stands
  kHeads,       ///< rows by head: queries, keys, values
  kCrossQuery,  ///< the same; our cross-attention divides its scores, T5's does not
  kHeadsIn,     ///< columns by head: what reads the heads
  kBuckets,     ///< [buckets, heads]
};

struct T5Weight {
  std::string ours, theirs;
  T5Role role = T5Role::kPlain;
};

/// Every weight of T5 but the tables of tokens.
std::vector<T5Weight> t5_weights(const ModelConfig& config);

/// What to do with a model that can do several things.
struct T5Choice {
  std::string task = {};                          ///< a name of task_specific_params; empty: the only translation
  std::optional<std::string> source_prefix = {};  ///< instead of the task's prefix
};

/// A task of a T5 model: a text before each source sentence tells it what to do (Raffel et al. 2020, sec. 2.4).
struct T5Task {
  std::string prefix = {};                                       ///< "translate English to German: "
  std::string source_language = "src", target_language = "tgt";  ///< codes, of a name like translation_en_to_de
  /// How transformers generates for it.
  HuggingFaceConfig settings{"", nlohmann::json::object()};
};

/// Reads task_specific_params of config.json. A model that names no task has none. Throws Error for a task that is not
/// there, a prefix that is no text, and several translations without a choice.
T5Task choose_t5_task(const HuggingFaceConfig& config, const T5Choice& choice);

/// Rows of T5's table. The row of <unk> is that of the SentencePiece model.
struct T5Specials {
  int64_t pad = 0, start = 0, end = 1;
};

/// The vocabulary of a T5 model as ours: <pad> <unk> <s> </s>, then the rest in T5's order. Ours starts the decoder
/// from <s>, so <s> is the row of T5's start token, its <pad>; our <pad> then has no row.
struct T5Vocabulary {
  std::vector<int64_t> order;  ///< of each of our ids T5's row, -1: none, a vector of zeros that is never put out
  std::string model;           ///< bytes of the SentencePiece model with our ids
};

/// `rows`: of the table, which may have more rows than the SentencePiece model has pieces: <extra_id_99> down to
/// <extra_id_0> and filling. Those, like the special ones, are never cut from a text and never written. Throws Error.
T5Vocabulary read_t5_vocabulary(const std::filesystem::path& path, int64_t rows, const T5Specials& specials);

}  // namespace nmt::convert
