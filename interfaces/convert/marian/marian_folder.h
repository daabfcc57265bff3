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

/// The weights of blocks and norms: our name, and that of Hugging Face's MarianMT.
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
};

/// MarianMT of Hugging Face transformers: config.json, model.safetensors or pytorch_model.bin, vocab.json,
/// source.spm, target.spm. Throws Error naming what cannot be represented, or is missing or damaged.
MarianFolder open_hugging_face(const std::filesystem::path& directory);

}  // namespace nmt::convert
