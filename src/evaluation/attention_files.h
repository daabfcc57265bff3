#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "evaluation/test_set.h"
#include "models/model_directory.h"

namespace nmt {

/// FOLDER/N.svg for each sentence N (from 1): the last layer where the target looks at the source, when the model reads
/// its own translation; FOLDER/N.json: the weights of all layers. Throws Error for a model without attention, and as
/// write_file_atomically.
void write_attention(const std::filesystem::path& folder, std::span<const int64_t> sentences, const LoadedModel& loaded,
                     const TestSet& test_set, const std::vector<std::string>& hypotheses);

}  // namespace nmt
