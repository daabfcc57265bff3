#include "server/translation_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/unicode.h"
#include "server/answer_json.h"
#include "server/http/http_message.h"
#include "server/languages/service_languages.h"
#include "text/terms.h"

namespace nmt {

/// One text of a request.
struct TranslationService::AskedText {
  TextLines lines;
  Direction direction;
  std::shared_ptr<const MemoryBudget::Share> share;

  /// A request for each line, as `common` but for its source.
  void add_requests(std::vector<LineRequest>& requests, Request common) const {
    if (!direction.pair) return;
    for (const auto& line : lines.lines()) {
      common.source = line;
      requests.push_back({*direction.pair, common});
    }
  }
};

namespace {

/// No picture is drawn of longer lines: nobody could read it, and its numbers would fill the memory.
constexpr size_t kLongestPicture = 1000;  // bytes
/// What is kept of a text is far more than an empty one has.
constexpr size_t kMostTexts = 10'000;

nlohmann::ordered_json language_json(const std::string& code) {
  return {{"code", code}, {"name", language_name(code)}};
}

/// A field that must be there and not be empty.
std::string required(const RequestBody& body, const char* name) {
  std::string text = body.text(name);
  if (text.empty()) throw RequestError(400, fmt::format("Invalid request: missing {} parameter", name));
  return text;
}

std::string one_text(const RequestBody& body) {
  if (body.is_list("q")) throw RequestError(400, "q: one text was expected");
  return body.texts("q").front();
}

/// What the client says of each line: its own terms, and whether sentences are split.
struct AskedTerms {
  explicit AskedTerms(const RequestBody& body) : terms{.keep_placeholders = body.yes_or_no("keep_placeholders")} {
    if (body.has("split_sentences")) split_sentences = body.yes_or_no("split_sentences");
    const auto tsv = body.text("glossary");
    if (tsv.empty()) return;
    try {
      terms.glossary = std::make_shared<const Glossary>(Glossary::parse(tsv, "glossary"));
    } catch (const Error& error) {
      throw RequestError(400, error.what());
    }
  }
  /// Characters that the terms put into translations of these texts: they count as those of the request.
  int64_t inserted(std::span<const std::string> texts) const {
    int64_t characters = 0;
    for (const auto& text : texts) characters += terms.glossary ? terms.glossary->inserted_characters(text) : 0;
    return characters;
  }

  TermOptions terms;
  std::optional<bool> split_sentences = {};
};

nlohmann::ordered_json with_detected(nlohmann::ordered_json json, const TranslationService::AskedText& asked) {
  if (asked.direction.detected) json["detectedLanguage"] = detected_json(*asked.direction.detected);
  return json;
}

/// What answers a request for translation: each text takes the answers to its lines.
nlohmann::ordered_json translation_json(std::span<const std::string> texts,
                                        std::span<const TranslationService::AskedText> asked,
                                        std::span<const Translation> answers, bool list, size_t alternatives) {
  auto translated = nlohmann::ordered_json::array(), detected = translated, others = translated;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto& [lines, direction, share] = asked[i];
    const auto own = answers.first(direction.pair ? lines.lines().size() : 0);
    answers = answers.subspan(own.size());
    translated.push_back(direction.pair ? text_of_rank(lines, own, 0) : texts[i]);
    others.push_back(alternatives_of(lines, own, alternatives));
    if (direction.detected) detected.push_back(detected_json(*direction.detected));
  }
  nlohmann::ordered_json reply = {{"translatedText", list ? translated : translated[0]}};
  if (!detected.empty()) reply["detectedLanguage"] = list ? detected : detected[0];
  if (alternatives > 0) reply["alternatives"] = list ? others : others[0];
  return reply;
}

}  // namespace

HttpResponse json_response(const nlohmann::ordered_json& json) {
  return {.content_type = "application/json; charset=utf-8", .body = json_text(json)};
}

HttpResponse error_response(const RequestError& error) {
  return HttpResponse::error(error.status(), error.what(), error.retry_after());
}

void ServiceOptions::validate() const {
  if (max_n_best < 1) throw Error(fmt::format("{} translations of a line: use 1 or more", max_n_best));
  admission.validate();
  queue.validate();
}

TranslationService::TranslationService(LineTranslator translate, ServiceOptions options, Logger& log)
    : options_((options.validate(), std::move(options))),
      languages_(std::make_shared<ServiceLanguages>(options_.pairs, options_.aliases)),
      admission_(options_.admission),
      suggestions_(options_.suggestions),
      queue_(std::move(translate), options_.queue, metrics_, log),
      documents_(
          queue_, [this] { return current_languages(); }, log) {}

std::shared_ptr<const ServiceLanguages> TranslationService::current_languages() const {
  const std::lock_guard lock(languages_mutex_);
  return languages_;
}

void TranslationService::set_languages(std::shared_ptr<const ServiceLanguages> languages) noexcept {
  const std::lock_guard lock(languages_mutex_);
  languages_.swap(languages);
}

void TranslationService::translate(const RequestBody& body, const Caller& caller, HttpReply reply) {
  const auto timer = std::make_shared<LatencyTimer>(metrics_);
  check(body, caller);
  auto texts = body.texts("q");
  const auto source = required(body, "source"), target = required(body, "target");
  if (texts.size() > kMostTexts)
    throw RequestError(413, fmt::format("{} texts: at most {} a request", texts.size(), kMostTexts));
  const auto format = body.text("format");
  if (format == "html") return translate_fragments(std::move(texts), body, caller, std::move(reply), timer);
  if (!format.empty() && format != "text") throw RequestError(400, fmt::format("{} format is not supported", format));
  const auto alternatives = std::min(body.whole_number("alternatives", 0), options_.max_n_best - 1);
  const AskedTerms terms(body);
  const bool streamed = body.yes_or_no("stream");
  if (streamed && body.is_list("q")) throw RequestError(400, "stream: goes with one text in q");
  count_translated(body, caller, terms.inserted(texts), source, target);

  std::vector<AskedText> asked;
  std::vector<LineRequest> requests;
  for (const std::string& text : texts) {
    asked.push_back({TextLines(text), current_languages()->direction(source, target, text), caller.share});
    asked.back().add_requests(
        requests, {.n_best = alternatives + 1, .split_sentences = terms.split_sentences, .terms = terms.terms});
    if (const auto& pair = asked.back().direction.pair) timer->set_pair(pair->name());
  }
  if (streamed)
    return stream_lines(client_of(body, caller), std::move(asked.front()), std::move(requests), caller, reply, timer,
                        [alternatives](int64_t number, const std::string&, const Translation& answer) {
                          nlohmann::ordered_json event = {{"line", number}, {"translatedText", answer.text}};
                          for (int64_t rank = 1; rank <= alternatives && rank < std::ssize(answer.alternatives); ++rank)
                            event["alternatives"].push_back(answer.alternatives[rank].text);
                          return event;
                        });
  const int64_t held = std::ssize(texts);
  queue_.submit(
      client_of(body, caller), std::move(requests), caller.cancelled,
      [texts = std::move(texts), asked = std::move(asked), list = body.is_list("q"), alternatives,
       reply = std::move(reply), timer](const std::vector<Translation>& answers, const RequestError* error) {
        timer->stop();
        if (error) return reply(error_response(*error));
        reply(json_response(translation_json(texts, asked, answers, list, alternatives)));
      },
      {}, held);
}

/// Each line as soon as it is there: what `event` makes of the line and its translation.
void TranslationService::stream_lines(const std::string& client, AskedText text, std::vector<LineRequest> requests,
                                      const Caller& caller, const HttpReply& reply,
                                      const std::shared_ptr<LatencyTimer>& timer, LineEvent event) {
  const auto events = std::make_shared<EventStream>(reply);
  const auto asked = std::make_shared<const AskedText>(std::move(text));
  queue_.submit(
      client, std::move(requests), caller.cancelled,
      [events, asked, timer](const std::vector<Translation>&, const RequestError* error) {
        timer->stop();
        if (error) return events->fail(error_response(*error));
        events->end(with_detected({{"seconds", timer->seconds()}}, *asked));
      },
      [events, asked, event = std::move(event)](int64_t line, const Translation& answer) {
        events->send("line", event(asked->lines.number(line), asked->lines.lines()[line], answer));
      });
}

/// Texts with markup: without alternatives.
void TranslationService::translate_fragments(std::vector<std::string> texts, const RequestBody& body,
                                             const Caller& caller, HttpReply reply,
                                             const std::shared_ptr<LatencyTimer>& timer) {
  const AskedTerms terms(body);
  if (body.yes_or_no("stream")) throw RequestError(400, "stream: goes with format text");
  const bool alternatives = body.whole_number("alternatives", 0) > 0, list = body.is_list("q");
  if (const auto pair = current_languages()->direction(body.text("source"), body.text("target"), "").pair)
    timer->set_pair(pair->name());
  count(body, caller);
  documents_.translate(
      {.client = client_of(body, caller),
       .bytes = std::move(texts),
       .source = body.text("source"),
       .target = body.text("target"),
       .terms = terms.terms,
       .split_sentences = terms.split_sentences,
       .cancelled = caller.cancelled,
       .share = caller.share,
       .admit = [this, caller, key = body.text("api_key"), characters = body.characters()](
                    int64_t, int64_t inserted) { admission_.check(caller, key, characters + inserted); }},
      [=](const std::vector<TranslatedDocument>& documents, const RequestError* error) {
        timer->stop();
        if (error) return reply(error_response(*error));
        reply(json_response(fragments_json(documents, list, alternatives)));
      });
}

void TranslationService::translate_file(const UploadedFile& file, const RequestBody& body, const Caller& caller,
                                        std::string base_url, HttpReply reply) {
  const auto timer = std::make_shared<LatencyTimer>(metrics_);
  const auto source = required(body, "source"), target = required(body, "target"), key = body.text("api_key");
  const auto client = admission_.client(caller, key);
  check(body, caller);  // of the fields beside the document
  if (const auto pair = current_languages()->direction(source, target, "").pair) timer->set_pair(pair->name());
  if (file.bytes.empty()) throw RequestError(400, "Invalid request: empty file");
  const DocumentFormatName* format = nullptr;
  try {
    format = &require_document_format(file.name);
  } catch (const Error& refused) {
    throw RequestError(400, fmt::format("Invalid request: file format not supported: {}", refused.what()));
  }
  const AskedTerms terms(body);
  const auto events = body.yes_or_no("stream") ? std::make_shared<EventStream>(reply) : nullptr;
  documents_.translate(
      {.client = client,
       .bytes = {std::string(file.bytes)},
       .format = format->format,
       .source = source,
       .target = target,
       .terms = terms.terms,
       .split_sentences = terms.split_sentences,
       .cancelled = caller.cancelled,
       .share = caller.share,
       .progress =
           [events](int64_t done, int64_t total) {
             if (events) events->send("progress", {{"done", done}, {"total", total}});
           },
       .admit =
           [this, caller, key, fields = body.characters()](int64_t texts, int64_t inserted) {
             admission_.admit(caller, key, texts + inserted + fields, RequestKind::kDocument);
           }},
      [this, client, format, name = file.name, base_url = std::move(base_url), reply = std::move(reply), timer, events](
          std::vector<TranslatedDocument> documents, const RequestError* error) {
        timer->stop();
        const auto refuse = [&](const RequestError& why) {
          events ? events->fail(error_response(why)) : reply(error_response(why));
        };
        if (error) return refuse(*error);
        try {
          const auto kept =
              downloads_.add({std::move(documents.front().bytes), name, std::string(format->media_type)}, client);
          const nlohmann::ordered_json url = {{"translatedFileUrl", base_url + "/download_file/" + kept}};
          events ? events->end(url) : reply(json_response(url));
        } catch (const RequestError& full) {
          refuse(full);
        }
      });
}

void TranslationService::explain(const RequestBody& body, const Caller& caller, HttpReply reply) {
  const auto timer = std::make_shared<LatencyTimer>(metrics_);
  check(body, caller);
  const auto text = one_text(body);
  const int64_t n_best = std::clamp<int64_t>(body.whole_number("n_best", 1), 1, options_.max_n_best);
  const bool attention = body.yes_or_no("attention"), alignment = body.yes_or_no("alignment");
  const auto prefix = body.text("prefix");
  const AskedTerms terms(body);
  const auto language = [&](const char* field, const std::string& missing) {
    const auto given = body.text(field);
    return given.empty() ? missing : given;
  };
  const LanguagePair first = current_languages()->pairs().front();
  const auto source = language("source", first.source), target = language("target", first.target);
  const TextLines lines(text);
  if (!prefix.empty() && lines.lines().size() > 1) throw RequestError(400, "prefix: goes with a text of one line");
  const bool streamed = body.yes_or_no("stream");
  count_translated(body, caller, terms.inserted({&text, 1}), source, target);
  AskedText asked{lines, current_languages()->direction(source, target, text), caller.share};
  if (asked.direction.pair) timer->set_pair(asked.direction.pair->name());

  std::vector<LineRequest> requests;
  asked.add_requests(requests, {.prefix = prefix,
                                .whole_prefix = true,
                                .n_best = n_best,
                                .alignment = alignment,
                                .distinct = body.has("prefix") && n_best > 1,
                                .split_sentences = terms.split_sentences,
                                .terms = terms.terms});
  for (auto& [pair, request] : requests) request.word_attention = attention && request.source.size() <= kLongestPicture;
  if (streamed)
    return stream_lines(client_of(body, caller), std::move(asked), std::move(requests), caller, reply, timer,
                        [alignment](int64_t number, const std::string& line, const Translation& answer) {
                          auto event = explained_line(line, answer, alignment);
                          event["line"] = number;
                          return event;
                        });
  queue_.submit(
      client_of(body, caller), std::move(requests), caller.cancelled,
      [text, asked = std::move(asked), reply = std::move(reply), timer, alignment](
          const std::vector<Translation>& answers, const RequestError* error) {
        timer->stop();
        if (error) return reply(error_response(*error));
        auto lines = nlohmann::ordered_json::array();
        for (size_t i = 0; i < answers.size(); ++i)
          lines.push_back(explained_line(asked.lines.lines()[i], answers[i], alignment));
        // A text that is in the target language already stays as it is, without lines.
        reply(json_response(with_detected({{"text", lines.empty() ? text : text_of_rank(asked.lines, answers, 0)},
                                           {"lines", std::move(lines)},
                                           {"seconds", timer->seconds()}},
                                          asked)));
      });
}

nlohmann::ordered_json TranslationService::detect(const RequestBody& body, const Caller& caller) {
  const auto text = one_text(body);
  count(body, caller);
  auto list = nlohmann::ordered_json::array();
  for (const auto& detected : current_languages()->detect(text)) list.push_back(detected_json(detected));
  return list;
}

nlohmann::ordered_json TranslationService::suggest(const RequestBody& body, const Caller& caller) {
  if (!suggestions_.is_open()) throw RequestError(403, "Suggestions are disabled on this server.");
  const Suggestion suggestion = {.source_text = required(body, "q"),
                                 .translation = required(body, "s"),
                                 .source = required(body, "source"),
                                 .target = required(body, "target")};
  check(body, caller);
  current_languages()->direction(suggestion.source, suggestion.target, "");  // whether there is such a pair
  count(body, caller);
  suggestions_.add(suggestion);
  return {{"success", true}};
}

nlohmann::ordered_json TranslationService::settings() const {
  const bool keys = !options_.admission.keys.empty();
  const LanguagePair first = current_languages()->pairs().front();
  auto extensions = nlohmann::ordered_json::array();
  for (const auto& format : document_formats()) extensions.push_back(format.extension);
  return {{"apiKeys", keys},
          {"keyRequired", keys},
          {"charLimit", options_.admission.max_characters},
          {"frontendTimeout", 500},
          {"suggestions", suggestions_.is_open()},
          {"filesTranslation", true},
          {"supportedFilesFormat", extensions},
          {"language", {{"source", language_json(first.source)}, {"target", language_json(first.target)}}},
          {"maxNBest", options_.max_n_best}};
}

std::string TranslationService::metrics_text() const { return metrics_.text(queue_.waiting()); }

void TranslationService::check(const RequestBody& body, const Caller& caller) const {
  admission_.check(caller, body.text("api_key"), body.characters());
}

/// Blank texts are no work. inserted: by terms.
void TranslationService::count(const RequestBody& body, const Caller& caller, int64_t inserted) {
  if (body.is_blank()) return check(body, caller);
  admission_.admit(caller, body.text("api_key"), body.characters() + inserted);
}

/// Counts what is not copied. To look for a text's language is work, too, and does not begin before; so are terms.
void TranslationService::count_translated(const RequestBody& body, const Caller& caller, int64_t inserted,
                                          const std::string& source, const std::string& target) {
  if (current_languages()->direction(source, target, "").pair || source == "auto" || body.has("glossary"))
    count(body, caller, inserted);
}

std::string TranslationService::client_of(const RequestBody& body, const Caller& caller) const {
  return admission_.client(caller, body.text("api_key"));
}

}  // namespace nmt
