#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nmt {

/// The byte offset of the first byte that is not UTF-8 (overlong forms, surrogates and beyond U+10FFFF are not), or
/// nullopt.
std::optional<size_t> find_invalid_utf8(std::string_view text);

/// Every maximal invalid run replaced by U+FFFD, as Python's decode(errors="replace") does.
std::string repair_utf8(std::string_view text);

/// Unicode normalisation form KC. Throws Error if text is not UTF-8.
std::string nfkc(std::string_view text);

/// Full, language-neutral lower case, as Python's str.lower(): final sigma, U+0130. Throws Error if text is not UTF-8.
std::string lower_case(std::string_view text);

/// U+FFFD for what is not UTF-8, as Python's decode(errors="replace").
std::u32string to_code_points(std::string_view text);
std::string to_utf8(std::u32string_view code_points);

/// text without white space (is_python_space) at both ends, or at the end only.
std::string_view strip(std::string_view text);
std::string_view strip_end(std::string_view text);

}  // namespace nmt
