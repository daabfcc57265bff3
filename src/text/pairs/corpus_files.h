#pragma once

#include <filesystem>
#include <string>

namespace nmt {

/// Where a corpus of sentence pairs lies: a file for each side, or one that holds both.
struct CorpusFiles {
  std::filesystem::path source, target;                    ///< target empty: source holds both sides
  std::string source_option, target_option;                ///< "data.train1": named in messages
  std::string source_language = {}, target_language = {};  ///< codes: keys of formats that name the sides

  std::string name() const;  ///< "train.de + train.en", for tables
};

}  // namespace nmt
