#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/corpus/text_reader.h"
#include "text/pairs/corpus_files.h"
#include "text/pairs/text_pair.h"

namespace nmt {

enum class Utf8Policy { kStop, kRepair };

/// What a reader found on its way and the user should know, for the log: a whole sentence.
struct ReaderNote {
  std::string text;
  bool is_warning = false;
};

/// The pairs of a corpus in one format, in order. A new format is a class of this kind and a row in pair_formats.cpp.
class PairReader {
 public:
  virtual ~PairReader() = default;
  /// False at the end. Texts are valid UTF-8, otherwise as they stand in the files. Throws Error: OPTION FILE:LINE and
  /// what is wrong there; bytes that are not UTF-8, unless they are repaired.
  virtual bool next(TextPair& pair) = 0;
  virtual std::string description() const = 0;  ///< "FILE (plain text), FILE (IWSLT tags, ...)"
  virtual bool has_a_file_for_each_side() const { return false; }
  virtual std::vector<ReaderNote> notes() const { return {}; }
  int64_t repaired_lines() const { return repaired_; }  ///< of both sides, with bytes replaced by U+FFFD

 protected:
  PairReader(CorpusFiles files, Utf8Policy policy) : files_(std::move(files)), policy_(policy) {}

  /// The sentence or line that `reader` returned last, checked or repaired.
  std::string checked(std::string_view text, const TextReader& reader, const std::string& option);

  const CorpusFiles files_;

 private:
  Utf8Policy policy_;
  int64_t repaired_ = 0;
};

/// Opens or reads a file; adds the option that names it to a message about it.
template <typename F>
auto with_option_named(const std::string& option, F&& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(option + " " + error.what());
  }
}

/// A file that holds both sides, line by line, whatever its name says of its format. Throws Error: no such file, packed
/// with another program than gzip.
TextReader open_lines(const CorpusFiles& files);

}  // namespace nmt
