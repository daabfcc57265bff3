#pragma once

#include <nlohmann/json_fwd.hpp>

#include "text/pairs/pair_reader.h"

namespace nmt {

/// One file, an object a line (jsonlines.org): {"source": "...", "target": "..."}, or with the codes of the languages
/// as keys, {"de": "...", "en": "..."}; both also within "translation", as the datasets of Hugging Face have them.
/// Other keys are not read, nor lines of white space. A line break within a text becomes a space: a text is one line.
class JsonLinesReader final : public PairReader {
 public:
  JsonLinesReader(CorpusFile file, TextReader lines) : PairReader(std::move(file), std::move(lines)) {}
  /// A file named *.jsonl or *.ndjson, or one that begins with an object of such keys.
  static bool fits(const FileBeginning& file);
  bool next(TextPair& pair) override;  ///< also throws Error for what is no such object, or has a key twice
  std::string description() const override { return file_.path.string() + " (JSON lines)"; }

 private:
  nlohmann::json parse(std::string_view json) const;
  std::string text(const nlohmann::json& object, TextSide side) const;
  [[noreturn]] void refuse_object(const std::string& why) const;
};

}  // namespace nmt
