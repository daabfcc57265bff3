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

  /// False at the end. Throws Error: what the form does not allow (FILE:LINE; with BadLinePolicy::kStop all bad lines
  /// are counted first, ten are named), sides of different lengths, no sentence at all.
  bool next(TextPair& pair);

  int64_t count() const { return count_; }          ///< pairs so far
  int64_t repaired_lines() const;                   ///< of both sides
  int64_t bad_lines() const { return bad_lines_; }  ///< of both sides, left out so far
  std::vector<ReaderNote> notes() const;            ///< for the log
  bool has_a_file_for_each_side() const { return !source_->holds_both_sides(); }
  std::string description() const;  ///< "FILE (TSV)", "FILE (plain text), FILE (IWSLT tags)"

 private:
  void open_zip_archive(const ReadingOptions& reading);
  enum class Found { kPair, kBadLine, kEnd };
  Found next_line(PairReader& reader, TextPair& pair);
  Found next_of_two(TextPair& pair);
  Found next_found(TextPair& pair) { return target_ ? next_of_two(pair) : next_line(*source_, pair); }
  int64_t count_rest(PairReader& reader);
  [[noreturn]] void throw_bad_lines();
  [[noreturn]] void throw_unequal(bool source_has_one);

  CorpusFiles files_;
  std::unique_ptr<PairReader> source_, target_;  // no target_: source_ holds both sides
  bool same_file_ = false;
  BadLinePolicy policy_;
  int64_t count_ = 0;
  int64_t left_out_ = 0;  // pairs of which a side is a bad line
  int64_t bad_lines_ = 0;
  std::vector<BadLine> named_;   // the first of them
  int64_t pairs_of_pieces_ = 0;  // with SentencePiece's mark of a word's beginning
};

}  // namespace nmt
