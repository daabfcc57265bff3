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

}  // namespace nmt::convert
