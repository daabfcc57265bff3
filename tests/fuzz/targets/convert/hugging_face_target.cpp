// A MarianMT folder: config.json, vocab.json, tokenizer_config.json and generation_config.json are the input's parts.
#include "tiny_marian.h"

namespace {

const nmt::fuzz::Folder& folder() {
  static const nmt::fuzz::Folder folder;
  nmt::convert::Arrays arrays;
  nmt::fuzz::for_each_tiny_tensor(
      nmt::convert::marian_block_names(nmt::fuzz::tiny_shape()),
      [&](const std::string& name, const nmt::convert::Shape& shape) { arrays[name] = nmt::convert::zeros(shape); });
  for (const char* table : {"model.shared.weight", "lm_head.weight", "model.decoder.embed_tokens.weight"})
    arrays[table] = nmt::convert::zeros({nmt::fuzz::kTinyRows, 2});
  for (const char* positions : {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"})
    arrays[positions] = nmt::convert::zeros({3, 2});
  arrays["final_logits_bias"] = nmt::convert::zeros({1, nmt::fuzz::kTinyRows});
  nmt::convert::write_safetensors(folder.path() / "model.safetensors", arrays);
  for (const char* name : {"source.spm", "target.spm"}) folder.put(name, nmt::fuzz::tiny_sentencepiece());
  return folder;
}

}  // namespace

NMT_FUZZ_TARGET(hugging_face, input) {
  static const auto& where = folder();
  const auto parts = nmt::fuzz::parts_of(input, 4);
  const char* names[] = {"config.json", "vocab.json", "tokenizer_config.json", "generation_config.json"};
  for (size_t i = 0; i < parts.size(); ++i) {
    std::filesystem::remove(where.path() / names[i]);
    if (!parts[i].empty()) where.put(names[i], parts[i]);
  }
  nmt::fuzz::read_marian_folder(where);
}
