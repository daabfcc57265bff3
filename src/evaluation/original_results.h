#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nmt {

/// What a model made of a test set, for the result files of the original programs.
struct TranslatedText {
  std::vector<std::string> sources, references, hypotheses;  ///< a line each
};

/// Kyubyong's Transformer of 2019: DIRECTORY/NAMEB23.88 holds the translations, a line each, and behind them the line
/// "BLEU = 23.88, 54.0/30.7/18.6/11.7 (BP=0.974, ration=0.974)" of its scorer (multi-bleu-legacy of nmt-score).
/// Returns the file. Throws as write_file_atomically.
std::filesystem::path write_kyubyong2019_results(const std::filesystem::path& directory, const std::string& name,
                                                 const TranslatedText& text);

/// Kyubyong's Transformer of 2017: DIRECTORY/NAME holds "- source: ", "- expected: ", "- got: " and an empty line for
/// each sentence, then "Bleu Score = " and the figure of NLTK's corpus BLEU over the pairs with more than three words
/// on both sides. Returns the file.
std::filesystem::path write_kyubyong2017_results(const std::filesystem::path& directory, const std::string& name,
                                                 const TranslatedText& text);

/// The text of such a file of 2017, with any figure, in full precision:
///   - source: ...
///   - expected: ...
///   - got: ...
///   (an empty line)
///   Bleu Score = 17.146408907717394
std::string format_results_file(const TranslatedText& text, double bleu);

/// The name of a model directory in result files: that of its folder, or, of the best model of a run, that of the
/// folder beside it that the originals' naming made of the same update; "best" if there is none.
std::string original_model_name(const std::filesystem::path& model_directory);

}  // namespace nmt
