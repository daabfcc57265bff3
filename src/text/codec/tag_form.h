#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace nmt {

/// ">>cs<<" of cs.
std::string language_tag(std::string_view language);

/// What begins a text in the form of a tag, whether or not a model knows it; empty: nothing does.
std::string_view tag_like_beginning(std::string_view text);

/// The language of a piece that is a tag; empty of other pieces.
std::string language_of_piece(std::string piece);

/// The piece of a language.
std::optional<int32_t> tag_piece(const Tokenizer& tokenizer, std::string_view language);

}  // namespace nmt
