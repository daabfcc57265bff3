#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/aligned_translation.h"
#include "translation/lines/request.h"

namespace nmt {

/// What becomes of the terms and placeholders of a line (Request::terms). A term whose
/// translation the model can write becomes a phrase that must appear. The others, and placeholders, are cut out of the
/// text; what stands for them is put into the translation between the words that their neighbours are aligned with, or
/// where the prefix has it.
class TermPlan {
 public:
  TermPlan() = default;
  /// can_write: whether the model's vocabulary has the pieces of a phrase. cut_all: terms are cut out whatever it has.
  /// written: a text as the model writes it; empty: as it is. tag_end: bytes of the line that are a LanguageTag:
  /// nothing of them is a term, and they are no words.
  TermPlan(const Request& request, const std::function<bool(const std::string&)>& can_write, bool cut_all,
           const std::function<std::string(const std::string&)>& written = {}, size_t tag_end = 0);

  bool is_empty() const { return cuts_.empty() && forced_.empty(); }
  bool has_cuts() const { return !cuts_.empty(); }
  bool has_forced() const { return !forced_.empty(); }
  const std::string& text() const { return text_; }  ///< what is translated
  /// False where nothing is left to translate but signs: then text() stands in the translation as it is. It has no tag.
  bool has_words() const { return has_words_; }
  /// What the translation of text() begins with: the prefix without what was cut out.
  const std::string& prefix() const { return prefix_; }
  /// The phrases that the translation of text() holds: those that the line's must, without what was cut out.
  const std::vector<std::string>& must() const { return must_; }

  /// text() is translated in parts that begin there, in their order; without a call as a whole.
  void divide(std::vector<size_t> begins) { part_begins_ = std::move(begins); }
  /// Terms that must appear in the translation of a part: those that begin in it.
  std::vector<std::string> forced(size_t part = 0) const;
  /// Whether all forced terms stand in a translation, and each in that of its part, as words: the search may continue
  /// with a further piece of one.
  bool is_met(std::string_view translation, std::span<const std::string> parts) const;

  /// A translation of text() with what was cut out; its alignment is that of the line, and of the literals with what
  /// they stand for.
  AlignedTranslation restored(const AlignedTranslation& translation) const;
  /// Whether a restored translation has what only it can show: the prefix, and the phrases of which something was cut
  /// out. White space is left aside.
  bool has_constraints(std::string_view restored) const;

 private:
  /// What stands beside a literal.
  struct Surroundings {
    bool space_before = false, space_after = false;
    bool word_before = false, word_after = false;  ///< a letter or digit, without a space between
  };
  /// What stands for a stretch of the line in the translation. A term that the line often has is not copied as often.
  struct Literal {
    std::optional<size_t> term = {};  ///< of the glossary: its target
    std::string own = {};             ///< without a term: what stood in the line
  };
  struct Cut {
    size_t position = 0;           ///< in text()
    Literal literal;               ///< without brackets
    std::string opening, closing;  ///< brackets that stood around it
    ByteRange range = {};          ///< of the line, with its brackets
    size_t removed = 0;            ///< bytes of the line that text() has not: the range, and perhaps a space
    Surroundings beside = {};      ///< in the line
  };
  /// A literal that stands in the prefix.
  struct Pin {
    size_t cut = 0;
    size_t before = 0;  ///< bytes of written_prefix_ that stand before it
    Surroundings beside = {};
  };
  /// Where a literal goes in the translation.
  struct Place {
    size_t position = 0, cut = 0;
    Surroundings beside = {};
  };

  const std::string& text_of(const Literal& literal) const;
  std::string with_brackets_of(const Cut& cut) const { return cut.opening + text_of(cut.literal) + cut.closing; }
  static Surroundings surroundings(std::string_view text, ByteRange range);
  void cut_out(const Request& request, const std::function<bool(const std::string&)>& can_write, bool cut_all,
               size_t tag_end);
  void read_prefix(std::string_view prefix, const std::function<std::string(const std::string&)>& written);
  void read_phrases(const std::vector<std::string>& phrases);
  std::vector<Place> places(const AlignedTranslation& translation) const;

  struct Forced {
    Literal phrase;
    size_t position = 0;  ///< in text()
  };
  std::shared_ptr<const Glossary> glossary_;
  std::string text_;
  size_t text_begin_ = 0;  // where the line's part begins that text_ is of
  std::vector<Cut> cuts_;
  std::vector<Forced> forced_;  // in the order of the line
  std::vector<size_t> part_begins_;
  std::string prefix_;          // without literals
  std::string written_prefix_;  // the same as the model writes it, without white space
  std::string whole_prefix_;    // with literals, without white space
  std::vector<Pin> pins_;       // in the order of the prefix
  std::vector<std::string> must_;
  std::vector<std::string> judged_;  // phrases that only a restored text can show; no white space
  bool has_words_ = true;
};

}  // namespace nmt
