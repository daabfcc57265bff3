#include "text/codec/tag_form.h"

#include <fmt/format.h>

namespace nmt {
namespace {

constexpr std::string_view kOpening = ">>", kClosing = "<<";

}  // namespace

std::string language_tag(std::string_view language) { return fmt::format("{}{}{}", kOpening, language, kClosing); }

std::string_view tag_like_beginning(std::string_view text) {
  constexpr size_t kLongest = 100;  // bytes
  if (!text.starts_with(kOpening)) return {};
  const size_t closing = text.substr(0, kLongest).find(kClosing, kOpening.size());
  return closing == std::string_view::npos ? std::string_view() : text.substr(0, closing + kClosing.size());
}

std::string language_of_piece(std::string piece) {
  if (piece.starts_with(kSpaceMark)) piece.erase(0, kSpaceMark.size());
  constexpr size_t kSigns = kOpening.size() + kClosing.size();
  return piece.size() > kSigns && tag_like_beginning(piece) == piece
             ? piece.substr(kOpening.size(), piece.size() - kSigns)
             : "";
}

std::optional<int32_t> tag_piece(const Tokenizer& tokenizer, std::string_view language) {
  for (int32_t id = 0; id < tokenizer.size(); ++id)
    if (!language.empty() && language_of_piece(tokenizer.piece(id)) == language) return id;
  return {};
}

}  // namespace nmt
