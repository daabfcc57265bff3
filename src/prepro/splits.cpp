#include "prepro/splits.h"

#include "base/error.h"
#include "config/text_sets.h"

namespace nmt {

std::vector<Split> list_splits(const DataConfig& data) {
  const auto files = [&](const std::string& source, const std::string& target, const std::string& source_option,
                         const std::string& target_option) -> CorpusFiles {
    return {source, target, source_option, target_option, data.source_language, data.target_language};
  };
  std::vector<Split> splits{{.name = "train", .corpora = {}}};
  for (size_t i = 0; i < data.train1.size(); ++i) {
    splits[0].corpora.push_back(files(data.train1[i], data.train2[i], "data.train1", "data.train2"));
  }
  for (const auto& path : data.train_tsv) splits[0].corpora.push_back(files(path, "", "data.train_tsv", ""));
  if (splits[0].corpora.empty()) {
    throw Error("data.train1, data.train2: no training text is set; name the files, or data.train_tsv");
  }
  for (const auto& sets : {validation_sets(data), test_sets(data)})
    for (const auto& [split, text, source_option, target_option] : sets)
      splits.push_back({split, {files(text.source, text.target, source_option, target_option)}});
  return splits;
}

}  // namespace nmt
