#pragma once

#include <string>
#include <string_view>

namespace nmt::scoring {

struct TerOptions {
  bool normalized = false;      ///< split punctuation, unescape
  bool no_punctuation = false;  ///< delete punctuation
  bool asian_support = false;   ///< with one of the above: East Asian characters too
  bool case_sensitive = false;
};

/// The text preparation of Tercom (Snover et al. 2006): lower case, and on request normalisation and no punctuation.
/// Replaces `out`; the words are what str.split() of Python finds.
void tokenize_tercom(std::string_view line, const TerOptions& options, std::string& out);

}  // namespace nmt::scoring
