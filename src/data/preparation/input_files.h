#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "data/manifest.h"
#include "text/corpus/cleaning.h"
#include "text/pairs/pair_reader.h"

namespace nmt {

/// One of train, valid, valid.NAME, test, test.NAME, and the corpora that make it up.
struct Split {
  std::string name;
  std::vector<CorpusFiles> corpora;
  std::vector<DataConfig> data = {};  ///< the section with the languages of each corpus
  std::string set = {};               ///< "eval dev", of a set that has a name
  bool is_training() const { return name == "train"; }
  std::string row_name(size_t corpus) const;  ///< in the table: "train.de + train.en", "eval dev: dev.de + dev.en"
};

/// All that the data section names, the training text first. Throws Error where there is no training text.
std::vector<Split> list_splits(const DataConfig& data);

/// "train: 29,000 pairs, 400,000 + 390,000 pieces, of which <unk> ...": a line of the log.
std::string split_summary(const SplitRecord& split);

/// A line for each side of which more than 5 % of the pieces are <unk>.
std::vector<std::string> unknown_warnings(const SplitRecord& split);

/// The message where the rules drop every pair: how many each of them drops.
std::string nothing_left(const std::vector<CleaningRow>& rows);

/// Every file that `config` names, with size and time, in order. Throws Error for one that is missing or no regular
/// file.
std::vector<InputFile> list_input_files(const Config& config);

/// What is likely a slip in the data section, a line each: a language that ISO 639 has no code for.
std::vector<std::string> input_warnings(const DataConfig& data);

}  // namespace nmt
