#pragma once

#include <string>
#include <string_view>

namespace nmt {

/// Text for man(7), with what roff would take for its own escaped: backslashes, hyphens that are minus signs (of
/// options, paths, commands), and a point or an apostrophe where a line begins.
std::string roff_text(std::string_view text);

/// The text as lines of at most 78 bytes. No empty lines; ends with a line end. Empty text: nothing.
std::string roff_lines(std::string_view text);

/// In bold and in italic.
std::string roff_bold(std::string_view text);
std::string roff_italic(std::string_view text);

}  // namespace nmt
