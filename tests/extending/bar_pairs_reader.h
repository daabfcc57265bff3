#pragma once

#include "base/unicode.h"
#include "text/pairs/pair_reader.h"

namespace nmt {

/// A corpus format: one file, a pair a line, "source ||| target" as fast_align reads it (Dyer et al. 2013).
class BarPairsReader final : public PairReader {
 public:
  BarPairsReader(CorpusFile file, TextReader lines) : PairReader(std::move(file), std::move(lines)) {}

  static bool fits(const FileBeginning& file) { return file.is_named(".bars"); }

  bool next(TextPair& pair) override {  ///< also throws Error for a line without bars
    const auto line = next_text();
    if (!line) return false;
    const std::string_view text = *line;
    const size_t bars = text.find("|||");
    if (bars == std::string::npos) refuse("no bars; a line is the source, ||| and the target");
    pair.source = strip(text.substr(0, bars));
    pair.target = strip(text.substr(bars + 3));
    return true;
  }

  std::string description() const override { return file_.path.string() + " (source ||| target)"; }
};

}  // namespace nmt
