#pragma once

#include <algorithm>
#include <string>

#include "archive.h"
#include "base/files/protocol_buffer.h"
#include "config/config.h"
#include "convert/marian/marian_folder.h"
#include "convert/marian/marian_import.h"
#include "convert/plain/model_weights.h"
#include "fuzz_target.h"

/// The smallest model of Marian's: what stands around the files that a fuzzer changes.
namespace nmt::fuzz {

constexpr int64_t kTinyRows = 6;  // of the table of embeddings

inline ModelConfig tiny_shape() {
  ModelConfig shape;
  shape.d_model = shape.d_ff = 2;
  shape.num_heads = shape.num_blocks = 1;
  shape.encoder_blocks = shape.decoder_blocks = 1;
  return shape;
}

/// A unigram model of </s>, <unk>, <pad> and three pieces.
inline std::string tiny_sentencepiece() {
  ProtocolMessage model;
  const auto piece = [&](const char* text, uint64_t type, float score) {
    ProtocolMessage part;
    part.bytes(1, text).real32(2, score).number(3, type);
    model.message(1, part);
  };
  piece("</s>", 3, 0);
  piece("<unk>", 2, 0);
  piece("\xE2\x96\x81", 1, -1);
  piece("a", 1, -2);
  piece("b", 1, -2);
  return model.encoded();
}

/// Its tensors with the names of one of the two forms; `add(name, shape)` takes each.
template <typename Names, typename Add>
void for_each_tiny_tensor(const Names& names, Add&& add) {
  const auto shapes = convert::transformer_weights(tiny_shape(), 0, 0);
  for (const auto& [ours, theirs] : names) add(theirs, shapes.at(ours));
}

/// Reads the folder as nmt-export does.
inline void read_marian_folder(const Folder& folder) {
  takes([&] {
    const auto model = convert::read_marian(folder.path());
    require(model.codec.source().size() >= 4 && !model.weights.empty(), "a model has pieces and weights");
    for (const auto& [name, array] : model.weights)
      require(std::ssize(array.values) == convert::element_count(array.shape), "weights have all of their numbers");
  });
}

}  // namespace nmt::fuzz
