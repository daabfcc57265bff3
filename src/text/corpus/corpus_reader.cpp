#include "text/corpus/corpus_reader.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/process/progress.h"
#include "base/unicode.h"

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

TextReader open_text(const std::filesystem::path& path) { return {path, detect_format(path)}; }

/// "FILE (plain text)", and what is left out of files with markup.
std::string describe(const TextReader& reader) {
  std::string text = fmt::format("{} ({}", reader.path().string(), format_name(reader.format()));
  if (reader.format() != TextFormat::kPlain) {
    text += fmt::format(", {} lines of markup left out", with_commas(reader.markup_lines()));
  }
  return text + ")";
}

/// Adds the option that names the file to a message about it.
template <typename F>
auto naming(const std::string& option, F&& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(fmt::format("{} {}", option, error.what()));
  }
}

}  // namespace

std::string CorpusFiles::name() const {
  return is_tsv() ? source.filename().string() : source.filename().string() + " + " + target.filename().string();
}

CorpusReader::CorpusReader(CorpusFiles files, Utf8Policy policy)
    : files_(std::move(files)), policy_(policy), source_(naming(files_.source_option, [&] {
        return files_.is_tsv() ? (detect_format(files_.source), TextReader(files_.source, TextFormat::kPlain))
                               : open_text(files_.source);
      })) {
  if (!files_.is_tsv()) target_ = naming(files_.target_option, [&] { return open_text(files_.target); });
}

bool CorpusReader::next(TextPair& pair) {
  const bool found = files_.is_tsv() ? next_of_tsv(pair) : next_of_two(pair);
  if (!found && count() == 0) {
    throw Error(fmt::format("{} {}: has no sentence; check the file", files_.source_option, files_.source.string()));
  }
  return found;
}

bool CorpusReader::next_of_two(TextPair& pair) {
  const auto source = naming(files_.source_option, [&] { return source_.next(); });
  const auto target = naming(files_.target_option, [&] { return target_->next(); });
  if (source.has_value() != target.has_value()) throw_unequal();
  if (!source) return false;
  pair.source = checked(*source, source_, files_.source_option);
  pair.target = checked(*target, *target_, files_.target_option);
  return true;
}

bool CorpusReader::next_of_tsv(TextPair& pair) {
  const auto line = naming(files_.source_option, [&] { return source_.next(); });
  if (!line) return false;
  const std::string text = checked(*line, source_, files_.source_option);
  const size_t tab = text.find('\t');
  if (tab == std::string::npos) {
    throw Error(fmt::format("{} {}:{}: no tab; a line is the source, a tab and the target", files_.source_option,
                            files_.source.string(), source_.line_number()));
  }
  const size_t end = text.find('\t', tab + 1);
  if (end != std::string::npos) ++extra_columns_;
  pair.source = text.substr(0, tab);
  pair.target = text.substr(tab + 1, end == std::string::npos ? end : end - tab - 1);
  return true;
}

void CorpusReader::throw_unequal() {
  while (source_.next()) {
  }
  while (target_->next()) {
  }
  throw Error(fmt::format("{} {}: {} {}, {} has {}; align the files", files_.target_option, files_.target.string(),
                          target_->count(), unit(target_->format()), files_.source.string(), source_.count()));
}

std::string CorpusReader::checked(std::string_view text, const TextReader& reader, const std::string& option) {
  if (reader.format() == TextFormat::kSegments && has_entity(text)) ++entity_lines_;
  const auto offset = find_invalid_utf8(text);
  if (!offset) return std::string(text);
  if (policy_ == Utf8Policy::kStop) {
    throw Error(fmt::format(
        "{} {}:{}: byte {} (0x{:02X}) is not UTF-8; mend or convert the file (iconv), or set "
        "data.repair_utf8: true",
        option, reader.path().string(), reader.line_number(), *offset + 1, static_cast<unsigned char>(text[*offset])));
  }
  ++repaired_;
  return repair_utf8(text);
}

std::string CorpusReader::description() const {
  if (files_.is_tsv()) return files_.source.string() + " (TSV)";
  return describe(source_) + ", " + describe(*target_);
}

}  // namespace nmt
