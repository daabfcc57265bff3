#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "base/files/file.h"
#include "config/config.h"
#include "data/preparation/encoder.h"
#include "text/codec/codec.h"

namespace nmt {

/// data.naming kyubyong2019: what the prepro.py of Kyubyong's Transformer of 2019 writes, in the folder of the prepared
/// data. DE and EN are the languages' codes; further sets of data.eval and data.test are eval.NAME and test.NAME.
///
///   prepro/train.DE train.EN eval.DE eval.EN test.DE test.EN
///       all lines that were read, without markup, also those of pairs that are dropped; no line end behind the last
///   prepro/train
///       the lines of train.DE, then those of train.EN
///   segmented/bpe.model bpe.vocab
///       the SentencePiece model, and "piece TAB score" a line
///   segmented/train.DE.bpe train.EN.bpe eval.DE.bpe eval.EN.bpe test.DE.bpe
///       the same lines in pieces, spaces between, a line end behind each; what is unknown stands as its text
///
/// Nothing for another naming.
class OriginalFiles {
 public:
  /// The files of one split: train, valid, valid.NAME, test, test.NAME. folder: of the prepared data.
  OriginalFiles(const DataConfig& data, const TextCodec& codec, const std::string& split,
                const std::filesystem::path& folder);
  ~OriginalFiles();

  void add(const EncodedPair& pair);
  /// The last call. Throws MachineError.
  void commit();

  /// Their names for all splits, as "prepro/train.de".
  static std::set<std::string> names(const DataConfig& data);
  /// Those that are not of one split, when the others are there, beside what TextCodec::save() and
  /// readable_vocabularies() wrote. Throws MachineError.
  static void finish(const DataConfig& data, const std::filesystem::path& folder);

 private:
  struct Split;
  std::unique_ptr<Split> split_;  // null: another naming
};

}  // namespace nmt
