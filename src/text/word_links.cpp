#include "text/word_links.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <utility>

#include "base/unicode.h"

namespace nmt {
namespace {

bool is_punctuation_mark(char32_t c) { return u_ispunct(static_cast<UChar32>(c)); }

bool is_combining(char32_t c) {
  const auto type = u_charType(static_cast<UChar32>(c));
  return type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK || type == U_COMBINING_SPACING_MARK || c == 0x200D ||
         c == 0x200C;
}

/// Scripts in which every character may begin a word.
bool is_written_without_spaces(char32_t c) {
  return (c >= 0x3040 && c <= 0x30FF) || u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_IDEOGRAPHIC);
}

/// Scripts in which words are not told apart, but characters are no words either.
bool is_written_in_one(char32_t c) {
  return (c >= 0x0E00 && c <= 0x0EFF) || (c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF);
}

bool is_letter_of_word(char32_t c) {
  return u_isalnum(static_cast<UChar32>(c)) && !is_written_without_spaces(c) && !is_written_in_one(c);
}

struct TextCharacter {
  size_t begin;
  char32_t code;
};

/// The words between white space, cut at their punctuation and, where no word is torn, at `cuts`.
class WordCutter {
 public:
  WordCutter(std::string_view text, const std::vector<size_t>& cuts, const std::vector<size_t>& forced_cuts)
      : text_(text), cuts_(cuts), forced_cuts_(forced_cuts) {}

  std::vector<LinkedWord> words() {
    for (size_t i = 0; i < text_.size();) {
      const size_t begin = i;
      const char32_t code = next_code_point(text_, i);
      if (is_python_space(code))
        add_run(begin);
      else
        run_.push_back({begin, code});
    }
    add_run(text_.size());
    return std::move(words_);
  }

 private:
  /// The characters between two white spaces.
  void add_run(size_t end) {
    size_t first = 0, last = run_.size();
    while (first < last && is_punctuation_mark(run_[first].code)) ++first;
    while (last > first && is_punctuation_mark(run_[last - 1].code)) --last;
    const auto byte = [&](size_t i) { return i < run_.size() ? run_[i].begin : end; };
    if (first > 0) add({byte(0), byte(first)}, true);
    size_t begin = first;
    for (size_t i = first + 1; i <= last && first < last; ++i) {
      if (i < last && !can_cut(i)) continue;
      add({byte(begin), byte(i)}, false);
      begin = i;
    }
    if (last < run_.size()) add({byte(last), byte(run_.size())}, true);
    run_.clear();
  }

  bool can_cut(size_t i) {
    const char32_t before = run_[i - 1].code, after = run_[i].code;
    if (is_combining(after) || before == 0x200D) return false;
    if (std::binary_search(forced_cuts_.begin(), forced_cuts_.end(), run_[i].begin)) return true;
    if (is_written_without_spaces(before) || is_written_without_spaces(after)) return true;
    if (is_letter_of_word(after) && (is_letter_of_word(before) || is_combining(before))) return false;
    return std::binary_search(cuts_.begin(), cuts_.end(), run_[i].begin);
  }

  void add(ByteRange bytes, bool is_punctuation) {
    if (bytes.size() > 0) words_.push_back({bytes, is_punctuation});
  }

  std::string_view text_;
  const std::vector<size_t>&cuts_, &forced_cuts_;  ///< sorted
  std::vector<TextCharacter> run_;
  std::vector<LinkedWord> words_;
};

struct WordRange {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};

WordRange words_in(const std::vector<LinkedWord>& words, size_t begin, size_t end) {
  const auto first =
      std::partition_point(words.begin(), words.end(), [&](const auto& word) { return word.bytes.end <= begin; });
  const auto last = std::partition_point(first, words.end(), [&](const auto& word) { return word.bytes.begin < end; });
  return {static_cast<size_t>(first - words.begin()), static_cast<size_t>(last - words.begin())};
}

class WordLinker {
 public:
  explicit WordLinker(WordLinks& out) : out_(out) {}

  /// The parts of equal words.
  void link_equal(WordRange source, WordRange target) {
    for (size_t i = 0; i < source.size(); ++i) add(source.begin + i, target.begin + i);
  }

  /// Words to words, the punctuation before and after them to that of the other side.
  void link(WordRange source, WordRange target) {
    if (source.size() == 0 || target.size() == 0) return;
    const WordRange source_core = core(out_.source, source), target_core = core(out_.target, target);
    if (source_core.size() == 0 || target_core.size() == 0) {
      if (source_core.size() == target_core.size()) link_all(source, target);
      return;
    }
    link_all(source_core, target_core);
    link_all({source.begin, source_core.begin}, {target.begin, target_core.begin});
    link_all({source_core.end, source.end}, {target_core.end, target.end});
  }

  bool has_links() const { return !links_.empty(); }

  void finish() {
    std::sort(links_.begin(), links_.end());
    links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
    out_.first_target.assign(out_.source.size() + 1, 0);
    out_.links_of_target.assign(out_.target.size(), 0);
    for (const auto& [source, target] : links_) {
      ++out_.first_target[source + 1];
      ++out_.links_of_target[target];
      out_.targets.push_back(target);
    }
    for (size_t i = 0; i < out_.source.size(); ++i) out_.first_target[i + 1] += out_.first_target[i];
    out_.linked_before.assign(out_.target.size() + 1, 0);
    for (size_t i = 0; i < out_.target.size(); ++i)
      out_.linked_before[i + 1] = out_.linked_before[i] + (out_.links_of_target[i] > 0);
  }

 private:
  static WordRange core(const std::vector<LinkedWord>& words, WordRange range) {
    while (range.size() > 0 && words[range.begin].is_punctuation) ++range.begin;
    while (range.size() > 0 && words[range.end - 1].is_punctuation) --range.end;
    return range;
  }

  /// One with all of the other side; several with several by their place, so that links stay as many as words.
  void link_all(WordRange source, WordRange target) {
    const size_t n = source.size(), m = target.size();
    if (n == 0 || m == 0) return;
    if (n == 1 || m == 1) {
      for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < m; ++k) add(source.begin + i, target.begin + k);
      return;
    }
    for (size_t i = 0; i < n; ++i) add(source.begin + i, target.begin + (2 * i + 1) * m / (2 * n));
    for (size_t k = 0; k < m; ++k) add(source.begin + (2 * k + 1) * n / (2 * m), target.begin + k);
  }

  void add(size_t source, size_t target) {
    links_.emplace_back(static_cast<uint32_t>(source), static_cast<uint32_t>(target));
  }

  WordLinks& out_;
  std::vector<std::pair<uint32_t, uint32_t>> links_;
};

std::vector<size_t> sorted_cuts(std::vector<size_t> cuts) {
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace

WordLinks link_words(std::string_view source, std::string_view target, std::span<const AlignedWords> alignment,
                     std::vector<size_t> borders) {
  borders = sorted_cuts(std::move(borders));
  std::vector<size_t> source_cuts, target_cuts, forced_source, forced_target;
  const auto is_in = [](std::string_view text, size_t begin, size_t end) { return begin < end && end <= text.size(); };
  const auto are_equal = [&](const AlignedWords& pair) {
    return is_in(source, pair.source_begin, pair.source_end) && is_in(target, pair.target_begin, pair.target_end) &&
           source.substr(pair.source_begin, pair.source_end - pair.source_begin) ==
               target.substr(pair.target_begin, pair.target_end - pair.target_begin);
  };
  for (const auto& pair : alignment) {
    source_cuts.insert(source_cuts.end(), {pair.source_begin, pair.source_end});
    target_cuts.insert(target_cuts.end(), {pair.target_begin, pair.target_end});
    if (!are_equal(pair)) continue;
    for (auto border = std::lower_bound(borders.begin(), borders.end(), pair.source_begin);
         border != borders.end() && *border <= pair.source_end; ++border) {
      forced_source.push_back(*border);
      forced_target.push_back(pair.target_begin + (*border - pair.source_begin));
    }
  }
  source_cuts = sorted_cuts(std::move(source_cuts));
  target_cuts = sorted_cuts(std::move(target_cuts));
  WordLinks links;
  links.source = WordCutter(source, source_cuts, sorted_cuts(std::move(forced_source))).words();
  links.target = WordCutter(target, target_cuts, sorted_cuts(std::move(forced_target))).words();
  WordLinker linker(links);
  for (const auto& pair : alignment) {
    if (pair.source_begin >= pair.source_end || pair.target_begin >= pair.target_end) continue;
    const WordRange from = words_in(links.source, pair.source_begin, pair.source_end);
    const WordRange to = words_in(links.target, pair.target_begin, pair.target_end);
    if (from.size() == to.size() && are_equal(pair))
      linker.link_equal(from, to);
    else
      linker.link(from, to);
  }
  if (!linker.has_links()) linker.link({0, links.source.size()}, {0, links.target.size()});
  linker.finish();
  return links;
}

}  // namespace nmt
