#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "markup/segments/translate_texts.h"
#include "text/terms/text_range.h"
#include "translation/lines/translation.h"

namespace nmt {

/// What becomes of the terms and placeholders of a line (TranslationRequest::terms). A term whose
/// translation the model can write becomes a phrase that must appear. The others, and placeholders, are cut out of the
/// text; what stands for them is put into the translation between the words that their neighbours are aligned with.
class TermPlan {
 public:
  TermPlan() = default;
  /// can_write: whether the model's vocabulary has the pieces of a phrase. cut_all: terms are cut out whatever it has.
  TermPlan(const TranslationRequest& request, const std::function<bool(const std::string&)>& can_write, bool cut_all);

  bool is_empty() const { return cuts_.empty() && forced_.empty(); }
  bool has_cuts() const { return !cuts_.empty(); }
  const std::string& text() const { return text_; }                   ///< what is translated
  const std::vector<std::string>& forced() const { return forced_; }  ///< phrases that must appear
  /// False where nothing is left to translate but signs: then text() stands in the translation as it is.
  bool has_words() const { return has_words_; }
  /// Whether all forced terms stand in a translation, as words: the search may go on with a further piece of one.
  bool is_met(std::string_view translation) const;
  /// A translation of text() with what was cut out; its alignment is that of the line, and of the literals with what
  /// they stand for.
  AlignedTranslation restored(const AlignedTranslation& translation) const;

 private:
  struct Cut {
    size_t position = 0;  ///< in text()
    std::string literal;
    TextRange range = {};  ///< of the line: what the literal stands for
    size_t removed = 0;    ///< bytes of the line that text() has not: the range, and perhaps a space
    bool space_before = false, space_after = false;  ///< as it stood in the line
  };
  size_t in_line(size_t position, bool is_end) const;

  std::string text_;
  std::vector<Cut> cuts_;
  std::vector<std::string> forced_;
  bool has_words_ = true;
};

}  // namespace nmt
