#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "text/pairs/text_pair.h"

namespace nmt {

enum class Utf8Policy { kStop, kRepair };

/// What is said of all files of a configuration, or of a command line, whatever their form.
struct ReadingOptions {
  std::string source_language = {}, target_language = {};  ///< codes: sides of JSON lines and XML; empty: not known
  Utf8Policy utf8 = Utf8Policy::kStop;
  std::vector<int64_t> tsv_columns = {};  ///< of source and target, from 1; empty: the first two

  const std::string& language(TextSide side) const {
    return side == TextSide::kSource ? source_language : target_language;
  }
};

/// Where a corpus of sentence pairs lies: a file for each side, or one that holds both.
struct CorpusFiles {
  std::filesystem::path source, target;      ///< target empty, or the same: source holds both sides
  std::string source_option, target_option;  ///< "data.train1": named in messages

  std::string name() const;  ///< "train.de + train.en", for tables
};

/// One of them.
struct CorpusFile {
  std::filesystem::path path;
  std::string option;
  ReadingOptions reading = {};
  TextSide side = TextSide::kSource;  ///< what its sentences are, if it holds one side
  bool is_alone = false;              ///< stands for both sides
};

}  // namespace nmt
