#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "scoring/corpus/resampling.h"

namespace nmt::scoring {

/// Where the text of a scoring run comes from.
struct CorpusSource {
  std::vector<std::string> references;    ///< files
  int64_t fields = 1;                     ///< references a line, split by tabs; 1: files are not split
  std::vector<std::string> systems = {};  ///< files; none: standard input, one system a tab-separated field
  std::string encoding = "utf-8";
  bool cut_unended_lines = false;  ///< a last line without line end loses its last character (original_bleu.h)
  bool keep_line_ends = false;     ///< with white space at line ends (SegmentBlock::has_line_ends); not with fields
};

/// A line has another number of fields than expected; sacreBLEU has an exit code of its own for it.
class FieldCountError : public Error {
  using Error::Error;
};

/// Reads references and systems side by side, block by block, by the rules of sacreBLEU: files are split at \n only,
/// standard input at \r and \r\n too; white space at line ends goes, unless it is asked for.
class CorpusReader {
 public:
  /// Opens everything and finds out the number of systems.
  explicit CorpusReader(const CorpusSource& source);
  ~CorpusReader();
  CorpusReader(const CorpusReader&) = delete;

  size_t systems() const;
  /// The next segments, valid until the next call; false at the end. Throws nmt::Error where streams end at different
  /// lines, where a line is not UTF-8, and where there are no segments at all.
  bool next(SegmentBlock& block);

 private:
  class Stream;
  bool read_segment();

  bool keep_line_ends_;
  std::vector<std::unique_ptr<Stream>> streams_;  // reference files, then system files or standard input
  size_t reference_streams_;
  bool has_segments_ = false, ended_ = false;
};

}  // namespace nmt::scoring
