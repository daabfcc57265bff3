#include "serving/translation_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/code_points.h"
#include "base/error.h"
#include "serving/http/request_error.h"
#include "serving/language_name.h"
#include "serving/text_lines.h"

namespace nmt {
namespace {

/// Of longer lines no picture is drawn: nobody could read it, and its numbers would fill the memory.
constexpr size_t kLongestPicture = 1000;  // bytes

/// Measures from its beginning to the answer, whatever that is.
class LatencyTimer {
 public:
  explicit LatencyTimer(Metrics& metrics) : metrics_(metrics) {}
  ~LatencyTimer() { metrics_.add_latency(seconds()); }
  LatencyTimer(const LatencyTimer&) = delete;
  LatencyTimer& operator=(const LatencyTimer&) = delete;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Metrics& metrics_;
  const Clock::time_point start_ = Clock::now();
};

/// A text of which each line is translated by its rank-th best translation, or the last where it has fewer.
std::string text_of_rank(const TextLines& text, std::span<const Answer> answers, size_t rank) {
  std::vector<std::string> lines;
  for (const Answer& answer : answers)
    lines.push_back(answer.n_best.empty() ? "" : answer.n_best[std::min(rank, answer.n_best.size() - 1)].text);
  return text.with(lines);
}

/// The second best, third best, ... as far as one of the lines has them.
nlohmann::ordered_json alternatives_of(const TextLines& text, std::span<const Answer> answers) {
  size_t max = 0;
  for (const Answer& answer : answers) max = std::max(max, answer.n_best.size());
  auto list = nlohmann::ordered_json::array();
  for (size_t rank = 1; rank < max; ++rank) list.push_back(text_of_rank(text, answers, rank));
  return list;
}

nlohmann::ordered_json to_json(const std::string& source, const Answer& answer) {
  auto n_best = nlohmann::ordered_json::array();
  for (const RankedText& one : answer.n_best)
    n_best.push_back({{"text", one.text},
                      {"score", one.score},
                      {"log_probability", one.log_probability},
                      {"tokens", one.tokens},
                      {"finished", one.finished}});
  nlohmann::ordered_json line = {{"source", source},
                                 {"source_tokens", answer.source_tokens},
                                 {"split", answer.split},
                                 {"n_best", std::move(n_best)}};
  if (!answer.attention_svg.empty()) line["attention_svg"] = answer.attention_svg;
  return line;
}

nlohmann::ordered_json language_json(const std::string& code) {
  return {{"code", code}, {"name", language_name(code)}};
}

/// The texts of a request as lines, and what is asked about them.
struct Texts {
  std::vector<TextLines> texts;
  bool list = false;

  std::vector<Question> questions(int64_t n_best) const {
    std::vector<Question> questions;
    for (const TextLines& text : texts) {
      for (const auto& line : text.lines()) questions.push_back({.text = line, .n_best = n_best});
    }
    return questions;
  }
};

nlohmann::ordered_json translation_json(const Texts& asked, std::span<const Answer> answers, bool with_alternatives) {
  auto translated = nlohmann::ordered_json::array(), others = nlohmann::ordered_json::array();
  for (const TextLines& text : asked.texts) {
    const auto own = answers.first(text.lines().size());
    answers = answers.subspan(own.size());
    translated.push_back(text_of_rank(text, own, 0));
    if (with_alternatives) others.push_back(alternatives_of(text, own));
  }
  nlohmann::ordered_json reply = {{"translatedText", asked.list ? translated : translated[0]}};
  if (with_alternatives) reply["alternatives"] = asked.list ? others : others[0];
  return reply;
}

}  // namespace

HttpResponse json_response(const nlohmann::ordered_json& json) {
  return {.content_type = "application/json; charset=utf-8",
          .body = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
}

HttpResponse error_response(const RequestError& error) {
  return HttpResponse::error(error.status(), error.what(), error.retry_after());
}

void ServiceOptions::validate() const {
  if (max_n_best < 1) throw Error(fmt::format("{} translations of a line: use 1 or more", max_n_best));
  if (max_characters < 1) throw Error(fmt::format("{} characters of a request: use 1 or more", max_characters));
  if (limit.requests < 0 || limit.characters < 0)
    throw Error(fmt::format("{} requests and {} characters a minute: use 0 (no limit) or more", limit.requests,
                            limit.characters));
  queue.validate();
}

TranslationService::TranslationService(TranslateFunction translate, ServiceOptions options, Logger& log)
    : options_((options.validate(), std::move(options))), queue_(std::move(translate), options_.queue, metrics_, log) {}

void TranslationService::translate(const RequestBody& body, const Caller& caller, HttpReply reply) {
  const auto timer = std::make_shared<LatencyTimer>(metrics_);
  const auto texts = body.texts("q");
  admit(body, caller, texts);
  check_languages(body);
  const auto format = body.text("format");
  if (!format.empty() && format != "text") throw RequestError(400, fmt::format("{} format is not supported", format));
  const auto alternatives = std::min(body.whole_number("alternatives", 0), options_.max_n_best - 1);

  Texts asked{.texts = {texts.begin(), texts.end()}, .list = body.is_list("q")};
  auto questions = asked.questions(alternatives + 1);
  queue_.submit(std::move(questions), caller.given_up,
                [asked = std::move(asked), alternatives, reply = std::move(reply), timer](
                    const std::vector<Answer>& answers, const RequestError* error) {
                  if (error) return reply(error_response(*error));
                  reply(json_response(translation_json(asked, answers, alternatives > 0)));
                });
}

void TranslationService::explain(const RequestBody& body, const Caller& caller, HttpReply reply) {
  const auto timer = std::make_shared<LatencyTimer>(metrics_);
  if (body.is_list("q")) throw RequestError(400, "q: one text was expected");
  const auto texts = body.texts("q");
  admit(body, caller, texts);
  const int64_t n_best = std::clamp<int64_t>(body.whole_number("n_best", 1), 1, options_.max_n_best);
  const bool attention = body.yes_or_no("attention");

  const Texts asked{.texts = {TextLines(texts.front())}};
  auto questions = asked.questions(n_best);
  for (Question& question : questions) question.attention = attention && question.text.size() <= kLongestPicture;
  queue_.submit(
      std::move(questions), caller.given_up,
      [text = asked.texts.front(), reply = std::move(reply), timer](const std::vector<Answer>& answers,
                                                                    const RequestError* error) {
        if (error) return reply(error_response(*error));
        auto lines = nlohmann::ordered_json::array();
        for (size_t i = 0; i < answers.size(); ++i) lines.push_back(to_json(text.lines()[i], answers[i]));
        reply(json_response(
            {{"text", text_of_rank(text, answers, 0)}, {"lines", std::move(lines)}, {"seconds", timer->seconds()}}));
      });
}

nlohmann::ordered_json TranslationService::languages() const {
  auto source = language_json(options_.source_language), target = language_json(options_.target_language);
  source["targets"] = {options_.target_language};
  if (options_.source_language == options_.target_language) return nlohmann::ordered_json::array({source});
  target["targets"] = nlohmann::ordered_json::array();
  return nlohmann::ordered_json::array({source, target});
}

nlohmann::ordered_json TranslationService::settings() const {
  return {{"apiKeys", !options_.keys.empty()},
          {"keyRequired", !options_.keys.empty()},
          {"charLimit", options_.max_characters},
          {"frontendTimeout", 500},
          {"suggestions", false},
          {"supportedFilesFormat", nlohmann::ordered_json::array()},
          {"language",
           {{"source", language_json(options_.source_language)}, {"target", language_json(options_.target_language)}}},
          {"maxNBest", options_.max_n_best}};
}

std::string TranslationService::metrics_text() const { return metrics_.text(queue_.waiting()); }

/// The key, and the limits of who has it.
void TranslationService::admit(const RequestBody& body, const Caller& caller, std::span<const std::string> texts) {
  const ApiKey* key = nullptr;
  if (!options_.keys.empty()) {
    const auto given = caller.key.empty() ? body.text("api_key") : caller.key;
    if (given.empty()) throw RequestError(403, "this server wants an API key: send it as api_key");
    key = options_.keys.find(given);
    if (!key) throw RequestError(403, "the API key is not valid");
  }
  int64_t characters = 0;
  for (const auto& text : texts) characters += count_code_points(text);
  if (characters > options_.max_characters)
    throw RequestError(
        400, fmt::format("Invalid request: request ({}) exceeds text limit ({})", characters, options_.max_characters));
  const auto seconds = limiter_.admit(key ? "key " + key->name : "address " + caller.address,
                                      key ? key->limit : options_.limit, characters);
  if (seconds)
    throw RequestError(429, fmt::format("Slowdown: the limit is reached; try again in {} s", *seconds), *seconds);
}

void TranslationService::check_languages(const RequestBody& body) const {
  const auto check = [&](const char* field, const std::string& own, bool any) {
    const auto asked = body.text(field);
    if (asked.empty() || asked == own || own == "und" || any) return;
    throw RequestError(400, fmt::format("{} is not supported", asked));
  };
  check("source", options_.source_language, body.text("source") == "auto");
  check("target", options_.target_language, false);
}

}  // namespace nmt
