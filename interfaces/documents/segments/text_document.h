#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "documents/segments/segment.h"
#include "text/aligned_translation.h"

namespace nmt::documents {

/// The spaces of a subtitle that become line ends: none where it fits on a line of `width` characters, else as few
/// lines as fit, at most `most_lines`, of lengths as equal as words allow.
std::vector<size_t> balanced_breaks(std::string_view text, size_t width, size_t most_lines);

/// A translation that is written to another place than that of its source: <target> beside <source>.
struct TranslatedCopy {
  ByteRange source;
  ByteRange replaced;  ///< what stands at the place so far; may be empty
  std::string before, after;
};

/// The bytes of a document, its segments and their translations. All bytes outside of segments are written as they are.
class TextDocument {
 public:
  explicit TextDocument(std::string bytes) : bytes_(std::move(bytes)) {}
  TextDocument(const TextDocument&) = delete;
  TextDocument& operator=(const TextDocument&) = delete;

  std::string_view bytes() const { return bytes_; }
  std::vector<Segment> segments;       ///< in any order; one may lie in a unit or in a tag of another
  std::vector<TranslatedCopy> copies;  ///< if there are any, the segments themselves stay as they are
  RunForm run_form;
  size_t left_units = 0;  ///< of a catalog: units that ask for a translation and are left as they are

  /// Puts the segments in order and appends their texts.
  void append_texts(std::vector<std::string>& texts);
  /// Takes one translation for each text of append_texts().
  void set_translations(std::span<AlignedTranslation> translations);
  std::string translated() const;

 private:
  friend class SegmentWriter;
  std::string translated(ByteRange range, size_t first_segment) const;
  std::string raw_with_copies() const;
  /// Properties of a run are written again for each part of it. Throws Error where that makes the document grow to
  /// several times its size.
  void count_copied(size_t size) const;

  std::string bytes_;
  mutable uint64_t copied_bytes_ = 0;
  std::vector<AlignedTranslation> translations_;
};

/// Translates the segments of all documents as one batch. Throws Error if the translations are not as many as the
/// texts.
void translate_documents(std::span<TextDocument* const> documents, const TranslateTexts& translate);

}  // namespace nmt::documents
