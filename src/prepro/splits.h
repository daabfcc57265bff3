#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "text/pairs/corpus_files.h"

namespace nmt {

/// One of train, valid, valid.NAME, test, test.NAME, and the corpora that make it up.
struct Split {
  std::string name;
  std::vector<CorpusFiles> corpora;
  bool is_training() const { return name == "train"; }
};

/// All that the data section names, the training text first. Throws Error where there is no training text.
std::vector<Split> list_splits(const DataConfig& data);

}  // namespace nmt
