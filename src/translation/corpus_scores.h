#pragma once

#include <filesystem>

#include "base/process/log.h"
#include "data/pair_scores.h"
#include "translation/line_stream.h"
#include "translation/model_set.h"

namespace nmt {

/// Scores the training pairs of a prepared folder, and writes their column beside train.bin (data/pair_scores.h):
/// `forward`, or `backward` where the models translate from its target language to its source language. The score of a
/// pair is log p / pieces, </s> counted (Translator::score). What was scored before a kill stays: the same models
/// continue there. Returns what was done in this call. Throws Error for a folder that holds no prepared data, or data
/// of other languages.
LineStreamStatistics score_corpus(const std::filesystem::path& folder, const ModelSet& models,
                                  const Translator& translator, const std::function<bool()>& stop, Logger& log);

}  // namespace nmt
