#include "server/answer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/unicode.h"
#include "report/pictures/attention_picture.h"
#include "server/languages/service_languages.h"
#include "text/sentence_splitter.h"

namespace nmt {

TextLines::TextLines(std::string_view text) {
  between_.emplace_back();
  for (int64_t number = 0; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t next = std::min(end + 1, text.size());
    if (has_letters(line)) {
      lines_.emplace_back(line);
      numbers_.push_back(number);
      between_.emplace_back(text.substr(line.size(), next - line.size()));
    } else {
      between_.back() += text.substr(0, next);
    }
    text.remove_prefix(next);
  }
}

std::string TextLines::with(std::span<const std::string> translations) const {
  std::string text = between_.front();
  for (size_t i = 0; i < lines_.size(); ++i) text += translations[i] + between_[i + 1];
  return text;
}

std::string text_of_rank(const TextLines& text, std::span<const Translation> answers, size_t rank) {
  std::vector<std::string> lines;
  for (const Translation& answer : answers)
    lines.push_back(
        answer.alternatives.empty() ? "" : answer.alternatives[std::min(rank, answer.alternatives.size() - 1)].text);
  return text.with(lines);
}

std::vector<std::string> alternatives_of(const TextLines& text, std::span<const Translation> answers, size_t most) {
  size_t ranks = 0;
  for (const Translation& answer : answers) ranks = std::max(ranks, answer.alternatives.size());
  std::vector<std::string> list;
  for (size_t rank = 1; rank < ranks && rank <= most; ++rank) list.push_back(text_of_rank(text, answers, rank));
  return list;
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json detected_json(const DetectedLanguage& detected) {
  return {{"confidence", detected.confidence}, {"language", detected.code}};
}

nlohmann::ordered_json fragments_json(std::span<const TranslatedDocument> documents, bool list, bool alternatives) {
  auto translated = nlohmann::ordered_json::array(), detected = translated, others = translated;
  for (const auto& document : documents) {
    translated.push_back(document.bytes);
    if (document.detected) detected.push_back(detected_json(*document.detected));
    others.push_back(nlohmann::ordered_json::array());
  }
  nlohmann::ordered_json reply = {{"translatedText", list ? translated : translated[0]}};
  if (!detected.empty()) reply["detectedLanguage"] = list ? detected : detected[0];
  if (alternatives) reply["alternatives"] = list ? others : others[0];
  return reply;
}

namespace {

/// How many characters stand before each byte of a text, and before its end.
std::vector<int64_t> characters_before(std::string_view text) {
  std::vector<int64_t> before = {0};
  for (const char byte : text) before.push_back(before.back() + (is_continuation_byte(byte) ? 0 : 1));
  return before;
}

nlohmann::ordered_json alignment_json(std::string_view source, const Translation& answer) {
  auto list = nlohmann::ordered_json::array();
  if (answer.alternatives.empty() || !answer.alternatives.front().aligned) return list;
  const auto of_source = characters_before(source), of_target = characters_before(answer.text);
  const auto range = [](const std::vector<int64_t>& before, size_t begin, size_t end) {
    return nlohmann::ordered_json::array({before.at(begin), before.at(end)});
  };
  for (const auto& words : *answer.alternatives.front().aligned)
    list.push_back({{"source", range(of_source, words.source_begin, words.source_end)},
                    {"target", range(of_target, words.target_begin, words.target_end)}});
  return list;
}

}  // namespace

nlohmann::ordered_json explained_line(const std::string& source, const Translation& answer, bool alignment) {
  auto n_best = nlohmann::ordered_json::array();
  for (const Alternative& one : answer.alternatives)
    n_best.push_back({{"text", one.text},
                      {"score", one.score},
                      {"log_probability", one.log_probability},
                      {"tokens", one.tokens},
                      {"finished", one.finished}});
  nlohmann::ordered_json line = {{"source", source},
                                 {"source_tokens", answer.source_tokens},
                                 {"split", answer.split},
                                 {"n_best", std::move(n_best)}};
  if (alignment) line["alignment"] = alignment_json(source, answer);
  if (answer.word_attention) line["attention_svg"] = attention_svg(*answer.word_attention);
  return line;
}

void EventStream::send(std::string_view name, const nlohmann::ordered_json& data) {
  const std::lock_guard lock(mutex_);
  if (!stream_) {
    stream_ = std::make_shared<HttpStream>();
    reply_({.content_type = "text/event-stream; charset=utf-8",
            .fields = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}},
            .stream = stream_});
  }
  stream_->add(fmt::format("event: {}\ndata: {}\n\n", name, json_text(data)));
}

void EventStream::end(const nlohmann::ordered_json& data) {
  send("end", data);
  stream_->end();
}

void EventStream::fail(const HttpResponse& error) {
  {
    const std::lock_guard lock(mutex_);
    if (!stream_) return reply_(error);
    stream_->add(fmt::format("event: error\ndata: {}\n\n", error.body));
  }
  stream_->end();
}

}  // namespace nmt
