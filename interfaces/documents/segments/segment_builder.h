#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "documents/segments/segment.h"

namespace nmt::documents {

/// Makes segments of what stands between two blocks. Tags that do not nest in it, those that nest deeper than
/// kMostOpenPairs, and two <br> in a row, end a segment. What holds no text at its ends stays outside of it, byte for
/// byte.
class SegmentBuilder {
 public:
  explicit SegmentBuilder(std::string_view document) : document_(document) {}

  /// `bytes` of the document say `text`.
  void add_text(ByteRange bytes, std::string text);
  /// Where line ends and tabs keep their meaning: adds each stretch between them by `add`, with the one behind it, and
  /// ends the segment there.
  void add_kept_lines(ByteRange bytes, const std::function<void(ByteRange)>& add);
  void add_unit(ByteRange bytes, InlineKind kind = InlineKind::kUnit);
  /// A start tag; `key` is a number that its end tag will have, too. Where nothing but links stands in a segment, each
  /// is one of its own.
  void open(size_t key, ByteRange bytes, bool is_link = false);
  /// An end tag. The segment ends here if this builder has not seen its start tag.
  void close(size_t key, ByteRange bytes);
  /// What stands before `byte` and what stands behind it are no one word. A border that is only likely is none in a
  /// segment whose author wrote a space within the elements at another likely one, as programs do that put each run
  /// of a paragraph into an element (LibreOffice in its EPUB).
  void add_word_border(size_t byte, bool is_likely_only = false) {
    items_.push_back({.kind = Kind::kBorder, .bytes = {byte, byte}, .is_likely_only = is_likely_only});
  }
  void add_barrier() { items_.push_back({.kind = Kind::kBarrier}); }

  /// The pieces of a run of an office document come next; `style` are its properties.
  void begin_run(ByteRange run, ByteRange style);
  void end_run();

  /// Appends the segments and forgets all. `prototype` says how they are written.
  void finish(const Segment& prototype, std::vector<Segment>& out);

 private:
  enum class Kind : uint8_t { kText, kOpen, kClose, kUnit, kSpace, kBorder, kBarrier };
  struct Item {
    Kind kind = Kind::kBarrier;
    ByteRange bytes = {};
    std::string text = {};
    size_t partner = kNone;
    ByteRange outer = {};   ///< with the run around it
    ByteRange style = {};   ///< of the run
    bool is_fixed = false;  ///< in a run with other pieces
    bool is_in_run = false;
    bool is_link = false;         ///< of a start tag
    bool is_likely_only = false;  ///< of a border
  };

  struct Assembly;  ///< a segment while it is made

  void cut_at_barriers();
  void build_links(size_t begin, size_t end, const Segment& prototype, std::vector<Segment>& out) const;
  bool is_in_word(size_t border, size_t end, const Assembly& assembly) const;
  bool has_spaces_at_likely_borders(size_t begin, size_t end) const;
  bool holds_text(size_t begin, size_t end) const { return texts_before_[end] > texts_before_[begin]; }
  void build(size_t begin, size_t end, const Segment& prototype, std::vector<Segment>& out) const;
  bool trim(size_t& begin, size_t& end) const;
  ByteRange bytes_of(size_t begin, size_t end) const;
  void choose_styles(size_t begin, size_t end, Assembly& assembly) const;
  static void append_text(const Item& item, Assembly& assembly);
  static void append_unit(const Item& item, Assembly& assembly);

  std::string_view document_;
  std::vector<Item> items_;
  std::map<size_t, size_t> open_;                 ///< items by their keys
  std::vector<size_t> texts_before_, next_text_;  ///< of each item; next_text_: a text or space at it or behind it
  ByteRange run_ = {}, style_ = {};
  size_t run_begin_ = kNone;
};

}  // namespace nmt::documents
