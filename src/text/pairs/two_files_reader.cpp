#include "text/pairs/two_files_reader.h"

#include <fmt/format.h>

#include "base/process/progress.h"

namespace nmt {
namespace {

bool has_entity(std::string_view text) {
  for (size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
    const size_t end =
        text.find_first_not_of("#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", at + 1);
    if (end != std::string_view::npos && end > at + 1 && text[end] == ';') return true;
  }
  return false;
}

std::string_view unit(TextFormat format) { return format == TextFormat::kPlain ? "lines" : "sentences"; }

TextReader open_text(const std::filesystem::path& path, const std::string& option) {
  return with_option_named(option, [&] { return TextReader(path, detect_format(path)); });
}

/// "FILE (plain text)", and what is left out of files with markup.
std::string describe(const TextReader& reader) {
  std::string text = fmt::format("{} ({}", reader.path().string(), format_name(reader.format()));
  if (reader.format() != TextFormat::kPlain) {
    text += fmt::format(", {} lines of markup left out", with_commas(reader.markup_lines()));
  }
  return text + ")";
}

}  // namespace

TwoFilesReader::TwoFilesReader(CorpusFiles files, Utf8Policy policy)
    : PairReader(std::move(files), policy),
      source_(open_text(files_.source, files_.source_option)),
      target_(open_text(files_.target, files_.target_option)) {}

bool TwoFilesReader::next(TextPair& pair) {
  const auto source = with_option_named(files_.source_option, [&] { return source_.next(); });
  const auto target = with_option_named(files_.target_option, [&] { return target_.next(); });
  if (source.has_value() != target.has_value()) throw_unequal();
  if (!source) return false;
  pair.source = side(*source, source_, files_.source_option);
  pair.target = side(*target, target_, files_.target_option);
  return true;
}

std::string TwoFilesReader::side(std::string_view text, const TextReader& reader, const std::string& option) {
  if (reader.format() == TextFormat::kSegments && has_entity(text)) ++entity_lines_;
  return checked(text, reader, option);
}

void TwoFilesReader::throw_unequal() {
  while (source_.next()) {
  }
  while (target_.next()) {
  }
  throw Error(fmt::format("{} {}: {} {}, {} has {}; align the files", files_.target_option, files_.target.string(),
                          target_.count(), unit(target_.format()), files_.source.string(), source_.count()));
}

std::string TwoFilesReader::description() const { return describe(source_) + ", " + describe(target_); }

std::vector<ReaderNote> TwoFilesReader::notes() const {
  if (entity_lines_ == 0) return {};
  return {
      {fmt::format("{} sentences hold XML entities such as &amp;; they stay as they are", with_commas(entity_lines_))}};
}

}  // namespace nmt
