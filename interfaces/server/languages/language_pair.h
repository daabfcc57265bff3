#pragma once

#include <string>

namespace nmt {

/// What a model translates from and into: codes such as de, pt-BR or zh-Hans. "und" is a language that nobody named.
struct LanguagePair {
  std::string source = "und", target = "und";
  bool operator==(const LanguagePair&) const = default;
  std::string name() const { return source + "-" + target; }  ///< "de-en"
};

}  // namespace nmt
