#pragma once

#include <memory>
#include <span>

#include "models/search/torch_step.h"
#include "nn/inference/weights.h"
#include "search/step.h"

namespace nmt {

/// The weights for a PlainModel, as they are now, where there is one model that it can be made of; else null, and a
/// debug line of the log says why. Gradients are off and the model is in evaluation mode.
std::shared_ptr<const inference::TransformerWeights> plain_weights(std::span<const SearchModel> models);

/// What one thread searches with: a PlainModel where there are weights for it, else TorchModels. Borrows the models.
std::unique_ptr<DecodingModel> make_decoding_model(std::span<const SearchModel> models,
                                                   std::shared_ptr<const inference::TransformerWeights> plain);

}  // namespace nmt
