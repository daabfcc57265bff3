#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/config.h"
#include "text/corpus/text_reader.h"

namespace nmt {

enum class TextSide { kSource, kTarget };

/// A text and a translation of it.
struct TextPair {
  std::string source, target;

  std::string& of(TextSide side) { return side == TextSide::kSource ? source : target; }
};

enum class Utf8Policy { kStop, kRepair };
enum class BadLinePolicy { kStop, kSkip };

/// A line that cannot be read, where the next ones can: OPTION FILE:LINE and what is wrong there.
class BadLine : public Error {
 public:
  BadLine(const std::string& option, std::string place, const std::string& why)
      : Error(option + " " + place + ": " + why), place_(std::move(place)) {}
  const std::string& place() const { return place_; }  ///< "FILE:LINE"

 private:
  std::string place_;
};

/// What is said of all files of a configuration, or of a command line, whatever their form.
struct ReadingOptions {
  std::string source_language = {}, target_language = {};  ///< codes: sides of JSON lines and XML; empty: not known
  Utf8Policy utf8 = Utf8Policy::kStop;
  std::vector<int64_t> tsv_columns = {};  ///< of source and target, from 1; empty: the first two
  BadLinePolicy bad_lines = BadLinePolicy::kStop;

  const std::string& language(TextSide side) const {
    return side == TextSide::kSource ? source_language : target_language;
  }
};

/// Where a corpus of sentence pairs lies: a file for each side, or one that holds both.
struct CorpusFiles {
  std::filesystem::path source, target;      ///< target empty, or the same: source holds both sides
  std::string source_option, target_option;  ///< "data.train1": named in messages

  std::string name() const;  ///< "train.de + train.en", for tables
};

/// One of them.
struct CorpusFile {
  std::filesystem::path path;
  std::string option;
  ReadingOptions reading = {};
  TextSide side = TextSide::kSource;  ///< what its sentences are, if it holds one side
  bool is_alone = false;              ///< stands for both sides
};

/// What a form is told by.
struct FileBeginning {
  std::filesystem::path name;  ///< without ".gz" and ".zst"
  bool has_name = true;        ///< of a file; a pipe has none that says anything
  std::string_view text;       ///< the first bytes, unpacked, without a byte order mark
  const ReadingOptions& reading;
  bool is_alone = false;

  bool is_named(std::string_view ending) const { return name.extension() == ending; }
  std::string_view first_line() const;  ///< that is not empty, without white space around it
};

/// What a reader found on its way and the user should know, for the log: a whole sentence.
struct ReaderNote {
  std::string text;
  bool is_warning = false;
};

/// The pairs of one file, or the sentences of its one side, in order. A new form is a class of this kind and a row in
/// pair_formats.cpp.
class PairReader {
 public:
  virtual ~PairReader() = default;
  /// False at the end. Of a file of one side only that side is set. Texts are valid UTF-8 without NUL, otherwise as
  /// they stand in the file. Throws BadLine, after which the next call reads on behind that line, and Error.
  virtual bool next(TextPair& pair) = 0;
  virtual std::string description() const = 0;  ///< "FILE (TSV)"
  virtual bool holds_both_sides() const { return true; }
  virtual bool reads_line_by_line() const { return true; }  ///< false: a bad line is an Error
  virtual std::vector<ReaderNote> notes() const { return {}; }
  int64_t repaired_lines() const { return repaired_; }  ///< with bytes replaced by U+FFFD

 protected:
  PairReader(CorpusFile file, TextReader lines) : file_(std::move(file)), lines_(std::move(lines)) {}

  /// The next line, or sentence of a text with markup; nullopt at the end. Throws Error: bytes that are not UTF-8,
  /// unless they are repaired, or NUL; the file is damaged.
  std::optional<std::string> next_text();
  [[noreturn]] void refuse(const std::string& why) const;  ///< throws BadLine, or Error with the same words

  const CorpusFile file_;
  TextReader lines_;

 private:
  std::string checked(std::string_view text);
  BadLine bad_line(const std::string& why) const;

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

/// How every text that the data section names is read.
ReadingOptions reading_options(const DataConfig& data);

}  // namespace nmt
