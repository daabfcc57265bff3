#include "text/pairs/tsv_reader.h"

#include <fmt/format.h>

#include "base/process/progress.h"

namespace nmt {

TsvReader::TsvReader(CorpusFiles files, Utf8Policy policy)
    : PairReader(std::move(files), policy), lines_(open_lines(files_)) {}

bool TsvReader::next(TextPair& pair) {
  const auto line = with_option_named(files_.source_option, [&] { return lines_.next(); });
  if (!line) return false;
  const std::string text = checked(*line, lines_, files_.source_option);
  const size_t tab = text.find('\t');
  if (tab == std::string::npos) {
    throw Error(fmt::format("{} {}:{}: no tab; a line is the source, a tab and the target", files_.source_option,
                            files_.source.string(), lines_.line_number()));
  }
  const size_t end = text.find('\t', tab + 1);
  if (end != std::string::npos) ++longer_lines_;
  pair.source = text.substr(0, tab);
  pair.target = text.substr(tab + 1, end == std::string::npos ? end : end - tab - 1);
  return true;
}

std::vector<ReaderNote> TsvReader::notes() const {
  if (longer_lines_ == 0) return {};
  return {
      {.text = fmt::format("{} lines have more than two columns; the others are not read", with_commas(longer_lines_)),
       .is_warning = true}};
}

}  // namespace nmt
