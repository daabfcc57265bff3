// model.safetensors of a small Transformer, as nmt-translate reads it without LibTorch: each type of weight in each
// format.
#include <utility>

#include "fuzz_target.h"
#include "nn/inference/read_transformer.h"

NMT_FUZZ_TARGET(transformer_weights, input) {
  using nmt::WeightType;
  using nmt::kernels::WeightFormat;
  static const nmt::fuzz::Folder folder;
  folder.put("model.safetensors", input);
  nmt::ModelDescription description;
  description.source_vocabulary = description.target_vocabulary = 6;
  auto& model = description.config.model;
  model.d_model = model.d_ff = 4;
  model.num_blocks = 1;
  model.num_heads = 2;
  for (const auto& [stored, format] :
       {std::pair{WeightType::kFloat32, WeightFormat::kFloat32}, std::pair{WeightType::kFloat32, WeightFormat::kInt8},
        std::pair{WeightType::kBfloat16, WeightFormat::kBfloat16}, std::pair{WeightType::kInt8, WeightFormat::kInt8}}) {
    description.weights = stored;
    nmt::fuzz::takes([&, format = format] {
      const auto weights = nmt::inference::read_transformer(folder.path(), description, format);
      nmt::fuzz::require(weights->encoder.blocks.size() == 1 && weights->decoder.blocks.size() == 1,
                         "the blocks are those of the configuration");
      nmt::fuzz::require(weights->encoder.input.vocabulary == 6, "the vocabulary is the description's");
    });
  }
}
