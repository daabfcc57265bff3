#pragma once

#include "text/pairs/pair_reader.h"

namespace nmt {

/// A file for each side, sentence by sentence; each has a format of its own (see detect_format).
class TwoFilesReader final : public PairReader {
 public:
  /// Throws Error for files that cannot be read.
  TwoFilesReader(CorpusFiles files, Utf8Policy policy);
  bool next(TextPair& pair) override;  ///< also throws Error for a side with fewer sentences than the other
  std::string description() const override;
  bool has_a_file_for_each_side() const override { return true; }
  std::vector<ReaderNote> notes() const override;

 private:
  [[noreturn]] void throw_unequal();
  std::string side(std::string_view text, const TextReader& reader, const std::string& option);

  TextReader source_, target_;
  int64_t entity_lines_ = 0;  // sgm/xml: with &amp; and the like, left as they are
};

}  // namespace nmt
