#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "text/corpus/text_reader.h"

namespace nmt {

/// Where a corpus of sentence pairs lies: two files, or one with a tab between the sides.
struct CorpusFiles {
  std::filesystem::path source, target;      ///< target empty: source is a TSV file
  std::string source_option, target_option;  ///< "data.train1": named in messages
  bool is_tsv() const { return target.empty(); }
  std::string name() const;  ///< "train.de + train.en", for tables
};

enum class Utf8Policy { kStop, kRepair };

/// A pair as it stands in the files, but for repaired bytes.
struct TextPair {
  std::string source, target;
};

/// The pairs of a corpus, in order.
class CorpusReader {
 public:
  /// Throws Error for files that cannot be read (see detect_format).
  CorpusReader(CorpusFiles files, Utf8Policy policy);

  /// False at the end. Throws Error: bytes that are not UTF-8 (FILE:LINE, unless they are repaired), a side with fewer
  /// sentences than the other, no sentence at all, a TSV line without a tab.
  bool next(TextPair& pair);

  int64_t count() const { return source_.count(); }     ///< pairs so far
  int64_t repaired_lines() const { return repaired_; }  ///< of both sides, with bytes replaced by U+FFFD
  int64_t extra_columns() const {
    return extra_columns_;
  }  ///< TSV lines with more than two columns: the rest is not read
  int64_t entity_lines() const { return entity_lines_; }  ///< sgm/xml: lines with &amp; and the like, left as they are
  std::string description() const;                        ///< "FILE (plain text), FILE (IWSLT tags, ...)"

 private:
  bool next_of_two(TextPair& pair);
  bool next_of_tsv(TextPair& pair);
  [[noreturn]] void throw_unequal();
  std::string checked(std::string_view text, const TextReader& reader, const std::string& option);

  CorpusFiles files_;
  Utf8Policy policy_;
  TextReader source_;
  std::optional<TextReader> target_;
  int64_t repaired_ = 0, extra_columns_ = 0, entity_lines_ = 0;
};

}  // namespace nmt
