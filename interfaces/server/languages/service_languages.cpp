#include "server/languages/service_languages.h"

#include <fmt/format.h>
#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/unicode.h"
#include "server/http/http_message.h"

namespace nmt {

std::string language_name(const std::string& code) {
  UErrorCode status = U_ZERO_ERROR;
  const auto locale = icu::Locale::forLanguageTag(code, status);
  if (U_FAILURE(status) || locale.isBogus()) return code;
  icu::UnicodeString name;
  locale.getDisplayName(icu::Locale::getEnglish(), name);
  std::string text;
  name.toUTF8String(text);
  return text.empty() ? code : text;
}

namespace {

constexpr const char* kUnknown = "und";

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

std::vector<std::string> known(std::vector<std::string> codes) {
  std::erase(codes, kUnknown);
  return codes;
}

}  // namespace

std::vector<std::string> codes_of(const std::vector<LanguagePair>& pairs) {
  std::vector<std::string> codes;
  for (const auto& pair : pairs) add_once(codes, pair.source), add_once(codes, pair.target);
  return codes;
}

ServiceLanguages::ServiceLanguages(std::vector<LanguagePair> pairs, LanguageAliases aliases)
    : pairs_(std::move(pairs)), aliases_(std::move(aliases)), codes_(codes_of(pairs_)), detector_(known(codes_)) {
  if (pairs_.empty()) throw Error("a service without a pair of languages");
  for (const auto& code : codes_) known_codes_.push_back(known_code(code));
  for (const std::string& target : codes_) {
    std::vector<std::string> sources;
    for (const auto& pair : pairs_) {
      if (pair.target == target) add_once(sources, pair.source);
    }
    if (sources.empty()) continue;
    const std::string first = sources.front();
    add_once(sources, target);
    by_target_.push_back({target, LanguageDetector(known(sources)), first});
  }
}

/// The service's own code of a language; null where it is not served.
const std::string* ServiceLanguages::find(const std::string& code) const {
  const auto same = [&](std::string_view asked) -> const std::string* {
    const auto found =
        std::ranges::find_if(codes_, [&](const std::string& own) { return same_ignoring_case(own, asked); });
    return found == codes_.end() ? nullptr : &*found;
  };
  if (const auto* own = same(code)) return own;
  for (const auto& [alias, own] : aliases_) {
    if (same_ignoring_case(code, alias)) return same(own);
  }
  const auto asked = known_code(code);
  for (const auto least : {LanguageMatch::kSame, LanguageMatch::kOtherRegion}) {
    for (size_t i = 0; i < codes_.size(); ++i)
      if (match_languages(known_codes_[i], asked) >= least) return &codes_[i];
  }
  return same(kUnknown);  // a model whose languages nobody named translates whatever is asked of it
}

Direction ServiceLanguages::direction(const std::string& source, const std::string& target,
                                      std::string_view text) const {
  const auto served = [this](const std::string& code) {
    const std::string* const own = find(code);
    if (!own) throw RequestError(400, fmt::format("{} is not supported", code));
    return *own;
  };
  std::string from = source == "auto" ? source : served(source);
  const std::string to = served(target);
  Direction direction;
  if (source == "auto") {
    const auto sources = std::ranges::find(by_target_, to, &Sources::target);
    if (sources == by_target_.end()) throw RequestError(400, fmt::format("{} is not supported as a target", target));
    const auto detected = sources->detector.detect(text);
    direction.detected = detected.empty() ? DetectedLanguage{sources->first, 0} : detected.front();
    from = direction.detected->code;
  }
  const auto pair =
      std::ranges::find_if(pairs_, [&](const LanguagePair& one) { return one.source == from && one.target == to; });
  if (pair != pairs_.end())
    direction.pair = *pair;
  else if (from != to)
    throw RequestError(400, fmt::format("{} is not supported as a target of {}", target, from));
  return direction;
}

std::vector<DetectedLanguage> ServiceLanguages::detect(std::string_view text) const {
  auto detected = detector_.detect(text);
  if (detected.empty()) detected.push_back({codes_.front(), 0});
  return detected;
}

nlohmann::ordered_json ServiceLanguages::to_json() const {
  auto list = nlohmann::ordered_json::array();
  for (const std::string& code : codes_) {
    auto targets = nlohmann::ordered_json::array();
    for (const auto& pair : pairs_) {
      if (pair.source == code) targets.push_back(pair.target);
    }
    list.push_back({{"code", code}, {"name", language_name(code)}, {"targets", std::move(targets)}});
  }
  return list;
}

std::vector<std::string> ServiceLanguages::codes() const { return codes_; }

}  // namespace nmt
