#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/line_reader.h"

namespace nmt {

/// How sentences stand in a file; each may be gzipped.
enum class TextFormat {
  kPlain,     ///< one a line
  kTags,      ///< IWSLT's train.tags.*: one a line, but lines whose first character is `<` are markup
  kSegments,  ///< sgm, xml: one in each <seg ...>...</seg>, in small or capital letters, that is in no <!-- -->
};

/// By name (train.tags.*, *.sgm, *.sgml, *.xml, with or without .gz), else by the first line that is not empty.
/// Throws Error: no such file, a folder, packed with a program other than gzip, UTF-16.
TextFormat detect_format(const std::filesystem::path& path);

/// "plain text", "IWSLT tags", "sgm/xml segments": for the log.
std::string_view format_name(TextFormat format);

/// The sentences of one file, as they stand there. A carriage return before the line's end belongs to the line end, and
/// a byte order mark is none of the text. Tags: kept lines are stripped of white space at both ends. Segments: tags
/// within are removed, the rest stripped; XML entities (&amp;) stay as they are, as sacreBLEU and S1 leave them: the
/// 13a tokenizer of BLEU reads them on both sides.
class TextReader {
 public:
  TextReader(const std::filesystem::path& path, TextFormat format);
  /// Valid until the next call; nullopt at the end.
  /// Throws Error for a <seg> without </seg> on its line, a <!-- without -->, a damaged gzip file.
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

/// text without its tags: from a `<` with a letter, `/`, `!` or `?` behind it to the next `>`. Other `<` are text, as
/// in "a < b and c > d".
std::string remove_tags(std::string_view text);

}  // namespace nmt
