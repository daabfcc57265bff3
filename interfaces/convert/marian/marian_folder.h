#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "convert/formats/weight_file.h"
#include "convert/marian/marian_vocabulary.h"

namespace nmt::convert {

/// The weights of blocks and norms, of pre-norm models the last ones, too: our name, and that of Hugging Face's
/// MarianMT.
std::vector<std::pair<std::string, std::string>> marian_block_names(const ModelConfig& config);

/// The same weights: our name, and that of Marian itself ("encoder_l1_self_Wq").
std::vector<std::pair<std::string, std::string>> marian_npz_block_names(const ModelConfig& config);

/// A model of Marian as a folder holds it, in one of two forms. Tensors have the names of their file.
struct MarianFolder {
  struct Side {
    std::filesystem::path model;  ///< SentencePiece
    std::map<std::string, int64_t> ids = {};
    MarianSpecials specials = {};
    std::string table = {};      ///< tensor of embeddings
    int64_t rows = 0;            ///< of that table
    std::string positions = {};  ///< tensor of positions; empty: the sinusoids of config
  };

  std::filesystem::path directory;
  std::string format;       ///< shown in the summary
  ModelConfig config = {};  ///< the shape of the network; what depends on the weights comes later
  bool shared = true;       ///< one numbering and one table for source and target
  bool tied = true;         ///< the output layer is the table of the target
  bool scaled = true;       ///< embeddings are multiplied by sqrt(model)
  Side source, target;
  std::vector<std::pair<std::string, std::string>> blocks = {};  ///< ours, theirs
  std::string output_weight = {};                                ///< where not tied
  std::string output_bias = {};                                  ///< empty: none
  std::set<std::string> unused = {};                             ///< further tensors that the format has
  WeightFile weights;
  DecodingConfig decoding = {};
  std::string warning = {};  ///< about settings that are not read
  std::string source_language = "src", target_language = "tgt";
  bool tags_both_sides = false;  ///< codes of languages are told (TextCodec::Options), and not typed
  /// Positions are sinusoids from this one on, as many as config.max_positions, taken as learned ones; 0: see
  /// positions.
  int64_t first_position = 0;
};

/// MarianMT of Hugging Face transformers: config.json, model.safetensors or pytorch_model.bin, vocab.json,
/// source.spm, target.spm. Throws Error naming what cannot be represented, or is missing or damaged.
MarianFolder open_hugging_face(const std::filesystem::path& directory);

/// M2M-100 (Fan et al. 2021) or NLLB of Hugging Face transformers, a Marian model but for its norms, positions and
/// languages: config.json, model.safetensors or pytorch_model.bin, sentencepiece.bpe.model; vocab.json, or for NLLB
/// tokenizer.json. Throws Error as open_hugging_face().
MarianFolder open_m2m(const std::filesystem::path& directory);

}  // namespace nmt::convert
