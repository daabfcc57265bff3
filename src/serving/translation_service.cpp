#include "serving/translation_service.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/sha256.h"
#include "serving/language_name.h"
#include "serving/request_error.h"
#include "serving/text_lines.h"

namespace nmt {
namespace {

/// Takes as long for a key that is nearly right as for any other.
bool same_key(const std::string& given, const std::string& expected) {
  const std::string a = sha256_of_bytes(given), b = sha256_of_bytes(expected);
  return CRYPTO_memcmp(a.data(), b.data(), b.size()) == 0;
}

class LatencyTimer {
 public:
  explicit LatencyTimer(Metrics& metrics) : metrics_(metrics) {}
  ~LatencyTimer() { metrics_.add_latency(std::chrono::duration<double>(Clock::now() - start_).count()); }
  LatencyTimer(const LatencyTimer&) = delete;
  LatencyTimer& operator=(const LatencyTimer&) = delete;

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

}  // namespace

void ServiceOptions::validate() const {
  if (max_n_best < 1) throw Error(fmt::format("{} translations of a line: use 1 or more", max_n_best));
  if (time_limit.count() < 1) throw Error(fmt::format("time limit of {} ms: use 1 or more", time_limit.count()));
  queue.validate();
}

TranslationService::TranslationService(TranslateFunction translate, ServiceOptions options, Logger& log)
    : options_((options.validate(), std::move(options))), queue_(std::move(translate), options_.queue, metrics_, log) {}

nlohmann::ordered_json TranslationService::translate(const RequestBody& body) {
  const LatencyTimer timer(metrics_);
  const auto deadline = Clock::now() + options_.time_limit;
  check_key(body);
  check_languages(body);
  const auto format = body.text("format");
  if (!format.empty() && format != "text")
    throw RequestError(400, fmt::format("format '{}' is not supported: send plain text (format 'text')", format));
  const auto alternatives = std::min(body.whole_number("alternatives", 0), options_.max_n_best - 1);

  std::vector<TextLines> texts;
  std::vector<Question> questions;
  for (const auto& text : body.texts("q")) {
    for (const auto& line : texts.emplace_back(text).lines())
      questions.push_back({.text = line, .n_best = alternatives + 1});
  }
  const auto answers = queue_.answer(std::move(questions), deadline);

  auto translated = nlohmann::ordered_json::array(), others = nlohmann::ordered_json::array();
  auto rest = std::span(answers);
  for (const TextLines& text : texts) {
    const auto own = rest.first(text.lines().size());
    rest = rest.subspan(own.size());
    translated.push_back(text_of_rank(text, own, 0));
    others.push_back(alternatives_of(text, own));
  }
  const bool list = body.is_list("q");
  nlohmann::ordered_json reply = {{"translatedText", list ? translated : translated[0]}};
  if (alternatives > 0) reply["alternatives"] = list ? others : others[0];
  return reply;
}

nlohmann::ordered_json TranslationService::explain(const RequestBody& body) {
  const LatencyTimer timer(metrics_);
  const auto start = Clock::now();
  check_key(body);
  if (body.is_list("q")) throw RequestError(400, "q: one text was expected");
  const int64_t n_best = std::clamp<int64_t>(body.whole_number("n_best", 1), 1, options_.max_n_best);
  const bool attention = body.yes_or_no("attention");

  const TextLines text(body.texts("q").front());
  std::vector<Question> questions;
  for (const auto& line : text.lines()) questions.push_back({.text = line, .n_best = n_best, .attention = attention});
  const auto answers = queue_.answer(std::move(questions), start + options_.time_limit);

  auto lines = nlohmann::ordered_json::array();
  for (size_t i = 0; i < answers.size(); ++i) lines.push_back(to_json(text.lines()[i], answers[i]));
  return {{"text", text_of_rank(text, answers, 0)},
          {"lines", std::move(lines)},
          {"seconds", std::chrono::duration<double>(Clock::now() - start).count()}};
}

nlohmann::ordered_json TranslationService::languages() const {
  auto source = language_json(options_.source_language), target = language_json(options_.target_language);
  source["targets"] = {options_.target_language};
  if (options_.source_language == options_.target_language) return nlohmann::ordered_json::array({source});
  target["targets"] = nlohmann::ordered_json::array();
  return nlohmann::ordered_json::array({source, target});
}

nlohmann::ordered_json TranslationService::settings() const {
  return {{"apiKeys", !options_.api_key.empty()},
          {"keyRequired", !options_.api_key.empty()},
          {"charLimit", -1},
          {"frontendTimeout", 500},
          {"suggestions", false},
          {"supportedFilesFormat", nlohmann::ordered_json::array()},
          {"language",
           {{"source", language_json(options_.source_language)}, {"target", language_json(options_.target_language)}}},
          {"maxNBest", options_.max_n_best}};
}

std::string TranslationService::metrics_text() const { return metrics_.text(queue_.waiting()); }

void TranslationService::check_key(const RequestBody& body) const {
  if (options_.api_key.empty()) return;
  const auto key = body.text("api_key");
  if (key.empty()) throw RequestError(403, "this server wants an API key: send it as api_key");
  if (!same_key(key, options_.api_key)) throw RequestError(403, "the API key is not valid");
}

void TranslationService::check_languages(const RequestBody& body) const {
  const auto check = [&](const char* field, const std::string& own, bool free) {
    const auto asked = body.text(field);
    if (asked.empty() || asked == own || own == "und" || free) return;
    throw RequestError(400, fmt::format("{} '{}' is not supported: this server translates from {} into {}", field,
                                        asked, options_.source_language, options_.target_language));
  };
  check("source", options_.source_language, body.text("source") == "auto");
  check("target", options_.target_language, false);
}

}  // namespace nmt
