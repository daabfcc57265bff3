#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/strict_json.h"
#include "server/documents/document_translator.h"
#include "server/languages/language_detector.h"
#include "server/queue/question.h"
#include "server/text_lines.h"

namespace nmt {

/// A text of which each line is translated by its rank-th best translation, or the last where it has fewer. An answer
/// for each of its lines.
std::string text_of_rank(const TextLines& text, std::span<const Answer> answers, size_t rank);

/// The second best, third best, ... as far as one of the lines has them, at most `most` of them.
std::vector<std::string> alternatives_of(const TextLines& text, std::span<const Answer> answers, size_t most);

/// One line of POST /explain. alignment: with the words that belong together, in characters of the line and of its
/// best translation.
nlohmann::ordered_json explained_line(const std::string& source, const Answer& answer, bool alignment);

/// A language that was found.
nlohmann::ordered_json detected_json(const DetectedLanguage& detected);

/// Translated fragments of HTML; list: as one. alternatives: with a list of none for each.
nlohmann::ordered_json fragments_json(std::span<const TranslatedDocument> documents, bool list, bool alternatives);

/// Bytes that are no UTF-8, which a model may write, become U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace nmt
