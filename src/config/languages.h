#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/config.h"

namespace nmt {

// What a configuration says of several languages.

/// The data section with the languages of one training corpus (train1 from 0, then train_tsv) as source_language and
/// target_language.
DataConfig of_corpus(DataConfig data, size_t corpus);

/// The same of a validation or test set.
DataConfig of_set(DataConfig data, const TextSet& set);

/// The target languages of the training corpora, each once; none without data.tags.
std::vector<std::string> tagged_languages(const DataConfig& data);

}  // namespace nmt
