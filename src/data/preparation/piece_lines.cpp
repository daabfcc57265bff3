#include "data/preparation/piece_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"

namespace nmt {
namespace {

/// What stands between spaces (U+0020): a piece may hold other white space.
std::vector<std::string_view> parts_of(std::string_view line) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    if (end > begin) parts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

PieceLines::PieceLines(TextCodec codec, TextSide side, PieceForm form)
    : codec_(std::move(codec)), side_(side), form_(form) {
  if (form == PieceForm::kPieces)
    for (int32_t id = 0; id < tokenizer().size(); ++id) ids_.emplace(tokenizer().piece(id), id);
}

std::string PieceLines::encode(std::string_view line) const {
  std::string text;
  for (const int32_t id : tokenizer().encode(codec_.normalized(line))) {
    if (!text.empty()) text += ' ';
    text += form_ == PieceForm::kIds ? std::to_string(id) : tokenizer().piece(id);
  }
  return text;
}

std::string PieceLines::decode(std::string_view line) const {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<int32_t> ids;
  for (const auto part : parts_of(line)) ids.push_back(id_of(part));
  std::string text = tokenizer().decode(ids);
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');  // pieces of bytes
  return text;
}

int32_t PieceLines::id_of(std::string_view word) const {
  if (form_ == PieceForm::kPieces) {
    if (const auto found = ids_.find(word); found != ids_.end()) return found->second;
    throw Error(fmt::format("'{}' is no piece of the vocabulary; give pieces with spaces between", repair_utf8(word)));
  }
  int32_t id = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (error != std::errc() || end != word.data() + word.size() || id < 0 || id >= tokenizer().size())
    throw Error(
        fmt::format("'{}' is no id of the vocabulary; they are 0 to {}", repair_utf8(word), tokenizer().size() - 1));
  return id;
}

}  // namespace nmt
