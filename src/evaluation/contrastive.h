#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "translation/translator.h"

namespace nmt {

/// A source, its right translation and wrong ones, each of which differs from it in one thing (Sennrich 2017,
/// LingEval97; Müller et al. 2018, ContraPro).
struct ContrastiveItem {
  std::string category = {};  ///< of the thing; empty: none
  std::string source = {}, right = {};
  std::vector<std::string> wrong = {};  ///< one at least
};

/// Lines of SOURCE, RIGHT, WRONG and further WRONG, separated by tabs; with_categories: a category before them. Throws
/// Error ("FILE:LINE: ...") for fewer columns, an empty one, and what is not UTF-8; and for a file without lines.
std::vector<ContrastiveItem> read_contrastive(const std::filesystem::path& file, bool with_categories);

/// How many right translations a model scores above each of their wrong ones.
struct ContrastiveCount {
  int64_t right = 0, items = 0;

  std::string format(int width) const;  ///< "87.50 (35 of 40)", in percent
};

struct ContrastiveAccuracy {
  ContrastiveCount all = {};
  std::map<std::string, ContrastiveCount> categories = {};

  /// "contrastive accuracy = 87.50 (35 of 40)", then a line for each category. Ends with a line end.
  std::string format(int width) const;
};

/// Scores are those of Translator::score(): log-probability / length penalty. An equal score is no right one.
ContrastiveAccuracy contrastive_accuracy(std::span<const ContrastiveItem> items, const Translator& translator,
                                         const TranslationCalls& calls = {});

}  // namespace nmt
