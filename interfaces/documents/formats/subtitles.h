#pragma once

#include <memory>
#include <string_view>

#include "documents/segments/text_document.h"

namespace nmt::documents {

enum class SubtitleKind : uint8_t { kSrt, kVtt };

/// The lines of a cue are one text and become lines again, at most as many. Lines that begin with a dash are of another
/// speaker and stay apart. Times, settings, NOTE, STYLE and REGION stay as they are.
std::unique_ptr<TextDocument> read_subtitles(std::string_view bytes, SubtitleKind kind);

}  // namespace nmt::documents
