#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/corpus/language_identifier.h"
#include "text/language_code.h"

namespace nmt {

/// A code, also one of the older ones of LibreTranslate (pb, zt), which clients may still send.
LanguageCode known_code(const std::string& code);

struct DetectedLanguage {
  std::string code;       ///< one of those that were asked about
  double confidence = 0;  ///< percent
};

/// Tells in which of some languages a text is, by the Compact Language Detector 2.
class LanguageDetector {
 public:
  /// Codes such as de, pt-BR or zh-Hant. Codes that the detector does not know are never found.
  explicit LanguageDetector(const std::vector<std::string>& languages);

  /// Best first, three at most; none for a text without letters, or in a language that is not asked about. What is so
  /// short that only the choice of languages decides gets 50 % at most. Addresses, placeholders, @names and #topics
  /// count only where there is nothing else. Text in UTF-8, as long as it likes: its first 64 KiB are read. Any number
  /// of threads may call it.
  std::vector<DetectedLanguage> detect(std::string_view text) const;

 private:
  struct Language {
    std::string code;   ///< as it was given
    std::string known;  ///< as the detector says it
  };
  std::vector<Language> languages_;
  std::string hint_;  ///< all of them, for texts that tell too little
};

/// For the rule `language` of data.clean: what the same detector is sure of, told both languages of the pair.
std::unique_ptr<LanguageIdentifier> make_language_identifier();

}  // namespace nmt
