#pragma once

#include "text/pairs/pair_reader.h"

namespace nmt {

/// One file, a pair a line: source, a tab, target. Further columns are not read, but counted.
class TsvReader final : public PairReader {
 public:
  /// Throws Error for a file that cannot be read.
  TsvReader(CorpusFiles files, Utf8Policy policy);
  bool next(TextPair& pair) override;  ///< also throws Error for a line without a tab
  std::string description() const override { return files_.source.string() + " (TSV)"; }
  std::vector<ReaderNote> notes() const override;

 private:
  TextReader lines_;
  int64_t longer_lines_ = 0;  // with more than two columns
};

}  // namespace nmt
