#include "text/pairs/sentence_reader.h"

#include <fmt/format.h>

#include "base/process/log.h"

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

}  // namespace

bool SentenceReader::next(TextPair& pair) {
  auto text = next_text();
  if (!text) return false;
  if (lines_.format() == TextFormat::kSegments && has_entity(*text)) ++entity_lines_;
  pair.of(file_.side) = std::move(*text);
  return true;
}

std::string SentenceReader::description() const {
  std::string text = fmt::format("{} ({}", file_.path.string(), format_name(lines_.format()));
  if (lines_.format() == TextFormat::kSegments)
    text += fmt::format(", {} lines of markup left out", with_commas(lines_.markup_lines()));
  return text + ")";
}

std::vector<ReaderNote> SentenceReader::notes() const {
  std::vector<ReaderNote> notes;
  if (lines_.format() == TextFormat::kTags && lines_.markup_lines() > 0)
    notes.push_back({.text = fmt::format("{}: {} lines are elements of IWSLT's markup and left out",
                                         file_.path.string(), with_commas(lines_.markup_lines())),
                     .is_warning = true});
  if (entity_lines_ > 0)
    notes.push_back({fmt::format("{}: {} sentences hold XML entities such as &amp;; they stay as they are",
                                 file_.path.string(), with_commas(entity_lines_))});
  return notes;
}

}  // namespace nmt
