#pragma once

#include <filesystem>
#include <functional>

#include "base/process/log.h"
#include "base/shard.h"
#include "config/config.h"
#include "data/preparation/preprocess.h"
#include "text/corpus/language_identifier.h"

namespace nmt {

/// nmt-prepro --clean: what is read and written.
struct CorpusCleaning {
  std::filesystem::path input;   ///< one file or pipe with both sides, in any form
  std::filesystem::path output;  ///< TSV of the pairs that are kept, as they stand in the input
  /// The pairs whose source's hash (Spelling) it contains: those that repeat each other are in one part, and all parts
  /// together keep what one would. With more than one, lines begin with the pair's number and a tab.
  Shard shard = {};
  const LanguageIdentifier* languages = nullptr;             ///< for data.clean; null: none
  std::function<bool()> should_stop = [] { return false; };  ///< asked several times a second
};

/// Cleans a corpus by the rules of the data section, without a vocabulary: data.maxlen1 and maxlen2 are not asked, and
/// data.max_length_ratio compares characters. Beside STEM.tsv it writes STEM.dropped.tsv and STEM.html
/// (CleaningReport). Reads once; memory does not grow with the corpus but for the hashes (HashSet). The result is a
/// function of input, options and seed. Throws Error, MachineError; nothing is written then, nor when stopped.
PreprocessResult clean_corpus(const Config& config, const CorpusCleaning& cleaning, Logger& log);

}  // namespace nmt
