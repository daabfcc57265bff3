#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "text/codec/source_markers.h"

namespace nmt {

/// Sentences padded to a rectangle, as TranslationModel::start takes them.
struct SourceTensors {
  torch::Tensor ids;      ///< int64 [batch, source] pieces </s> <pad>..., or as source_markers.h; on the device
  torch::Tensor lengths;  ///< int64 [batch], on the CPU
};

/// sources: pieces without markers.
SourceTensors to_source_tensors(std::span<const std::vector<int32_t>* const> sources, const SourceForm& form,
                                torch::Device device);

}  // namespace nmt
