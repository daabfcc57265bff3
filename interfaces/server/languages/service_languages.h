#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/strict_json.h"
#include "language/language_detector.h"
#include "text/language_code.h"

namespace nmt {

/// What a model translates from and into: codes such as de, pt-BR or zh-Hans. "und" is a language that nobody named.
struct LanguagePair {
  std::string source = "und", target = "und";
  auto operator<=>(const LanguagePair&) const = default;
  std::string name() const { return source + "-" + target; }  ///< "de-en"
};

/// "de" -> "German", "zh-Hant" -> "Traditional Chinese"; a code that nobody knows is its own name.
std::string language_name(const std::string& code);

/// What is to be done with a text.
struct Direction {
  std::optional<LanguagePair> pair = {};          ///< nothing: the text is in the target language already
  std::optional<DetectedLanguage> detected = {};  ///< of source "auto"
};

using LanguageAliases = std::map<std::string, std::string>;

/// The languages of the pairs, in the order in which these name them.
std::vector<std::string> codes_of(const std::vector<LanguagePair>& pairs);

/// The languages that a service has, as its clients name them: codes in any case, of another region where the very code
/// is not served (match_languages), also the older ones of LibreTranslate (pb, zt). Any number of threads may call it.
class ServiceLanguages {
 public:
  /// pairs: each once. aliases: further codes by which clients may name a language, each with the code that it stands
  /// for, which is one of the pairs' (ModelPool sees to that). Throws Error where there is no pair.
  explicit ServiceLanguages(std::vector<LanguagePair> pairs, LanguageAliases aliases = {});

  /// Throws RequestError 400 for languages that are not served, or not as a pair. Source "auto": the text's own, of
  /// those which have this target and the target itself; with a confidence of 0 the first where nothing is found.
  Direction direction(const std::string& source, const std::string& target, std::string_view text) const;
  /// POST /detect: of all sources and targets, best first; the first source with a confidence of 0 where nothing is
  /// found.
  std::vector<DetectedLanguage> detect(std::string_view text) const;

  const std::vector<LanguagePair>& pairs() const { return pairs_; }
  nlohmann::ordered_json to_json() const;  ///< GET /languages: each with its name and its targets
  std::vector<std::string> codes() const;  ///< of all, in the order in which pairs name them

 private:
  struct Sources {  // of a target
    std::string target;
    LanguageDetector detector;
    std::string first;
  };
  const std::string* find(const std::string& code) const;

  std::vector<LanguagePair> pairs_;
  LanguageAliases aliases_;
  std::vector<std::string> codes_;
  std::vector<LanguageCode> known_codes_;  // of codes_
  LanguageDetector detector_;
  std::vector<Sources> by_target_;
};

}  // namespace nmt
