#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/strict_json.h"
#include "server/documents/document_translator.h"
#include "server/http/http_message.h"
#include "server/languages/service_languages.h"
#include "server/queue/line_queue.h"

namespace nmt {

/// A text as lines that are translated one by one and put together again: line ends (\n or \r\n) and lines without a
/// letter, such as blank ones and numbers, stay as they are.
class TextLines {
 public:
  explicit TextLines(std::string_view text);

  /// The lines that hold a letter.
  const std::vector<std::string>& lines() const { return lines_; }
  /// The number of such a line among all lines of the text, from 0.
  int64_t number(size_t line) const { return numbers_[line]; }
  /// The text with these lines in the place of its own: as many as lines().
  std::string with(std::span<const std::string> translations) const;

 private:
  std::vector<std::string> lines_;
  std::vector<int64_t> numbers_;
  std::vector<std::string> between_;  ///< what stands before each line, and behind the last
};

/// A text of which each line is translated by its rank-th best translation, or the last where it has fewer. An answer
/// for each of its lines.
std::string text_of_rank(const TextLines& text, std::span<const Translation> answers, size_t rank);

/// The second best, third best, ... as far as one of the lines has them, at most `most` of them.
std::vector<std::string> alternatives_of(const TextLines& text, std::span<const Translation> answers, size_t most);

/// One line of POST /explain. alignment: with the words that belong together, in characters of the line and of its
/// best translation.
nlohmann::ordered_json explained_line(const std::string& source, const Translation& answer, bool alignment);

/// A language that was found.
nlohmann::ordered_json detected_json(const DetectedLanguage& detected);

/// Translated fragments of HTML; list: as one. alternatives: with a list of none for each.
nlohmann::ordered_json fragments_json(std::span<const TranslatedDocument> documents, bool list, bool alternatives);

/// Bytes that are no UTF-8, which a model may write, become U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);

/// An answer in server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), each of which has
/// a name and JSON. The answer begins with the first event; an error before it is an answer of its own status. Any
/// thread may call it.
class EventStream {
 public:
  explicit EventStream(HttpReply reply) : reply_(std::move(reply)) {}

  void send(std::string_view name, const nlohmann::ordered_json& data);
  /// The last event.
  void end(const nlohmann::ordered_json& data);
  /// The last event, or the answer where there was none before.
  void fail(const HttpResponse& error);

 private:
  const HttpReply reply_;
  std::mutex mutex_;  // of what follows
  std::shared_ptr<HttpStream> stream_;
};

}  // namespace nmt
