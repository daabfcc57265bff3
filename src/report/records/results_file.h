#pragma once

#include <string>
#include <vector>

namespace nmt {

/// What one system made of a test set, a line each.
struct TranslatedText {
  std::vector<std::string> sources, references, hypotheses;
};

/// The text of a results file, with any figure, such as "17.146408907717394":
///   - source: ...
///   - expected: ...
///   - got: ...
///   (an empty line)
///   Bleu Score = 17.146408907717394
std::string format_results_file(const TranslatedText& text, const std::string& figure);

}  // namespace nmt
