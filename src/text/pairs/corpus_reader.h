#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/pairs/corpus_files.h"
#include "text/pairs/pair_reader.h"
#include "text/pairs/text_pair.h"

namespace nmt {

/// The pairs of a corpus, in order, whatever its format.
class CorpusReader {
 public:
  /// Throws Error for files that cannot be read (see make_pair_reader).
  CorpusReader(CorpusFiles files, Utf8Policy policy);

  /// False at the end. Throws Error: bytes that are not UTF-8 (FILE:LINE, unless they are repaired), what the format
  /// does not allow, no sentence at all.
  bool next(TextPair& pair);

  int64_t count() const { return count_; }                              ///< pairs so far
  int64_t repaired_lines() const { return reader_->repaired_lines(); }  ///< of both sides
  std::vector<ReaderNote> notes() const;                                ///< for the log
  bool has_a_file_for_each_side() const { return reader_->has_a_file_for_each_side(); }
  std::string description() const { return reader_->description(); }  ///< "FILE (TSV)"

 private:
  CorpusFiles files_;
  std::unique_ptr<PairReader> reader_;
  int64_t count_ = 0;
  int64_t pairs_of_pieces_ = 0;  // with SentencePiece's mark of a word's beginning
};

}  // namespace nmt
