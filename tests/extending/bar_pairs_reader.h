#pragma once

#include <fmt/format.h>

#include "base/unicode.h"
#include "text/pairs/pair_reader.h"

namespace nmt {

/// A corpus format: one file, a pair a line, "source ||| target" as fast_align reads it (Dyer et al. 2013).
class BarPairsReader final : public PairReader {
 public:
  /// Throws Error for a file that cannot be read.
  BarPairsReader(CorpusFiles files, Utf8Policy policy)
      : PairReader(std::move(files), policy), lines_(open_lines(files_)) {}

  bool next(TextPair& pair) override {  ///< also throws Error for a line without bars
    const auto line = with_option_named(files_.source_option, [&] { return lines_.next(); });
    if (!line) return false;
    const std::string text = checked(*line, lines_, files_.source_option);
    const size_t bars = text.find("|||");
    if (bars == std::string::npos)
      throw Error(fmt::format("{} {}:{}: no bars; a line is the source, ||| and the target", files_.source_option,
                              files_.source.string(), lines_.line_number()));
    pair.source = strip(std::string_view(text).substr(0, bars));
    pair.target = strip(std::string_view(text).substr(bars + 3));
    return true;
  }

  std::string description() const override { return files_.source.string() + " (source ||| target)"; }

 private:
  TextReader lines_;
};

}  // namespace nmt
