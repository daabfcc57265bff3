#include "text/pairs/line_pairs_readers.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/files/strict_json.h"
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
    if (!text && file_.reading.tsv_columns.empty())
      refuse(file_.path.extension() == ".csv" ? "no tab; CSV is not read, save the table as TSV"
                                              : "no tab; a line is the source, a tab and the target");
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

namespace {

constexpr std::array<std::string_view, 2> kKeys = {"source", "target"};

/// Whether a line that looks like an object says `key`.
bool has_key(std::string_view line, std::string_view key) {
  return !key.empty() && line.find(fmt::format("\"{}\"", key)) != std::string_view::npos;
}

}  // namespace

bool JsonLinesReader::fits(const FileBeginning& file) {
  if (file.is_named(".jsonl") || file.is_named(".ndjson")) return true;
  const std::string_view line = file.first_line();
  if (file.is_named(".json") && (line.starts_with('{') || line.starts_with('['))) return true;  // or next() refuses it
  if (!line.starts_with('{') || !strip(line.substr(1)).starts_with('"')) return false;
  const auto has_side = [&](TextSide side) {
    return has_key(line, kKeys[static_cast<size_t>(side)]) || has_key(line, file.reading.language(side));
  };
  return has_key(line, "translation") || (has_side(TextSide::kSource) && has_side(TextSide::kTarget));
}

bool JsonLinesReader::next(TextPair& pair) {
  for (;;) {
    const auto json = next_text();
    if (!json) return false;
    if (strip(*json).empty()) continue;
    const auto object = parse_json_or_null(*json, {.bytes = json->size(), .depth = 16});
    if (!object.is_object()) refuse_object(fmt::format("is no JSON object{}", escape_hint(*json)));
    const auto inner = object.find("translation");
    const auto& sides = inner != object.end() && inner->is_object() ? *inner : object;
    for (const auto side : {TextSide::kSource, TextSide::kTarget}) pair.of(side) = text(sides, side);
    return true;
  }
}

std::string JsonLinesReader::text(const nlohmann::json& object, TextSide side) const {
  const auto key = kKeys[static_cast<size_t>(side)];
  const auto& language = file_.reading.language(side);
  auto found = language.empty() ? object.end() : object.find(language);
  if (found == object.end()) found = object.find(key);
  if (found == object.end())
    refuse_object(language.empty() ? fmt::format("has no \"{}\"", key)
                                   : fmt::format("has neither \"{}\" nor \"{}\"", language, key));
  if (!found->is_string()) refuse_object(fmt::format("\"{}\" is no text", found.key()));
  auto text = found->get<std::string>();
  if (text.find('\0') != std::string::npos) refuse_object(fmt::format("\"{}\" holds NUL", found.key()));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

void JsonLinesReader::refuse_object(const std::string& why) const {
  const auto& source = file_.reading.source_language;
  const auto& target = file_.reading.target_language;
  refuse(why + R"(; a line is {"source": "...", "target": "..."})" +
         (source.empty() ? "" : fmt::format(R"(, or has the keys "{}", "{}")", source, target)));
}

bool SentenceReader::next(TextPair& pair) {
  auto text = next_text();
  if (!text) return false;
  pair.of(file_.side) = std::move(*text);
  return true;
}

std::string SentenceReader::description() const {
  std::string text = fmt::format("{} ({}", file_.path.string(), name_of(lines_.format()));
  if (lines_.format() == TextFormat::kSegments)
    text += fmt::format(", {} lines of markup left out", with_commas(lines_.markup_lines()));
  return text + ")";
}

std::vector<ReaderNote> SentenceReader::notes() const {
  if (lines_.format() != TextFormat::kTags || lines_.markup_lines() == 0) return {};
  return {{.text = fmt::format("{}: {} lines are elements of IWSLT's markup and left out", file_.path.string(),
                               with_commas(lines_.markup_lines())),
           .is_warning = true}};
}

}  // namespace nmt
