#pragma once

#include <nlohmann/json_fwd.hpp>

#include "text/pairs/pair_reader.h"

namespace nmt {

/// One file, a pair a line: columns with tabs between, two of which are the source and the target.
class TsvReader final : public PairReader {
 public:
  TsvReader(CorpusFile file, TextReader lines);
  /// A file that stands alone, or is named *.tsv; of what has no name, each of the first lines has as many tabs.
  static bool fits(const FileBeginning& file);
  /// Also throws Error for a line without these columns, and at the end where only one side has any letter.
  bool next(TextPair& pair) override;
  std::string description() const override { return file_.path.string() + " (TSV)"; }
  std::vector<ReaderNote> notes() const override;

 private:
  void look_for_letters(const std::string& text, TextSide side);
  void check_letters() const;

  std::vector<int64_t> columns_;  // of source and target, from 1
  bool has_letters_[2] = {false, false};
  int64_t longer_lines_ = 0;  // with columns that nobody has named
};

/// One file, an object a line (jsonlines.org): {"source": "...", "target": "..."}, or with the codes of the languages
/// as keys, {"de": "...", "en": "..."}; both also within "translation", as the datasets of Hugging Face have them.
/// Other keys are not read, nor lines of white space. A line break within a text becomes a space: a text is one line.
class JsonLinesReader final : public PairReader {
 public:
  JsonLinesReader(CorpusFile file, TextReader lines) : PairReader(std::move(file), std::move(lines)) {}
  /// A file named *.jsonl or *.ndjson, or one that begins with an object of such keys.
  static bool fits(const FileBeginning& file);
  bool next(TextPair& pair) override;  ///< also throws Error for what is no such object
  std::string description() const override { return file_.path.string() + " (JSON lines)"; }

 private:
  std::string text(const nlohmann::json& object, TextSide side) const;
  [[noreturn]] void refuse_object(const std::string& why) const;
};

/// A file of one side, sentence by sentence: plain text, IWSLT tags, sgm or xml segments.
class SentenceReader final : public PairReader {
 public:
  SentenceReader(CorpusFile file, TextReader sentences) : PairReader(std::move(file), std::move(sentences)) {}
  bool next(TextPair& pair) override;
  std::string description() const override;
  bool holds_both_sides() const override { return false; }
  std::vector<ReaderNote> notes() const override;
};

}  // namespace nmt
