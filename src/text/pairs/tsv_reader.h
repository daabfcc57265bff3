#pragma once

#include "text/pairs/pair_reader.h"

namespace nmt {

/// One file, a pair a line: columns with tabs between, two of which are the source and the target.
class TsvReader final : public PairReader {
 public:
  TsvReader(CorpusFile file, TextReader lines);
  /// A file that stands alone, or is named *.tsv; of what has no name, each of the first lines has as many tabs.
  static bool fits(const FileBeginning& file);
  /// Also throws Error for a line without these columns, and at the end where only one side has any letter.
  bool next(TextPair& pair) override;
  std::string description() const override { return file_.path.string() + " (TSV)"; }
  std::vector<ReaderNote> notes() const override;

 private:
  void look_for_letters(const std::string& text, TextSide side);
  void check_letters() const;

  std::vector<int64_t> columns_;  // of source and target, from 1
  bool has_letters_[2] = {false, false};
  int64_t longer_lines_ = 0;  // with columns that nobody has named
};

}  // namespace nmt
