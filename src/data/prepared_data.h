#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "data/lexicon.h"
#include "data/pair_scores.h"
#include "data/prepared_corpus.h"
#include "text/codec/codec.h"

namespace nmt {

/// The way from text to ids and back of prepared data or of a model directory. Throws Error where the folder is
/// neither, and as TextCodec::load().
TextCodec load_codec(const std::filesystem::path& directory);

/// One of several validation or test sets.
struct NamedCorpus {
  std::string name;
  std::shared_ptr<const PreparedCorpus> corpus;
};

/// The prepared folder as nmt-train and nmt-eval need it.
struct PreparedData {
  std::shared_ptr<const PreparedCorpus> train;
  std::shared_ptr<const PreparedCorpus> valid;     ///< null where none was configured
  std::shared_ptr<const PreparedCorpus> test;      ///< null where none was configured
  std::vector<NamedCorpus> more_valid, more_test;  ///< the other ones of data.eval and data.test
  TextCodec codec;
  std::shared_ptr<const Lexicon> lexicon;       ///< null where none was configured (data.shortlist)
  std::shared_ptr<const PieceLinks> alignment;  ///< of train; null where none was configured (data.alignment)
  PairSelection selection = {};                 ///< of the training pairs: data.keep_best, training.pair_weights
  std::string hash;                             ///< of the manifest and the selection: names this data in checkpoints
};

/// Opens what nmt-prepro wrote to config.data.dir and reads all of it once, against the manifest's checksums. Throws
/// Error: not there (run nmt-prepro -c ...), not finished, damaged, or made with other data options than config's
/// (naming them).
PreparedData open_prepared_data(const Config& config);

}  // namespace nmt
