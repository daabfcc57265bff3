#include "server/languages/service_languages.h"

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>
#include <fmt/format.h>
#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/error.h"
#include "base/unicode.h"
#include "server/http/http_message.h"
#include "text/placeholders.h"
#include "text/sentence_splitter.h"

namespace nmt {
namespace {

constexpr size_t kLongestText = 64 * 1024;  // bytes
/// Below this certainty only the hint decides.
constexpr double kLeastCertain = 50;
/// The detector answers for short texts, too, as well as it can. (Its header has the flag, but not for callers.)
constexpr int kBestEffort = 0x4000;
constexpr size_t kFound = 3;

/// A code, also one of the older ones of LibreTranslate, which clients may still send.
LanguageCode known_code(const std::string& code) {
  if (same_ignoring_case(code, "pb")) return LanguageCode("pt-BR");
  return LanguageCode(same_ignoring_case(code, "zt") ? "zh-Hant" : code);
}

/// The detector's code of a language: its codes are older than the standard, and know no regions.
std::string detector_code(const std::string& code) {
  const auto [name, language, script] = known_code(code);
  if (language == "zh" && script == "Hant") return "zh-Hant";
  if (language == "he") return "iw";
  if (language == "jv") return "jw";
  if (language == "fil") return "tl";
  if (language == "nb") return "no";
  return language;
}

struct Finding {
  std::string code;
  int percent = 0;  ///< of the text
};

std::vector<Finding> find_languages(std::string_view text, const char* hint) {
  const CLD2::CLDHints hints{hint, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  std::array<CLD2::Language, kFound> languages{};
  std::array<int, kFound> percents{};
  std::array<double, kFound> scores{};
  int bytes = 0, valid = 0;
  bool reliable = false;
  CLD2::ExtDetectLanguageSummaryCheckUTF8(text.data(), static_cast<int>(text.size()), /*is_plain_text=*/true, &hints,
                                          kBestEffort, languages.data(), percents.data(), scores.data(), nullptr,
                                          &bytes, &reliable, &valid);
  std::vector<Finding> findings;
  for (size_t i = 0; i < kFound; ++i) {
    if (languages[i] != CLD2::UNKNOWN_LANGUAGE && percents[i] > 0)
      findings.push_back({CLD2::LanguageCode(languages[i]), percents[i]});
  }
  return findings;
}

bool is_of_name(char32_t c) { return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_XID_CONTINUE) != 0; }

/// The end of @name, @name@host or #topic at `at`; `at` where there is none.
size_t end_of_mark(std::string_view text, size_t at) {
  size_t end = at;
  for (size_t next = at; next < text.size();) {
    const char32_t c = next_code_point(text, next);
    if (c == U'@' || c == U'#' || c == U'.' || c == U'-') continue;  // inside a name, or what ends the sentence
    if (!is_of_name(c)) break;
    end = next;
  }
  return end;
}

/// The text without what says nothing of its language: addresses and other placeholders, names of people and topics of
/// networks (@anna, #summer). Control characters and noncharacters are spaces, too: the detector reads nothing of a
/// text that has one.
std::string words_of(std::string_view text, bool with_marks) {
  std::string words;
  const auto placeholders = with_marks ? std::vector<ByteRange>() : find_placeholders(text);
  auto placeholder = placeholders.begin();
  bool in_name = false;
  for (size_t at = 0; at < text.size();) {
    size_t next = at;
    const char32_t c = next_code_point(text, next);
    while (placeholder != placeholders.end() && placeholder->end <= at) ++placeholder;
    if (placeholder != placeholders.end() && placeholder->begin <= at) {
      next = placeholder->end;
      words += ' ';
    } else if (!with_marks && !in_name && (c == U'@' || c == U'#') && end_of_mark(text, next) > next) {
      next = end_of_mark(text, next);
      words += ' ';
    } else if (u_charType(static_cast<UChar32>(c)) == U_CONTROL_CHAR || U_IS_UNICODE_NONCHAR(static_cast<UChar32>(c))) {
      words += ' ';
    } else {
      words += text.substr(at, next - at);
    }
    in_name = is_of_name(c);
    at = next;
  }
  return words;
}

/// Not longer than the detector reads, and no character cut in two.
std::string_view beginning(std::string_view text) {
  if (text.size() <= kLongestText) return text;
  size_t end = kLongestText;
  while (end > 0 && is_continuation_byte(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace

LanguageDetector::LanguageDetector(const std::vector<std::string>& languages) {
  for (const std::string& code : languages) {
    const std::string known = detector_code(code);
    hint_ += (hint_.empty() ? "" : ",") + known;
    languages_.push_back({code, known});
  }
}

std::vector<DetectedLanguage> LanguageDetector::detect(std::string_view whole) const {
  std::vector<DetectedLanguage> detected;
  std::string text = words_of(beginning(whole), /*with_marks=*/false);
  if (!has_letters(text)) text = words_of(beginning(whole), /*with_marks=*/true);  // there is nothing else
  if (!has_letters(text)) return detected;
  // A hint would draw every text to it, also one in another language: it only helps where there is nothing else.
  for (const char* hint : {static_cast<const char*>(nullptr), hint_.c_str()}) {
    const auto findings = find_languages(text, hint);
    for (const Finding& finding : findings) {
      const auto language = std::ranges::find(languages_, finding.code, &Language::known);
      if (language == languages_.end()) continue;
      const double most = hint ? kLeastCertain : 100;
      detected.push_back({language->code, std::min<double>(finding.percent, most)});
    }
    if (!detected.empty()) break;
  }
  return detected;
}

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
