#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scoring/corpus/corpus_statistics.h"

namespace nmt::scoring {

/// Where the text of a scoring run comes from.
struct CorpusSource {
  std::vector<std::string> references;  ///< files
  int64_t fields = 1;                   ///< references a line of the one file, split by tabs; 1: files are not split
  std::optional<std::vector<std::string>> systems =
      {};  ///< files; absent: standard input, one system a tab-separated field
  std::string encoding = "utf-8";
  bool cut_unended_lines = false;  ///< a last line without line end loses its last character (original_bleu.h)
  bool keep_line_ends = false;     ///< with white space at line ends (SegmentBlock::has_line_ends); not with fields
};

/// Reads references and systems side by side, block by block, by the rules of sacreBLEU: files are split at \n only,
/// standard input at \r and \r\n too; white space at line ends goes, unless it is asked for. What is wrong shows in the
/// order in which sacreBLEU, which reads one file after the other, would find it: as a CommandError with its exit code.
class CorpusReader {
 public:
  /// Opens everything and finds out the number of systems.
  explicit CorpusReader(CorpusSource source);
  ~CorpusReader();
  CorpusReader(const CorpusReader&) = delete;

  size_t systems() const;
  /// The next segments, valid until the next call; false at the end. Throws where streams end at different lines and
  /// where there are no segments at all.
  bool next(SegmentBlock& block);
  /// Reads all that is left and throws what is wrong with it; then `message`, exit code 1.
  [[noreturn]] void fail_after_reading(const std::string& message);
  /// Reads all that is left for its errors only.
  void check_rest();

 private:
  class Stream;
  bool append_lines();
  [[noreturn]] void fail_on_lengths() const;

  CorpusSource source_;
  std::vector<std::unique_ptr<Stream>> streams_;  // reference files, then system files or standard input
  size_t reference_streams_ = 0;
  int64_t segments_ = 0;
  bool ended_ = false;
};

}  // namespace nmt::scoring
