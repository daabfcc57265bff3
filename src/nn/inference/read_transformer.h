#pragma once

#include <filesystem>
#include <memory>

#include "base/threads.h"
#include "config/loading/model_description.h"
#include "nn/inference/weights.h"

namespace nmt::inference {

/// The Transformer of a model directory, its weights packed in `format` straight from its file: the same bytes that
/// TranslationModel::inference_weights() has. description: the directory's; `format` is that of its weights unless
/// these are float32. threads: that help with packing; none: the caller does all. adapter: a file whose updates are
/// added to the weights; empty: none.
/// Throws Unsupported for a model that needs its own layers, and Error where a file is damaged or not of the model.
std::shared_ptr<const TransformerWeights> read_transformer(const std::filesystem::path& directory,
                                                           const ModelDescription& description,
                                                           kernels::WeightFormat format, ThreadPool* threads = nullptr,
                                                           const std::filesystem::path& adapter = {});

}  // namespace nmt::inference
