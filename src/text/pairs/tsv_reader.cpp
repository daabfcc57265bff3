#include "text/pairs/tsv_reader.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>

#include "base/process/log.h"
#include "base/unicode.h"

namespace nmt {
namespace {

constexpr auto kNowhere = std::string_view::npos;

/// Column `number` (from 1) of a line, or nullopt.
std::optional<std::string_view> column(std::string_view line, int64_t number) {
  for (; number > 1; --number) {
    const size_t tab = line.find('\t');
    if (tab == kNowhere) return std::nullopt;
    line.remove_prefix(tab + 1);
  }
  return line.substr(0, line.find('\t'));
}

}  // namespace

TsvReader::TsvReader(CorpusFile file, TextReader lines)
    : PairReader(std::move(file), std::move(lines)), columns_(file_.reading.tsv_columns) {
  if (columns_.empty()) columns_ = {1, 2};
}

bool TsvReader::fits(const FileBeginning& file) {
  if (file.is_alone || file.is_named(".tsv")) return true;
  if (file.has_name) return false;
  std::string_view text = file.text;
  const auto tabs = std::ranges::count(text.substr(0, text.find('\n')), '\t');
  for (size_t end = 0; tabs > 0 && (end = text.find('\n')) != kNowhere; text.remove_prefix(end + 1))
    if (std::ranges::count(text.substr(0, end), '\t') != tabs) return false;
  return tabs > 0;
}

bool TsvReader::next(TextPair& pair) {
  const auto line = next_text();
  if (!line) {
    check_letters();
    return false;
  }
  for (const auto side : {TextSide::kSource, TextSide::kTarget}) {
    const int64_t number = columns_[static_cast<size_t>(side)];
    const auto text = column(*line, number);
    if (!text && file_.reading.tsv_columns.empty()) refuse("no tab; a line is the source, a tab and the target");
    if (!text) refuse(fmt::format("has no column {}, which data.tsv_columns names", number));
    pair.of(side) = *text;
    look_for_letters(pair.of(side), side);
  }
  if (file_.reading.tsv_columns.empty() && column(*line, 3)) ++longer_lines_;
  return true;
}

void TsvReader::look_for_letters(const std::string& text, TextSide side) {
  bool& found = has_letters_[static_cast<size_t>(side)];
  for (size_t i = 0; !found && i < text.size();) found = u_isalpha(static_cast<UChar32>(next_code_point(text, i)));
}

/// Numbers of sentences, say.
void TsvReader::check_letters() const {
  if (has_letters_[0] == has_letters_[1]) return;
  const size_t side = has_letters_[0] ? 1 : 0;
  throw Error(
      fmt::format("{} {}: column {}, read as the {}, has no letter in any line; data.tsv_columns names the "
                  "columns of source and target",
                  file_.option, file_.path.string(), columns_[side], side == 0 ? "source" : "target"));
}

std::vector<ReaderNote> TsvReader::notes() const {
  if (longer_lines_ == 0) return {};
  return {{.text = fmt::format("{}: {} lines have more than two columns; the others are not read (data.tsv_columns "
                               "names those of source and target)",
                               file_.path.string(), with_commas(longer_lines_)),
           .is_warning = true}};
}

}  // namespace nmt
