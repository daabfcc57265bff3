#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "base/files/line_reader.h"

namespace nmt {

/// How the sentences of one side stand in a file; each may be packed.
enum class TextFormat {
  kPlain,     ///< one a line
  kTags,      ///< IWSLT's train.tags.*: one a line, but lines that are an element such as <url>...</url> are markup
  kSegments,  ///< sgm, xml: one in each <seg ...>...</seg>, in small or capital letters, that is in no <!-- -->
};

template <>
inline constexpr auto kNames<TextFormat> = names("plain text", "IWSLT tags", "sgm/xml segments");

/// Told by the name (train.tags.*, *.sgm, *.sgml, *.xml, with or without .gz or .zst), else by the beginning of the
/// text:
/// `<?xml`, `<srcset` and the like; two elements of IWSLT, one a line, <url>, <talkid> or <doc> among them.
TextFormat text_format(const std::filesystem::path& path, std::string_view beginning);

/// The sentences of one file, as they stand there. A carriage return before the line's end belongs to the line end, and
/// a byte order mark is none of the text. Tags: lines are stripped of white space at both ends. Segments: tags within
/// are removed, the rest stripped; XML entities (&amp;) stay as they are, as sacreBLEU and S1 leave them: the 13a
/// tokenizer of BLEU reads them on both sides.
class TextReader {
 public:
  TextReader(LineReader lines, TextFormat format) : lines_(std::move(lines)), format_(format) {}
  /// Valid until the next call; nullopt at the end.
  /// Throws Error: a <seg> without </seg> on its line, an element that only files with both sides have (<src>, <tuv>),
  /// a <!-- without -->, a damaged packed file.
  std::optional<std::string_view> next();
  int64_t line_number() const { return lines_.line_number(); }  ///< of the sentence returned last
  int64_t count() const { return count_; }                      ///< sentences returned so far
  int64_t markup_lines() const { return markup_lines_; }        ///< left out so far
  const std::filesystem::path& path() const { return lines_.path(); }
  TextFormat format() const { return format_; }

 private:
  std::optional<std::string_view> next_line();
  std::optional<std::string_view> next_segment();
  void split_segments(std::string_view line);

  LineReader lines_;
  TextFormat format_;
  int64_t count_ = 0, markup_lines_ = 0;
  std::vector<std::string> segments_;  // of the current line
  size_t next_segment_ = 0;
  int64_t comment_line_ = 0;  // where the comment begins that has not ended; 0 = none
};

/// text without its tags: from a `<` with a letter, `/`, `!` or `?` behind it to the next `>` that is in no value of an
/// attribute. Other `<` are text, as in "a < b and c > d".
std::string remove_tags(std::string_view text);

}  // namespace nmt
