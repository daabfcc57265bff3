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

/// Code points of valid UTF-8.
std::u32string to_code_points(std::string_view text);
std::string to_utf8(std::u32string_view code_points);

/// What Python's str.split() and strip() take for white space: 9-D, 1C-1F, 20, 85, A0, 1680, 2000-200A, 2028, 2029,
/// 202F, 205F, 3000.
bool is_python_space(char32_t c);
/// text without such white space at both ends, or at the end only.
std::string_view strip(std::string_view text);
std::string_view strip_end(std::string_view text);

}  // namespace nmt
