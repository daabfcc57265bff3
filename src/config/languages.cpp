#include "config/languages.h"

#include <algorithm>
#include <utility>

namespace nmt {
namespace {

DataConfig with_languages(DataConfig data, const std::string& pair) {
  if (pair.empty()) return data;
  const size_t hyphen = pair.find('-');
  data.source_language = pair.substr(0, hyphen);
  data.target_language = pair.substr(hyphen + 1);
  return data;
}

}  // namespace

DataConfig of_corpus(DataConfig data, size_t corpus) {
  const std::string pair = data.languages.empty() ? "" : data.languages.at(corpus);
  return with_languages(std::move(data), pair);
}

DataConfig of_set(DataConfig data, const TextSet& set) { return with_languages(std::move(data), set.languages); }

std::vector<std::string> tagged_languages(const DataConfig& data) {
  std::vector<std::string> languages;
  if (data.tags == LanguageTags::kNone) return languages;
  for (size_t corpus = 0; corpus < data.train1.size() + data.train_tsv.size(); ++corpus)
    if (const auto target = of_corpus(data, corpus).target_language;
        std::ranges::find(languages, target) == languages.end())
      languages.push_back(target);
  return languages;
}

}  // namespace nmt
