#pragma once

#include "text/pairs/pair_reader.h"

namespace nmt {

/// A file of one side, sentence by sentence: plain text, IWSLT tags, sgm or xml segments.
class SentenceReader final : public PairReader {
 public:
  SentenceReader(CorpusFile file, TextReader sentences) : PairReader(std::move(file), std::move(sentences)) {}
  bool next(TextPair& pair) override;
  std::string description() const override;
  bool holds_both_sides() const override { return false; }
  std::vector<ReaderNote> notes() const override;

 private:
  int64_t entity_lines_ = 0;  // sgm/xml: with &amp; and the like, left as they are
};

}  // namespace nmt
