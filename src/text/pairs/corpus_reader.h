#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/pairs/pair_reader.h"

namespace nmt {

/// The pairs of a corpus, in order, whatever the form of its files.
class CorpusReader {
 public:
  /// Throws Error: files that cannot be read (see open_corpus_file), a file that holds both sides beside one that does
  /// not, one pipe for two sides.
  CorpusReader(CorpusFiles files, const ReadingOptions& reading);

  /// False at the end. Throws Error: what the form does not allow (FILE:LINE), sides of different lengths, no sentence
  /// at all.
  bool next(TextPair& pair);

  int64_t count() const { return count_; }  ///< pairs so far
  int64_t repaired_lines() const;           ///< of both sides
  std::vector<ReaderNote> notes() const;    ///< for the log
  bool has_a_file_for_each_side() const { return !source_->holds_both_sides(); }
  std::string description() const;  ///< "FILE (TSV)", "FILE (plain text), FILE (IWSLT tags)"

 private:
  bool next_of_two(TextPair& pair);
  [[noreturn]] void throw_unequal(bool source_has_one);

  CorpusFiles files_;
  std::unique_ptr<PairReader> source_, target_;  // no target_: source_ holds both sides
  bool same_file_ = false;
  int64_t count_ = 0;
  int64_t pairs_of_pieces_ = 0;  // with SentencePiece's mark of a word's beginning
};

}  // namespace nmt
