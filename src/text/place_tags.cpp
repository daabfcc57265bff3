#include "text/place_tags.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "text/word_links.h"

namespace nmt {
namespace {

/// Words [begin, end); a gap where begin == end.
struct Words {
  size_t begin = 0, end = 0;
  bool is_empty() const { return begin == end; }
};

/// The stretches of a parent that its other children have, by their beginnings.
class TakenWords {
 public:
  struct Stretch {
    size_t end, span;
  };

  void take(Words words, size_t span) { taken_.emplace(words.begin, Stretch{words.end, span}); }

  /// Whether a word of [begin, end) is taken.
  bool any_in(size_t begin, size_t end) const {
    const auto next = taken_.lower_bound(end);
    return next != taken_.begin() && std::prev(next)->second.end > begin;
  }

  /// A gap in the middle of a taken stretch is no place: before it or behind it, as it was in the source.
  size_t moved_out(size_t gap, size_t span) const {
    const auto next = taken_.lower_bound(gap);
    if (next == taken_.begin()) return gap;
    const auto& [begin, stretch] = *std::prev(next);
    if (stretch.end <= gap) return gap;
    return span < stretch.span ? begin : stretch.end;
  }

 private:
  std::map<size_t, Stretch> taken_;
};

std::vector<size_t> borders_of(std::span<const TagSpan> spans) {
  std::vector<size_t> borders;
  for (const auto& span : spans) borders.insert(borders.end(), {span.begin, span.end});
  return borders;
}

class TagPlacer {
 public:
  TagPlacer(std::string_view source, std::span<const TagSpan> spans, const AlignedTranslation& target)
      : spans_(spans), links_(link_words(source, target.text, target.alignment, borders_of(spans))) {
    // Linked words left and right of each source word, for what stands between.
    const size_t n = links_.source.size();
    linked_left_.assign(n, kNone);
    linked_right_.assign(n, kNone);
    for (size_t i = 0; i < n; ++i) linked_left_[i] = has_links(i) ? i : i > 0 ? linked_left_[i - 1] : kNone;
    for (size_t i = n; i-- > 0;) linked_right_[i] = has_links(i) ? i : i + 1 < n ? linked_right_[i + 1] : kNone;
  }

  std::vector<TagEvent> events() {
    children_.resize(spans_.size() + 1);
    for (size_t i = 0; i < spans_.size(); ++i) {
      const size_t parent = spans_[i].parent;
      children_[parent == kNone ? spans_.size() : parent].push_back(i);
      source_.push_back(words_of(spans_[i]));
    }
    target_.resize(spans_.size());
    place_children(spans_.size(), {0, links_.source.size()}, {0, links_.target.size()});
    return std::move(events_);
  }

 private:
  struct Run {
    Words words;
    double score = -std::numeric_limits<double>::infinity();
  };

  bool has_links(size_t source_word) const { return !links_.targets_of(source_word).empty(); }

  size_t word_behind(size_t byte) const {
    return static_cast<size_t>(std::partition_point(links_.source.begin(), links_.source.end(),
                                                    [&](const auto& word) { return word.bytes.begin < byte; }) -
                               links_.source.begin());
  }

  /// The words of which a span holds at least a half, or else the one of which it holds a part.
  Words words_of(const TagSpan& span) const {
    if (span.begin >= span.end) return {};
    Words words;
    words.begin =
        static_cast<size_t>(std::partition_point(links_.source.begin(), links_.source.end(),
                                                 [&](const auto& word) { return word.bytes.end <= span.begin; }) -
                            links_.source.begin());
    words.end = std::max(word_behind(span.end), words.begin);
    const Words all = words;
    const auto holds_half = [&](size_t i) {
      const ByteRange word = links_.source[i].bytes;
      return 2 * (std::min(span.end, word.end) - std::max(span.begin, word.begin)) >= word.size();
    };
    if (!words.is_empty() && !holds_half(words.begin)) ++words.begin;
    if (!words.is_empty() && !holds_half(words.end - 1)) --words.end;
    return words.is_empty() && !all.is_empty() ? Words{all.begin, all.begin + 1} : words;
  }

  /// Places the children of a span that is placed, writes their events.
  void place_children(size_t parent, Words source, Words target) {
    std::vector<size_t>& children = children_[parent];
    TakenWords taken;
    std::vector<std::pair<double, size_t>> order;
    for (const size_t child : children) {
      target_[child] = {};
      if (source_[child].is_empty() || target.is_empty()) continue;
      const bool is_all = source_[child].begin <= source.begin && source_[child].end >= source.end;
      const double score = is_all ? std::numeric_limits<double>::infinity() : best_run(child, target, taken).score;
      order.emplace_back(-score, child);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [score, child] : order) {
      const bool is_all = source_[child].begin <= source.begin && source_[child].end >= source.end;
      Words words = is_all && !taken.any_in(target.begin, target.end) ? target : best_run(child, target, taken).words;
      if (words.is_empty()) continue;
      words = with_loose_ends(words, source_[child], source, target, taken);
      taken.take(words, child);
      target_[child] = words;
    }
    for (const size_t child : children)
      if (target_[child].is_empty()) {
        const size_t gap = std::clamp(gap_of(child, source, target), target.begin, target.end);
        target_[child].begin = target_[child].end = taken.moved_out(gap, child);
      }
    std::sort(children.begin(), children.end(), [&](size_t a, size_t b) {
      const auto key = [&](size_t i) { return std::tuple(target_[i].begin, !target_[i].is_empty(), i); };
      return key(a) < key(b);
    });
    for (const size_t child : children) write(child, target);
  }

  /// The run of target words with the most links to the span and the fewest to others.
  Run best_run(size_t span, Words target, const TakenWords& taken) {
    std::map<size_t, uint32_t>& links = candidate_links_;
    links.clear();
    for (size_t i = source_[span].begin; i < source_[span].end; ++i)
      for (const uint32_t word : links_.targets_of(i))
        if (word >= target.begin && word < target.end && !taken.any_in(word, word + 1)) ++links[word];
    Run best, run;
    size_t last = kNone;
    for (const auto& [word, count] : links) {
      const double weight = 2.0 * count / links_.links_of_target[word] - 1;
      const double others =
          last == kNone ? 0 : static_cast<double>(links_.linked_before[word] - links_.linked_before[last + 1]);
      if (last == kNone || run.score - others <= 0 || taken.any_in(last + 1, word))
        run = {{word, word + 1}, weight};
      else
        run = {{run.words.begin, word + 1}, run.score - others + weight};
      last = word;
      if (run.score > best.score) best = run;
    }
    return best;
  }

  /// A span that begins or ends its parent has the words there that belong to nothing.
  Words with_loose_ends(Words words, Words source, Words parent_source, Words target, const TakenWords& taken) const {
    const auto is_loose = [&](size_t begin, size_t end) {
      return links_.linked_before[begin] == links_.linked_before[end] && !taken.any_in(begin, end);
    };
    if (source.begin <= parent_source.begin && is_loose(target.begin, words.begin)) words.begin = target.begin;
    if (source.end >= parent_source.end && is_loose(words.end, target.end)) words.end = target.end;
    return words;
  }

  /// The place of what has no words in the translation, between words of its parent.
  size_t gap_of(size_t span, Words source, Words target) const {
    const TagSpan& tag = spans_[span];
    const size_t next = word_behind(std::max(tag.begin, tag.end));
    const size_t before = word_behind(tag.begin);  // words from `before` to `next` are its own, without links
    if (before <= source.begin) return target.begin;
    if (next >= source.end) return target.end;
    const size_t left = linked_left_[before - 1], right = linked_right_[next];
    const bool has_left = left != kNone && left >= source.begin, has_right = right != kNone && right < source.end;
    const size_t behind_left = has_left ? links_.targets_of(left).back() + size_t{1} : target.begin;
    const size_t before_right = has_right ? links_.targets_of(right).front() : target.end;
    if (!has_left && !has_right) return target.begin;
    if (!has_left || (has_right && tag.neighbour == TagNeighbour::kRight)) return before_right;
    return behind_left;
  }

  size_t first_byte(size_t word) const {
    return word < links_.target.size() ? links_.target[word].bytes.begin
           : word == 0                 ? 0
                                       : links_.target[word - 1].bytes.end;
  }
  size_t last_byte(size_t word) const { return word > 0 ? links_.target[word - 1].bytes.end : first_byte(0); }

  void write(size_t span, Words parent) {
    const Words words = target_[span];
    const size_t gap = words.begin;
    if (!words.is_empty()) {
      add(first_byte(words.begin), span, false);
      place_children(span, source_[span], words);
      add(last_byte(words.end), span, true);
      return;
    }
    const bool is_at_left = gap > parent.begin && (gap == parent.end || spans_[span].neighbour != TagNeighbour::kRight);
    size_t position = is_at_left ? last_byte(gap) : first_byte(gap);
    if (parent.is_empty() && !events_.empty()) position = events_.back().position;  // an element without words holds it
    add(position, span, false);
    place_children(span, source_[span], words);
    add(position, span, true);
  }

  void add(size_t position, size_t span, bool closes) {
    if (!events_.empty()) position = std::max(position, events_.back().position);
    events_.push_back({position, span, closes});
  }

  std::span<const TagSpan> spans_;
  WordLinks links_;
  std::vector<size_t> linked_left_, linked_right_;  ///< the nearest source word with links, itself included
  std::vector<std::vector<size_t>> children_;       ///< of each span; the last entry is the whole text's
  std::vector<Words> source_, target_;              ///< of each span
  std::map<size_t, uint32_t> candidate_links_;
  std::vector<TagEvent> events_;
};

}  // namespace

std::vector<TagEvent> place_tags(std::string_view source, std::span<const TagSpan> spans,
                                 const AlignedTranslation& target) {
  return spans.empty() ? std::vector<TagEvent>() : TagPlacer(source, spans, target).events();
}

}  // namespace nmt
