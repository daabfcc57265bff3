#include "server/languages/language_detector.h"

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>  // the next header wants it, and does not include it

#include "base/unicode.h"

namespace nmt {
namespace {

constexpr size_t kLongestText = 64 * 1024;  // bytes
/// Below this certainty only the hint decides.
constexpr double kLeastCertain = 50;
/// The detector answers for short texts, too, as well as it can. (Its header has the flag, but not for callers.)
constexpr int kBestEffort = 0x4000;
constexpr size_t kFound = 3;

/// The detector's code of a language: its codes are older than the standard, and know no regions.
std::string detector_code(const std::string& code) {
  if (code == "zh-Hant" || code == "zh-TW" || code == "zh-HK" || code == "zt") return "zh-Hant";
  const std::string language = code.substr(0, code.find_first_of("-_"));
  if (language == "he") return "iw";
  if (language == "jv") return "jw";
  if (language == "fil") return "tl";
  if (language == "nb") return "no";
  if (language == "pb") return "pt";
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

std::vector<DetectedLanguage> LanguageDetector::detect(std::string_view text) const {
  text = beginning(text);
  std::vector<DetectedLanguage> detected;
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

bool has_letters(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (u_isalpha(static_cast<UChar32>(next_code_point(text, at)))) return true;
  }
  return false;
}

}  // namespace nmt
