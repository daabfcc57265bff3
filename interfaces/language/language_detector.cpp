#include "language/language_detector.h"

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>
#include <unicode/uchar.h>
#include <unicode/utf.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>

#include "base/unicode.h"
#include "text/language_code.h"
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
struct Findings {
  std::vector<Finding> languages = {};
  bool are_sure = false;
};

Findings find_languages(std::string_view text, const char* hint) {
  const CLD2::CLDHints hints{hint, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  std::array<CLD2::Language, kFound> languages{};
  std::array<int, kFound> percents{};
  std::array<double, kFound> scores{};
  int bytes = 0, valid = 0;
  bool reliable = false;
  CLD2::ExtDetectLanguageSummaryCheckUTF8(text.data(), static_cast<int>(text.size()), /*is_plain_text=*/true, &hints,
                                          kBestEffort, languages.data(), percents.data(), scores.data(), nullptr,
                                          &bytes, &reliable, &valid);
  Findings findings{.are_sure = reliable};
  for (size_t i = 0; i < kFound; ++i) {
    if (languages[i] != CLD2::UNKNOWN_LANGUAGE && percents[i] > 0)
      findings.languages.push_back({CLD2::LanguageCode(languages[i]), percents[i]});
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

LanguageCode known_code(const std::string& code) {
  const auto is = [&](std::string_view other) {
    return std::ranges::equal(code, other, {}, [](unsigned char c) { return std::tolower(c); });
  };
  if (is("pb")) return LanguageCode("pt-BR");
  return LanguageCode(is("zt") ? "zh-Hant" : code);
}

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
    for (const Finding& finding : findings.languages) {
      const auto language = std::ranges::find(languages_, finding.code, &Language::known);
      if (language == languages_.end()) continue;
      const double most = hint ? kLeastCertain : 100;
      detected.push_back({language->code, std::min<double>(finding.percent, most)});
    }
    if (!detected.empty()) break;
  }
  return detected;
}

namespace {

/// CLD2's findings. The hint, both languages of the pair, saves most of the right short texts (docs/results.md), many
/// of which are Norwegian or Dutch to the detector without it; with one language alone it would miss exchanged sides.
class Cld2Identifier final : public LanguageIdentifier {
 public:
  double share_of_others(std::string_view whole, const std::string& language, const std::string& other) const override {
    const std::string own = detector_code(language);
    const std::string hint = own + "," + detector_code(other);
    const auto [languages, are_sure] = find_languages(words_of(beginning(whole), /*with_marks=*/false), hint.c_str());
    if (!are_sure) return 0;
    double others = 0;
    for (const auto& [code, percent] : languages)
      if (code != own) others += percent;
    return others / 100;
  }
};

}  // namespace

std::unique_ptr<LanguageIdentifier> make_language_identifier() { return std::make_unique<Cld2Identifier>(); }

}  // namespace nmt
