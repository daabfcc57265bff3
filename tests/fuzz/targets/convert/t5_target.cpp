// A T5 folder: config.json, generation_config.json and spiece.model are the input's parts; without the last, a small
// one.
#include <memory>

#include "base/files/protocol_buffer.h"
#include "convert/plain/model_weights.h"
#include "convert/t5/t5_import.h"
#include "convert/t5/t5_parts.h"
#include "fuzz_target.h"

namespace {

constexpr int64_t kRows = 8;  // of the table of tokens: six pieces, a sentinel, one for nothing

std::string tiny_pieces() {
  nmt::ProtocolMessage model;
  const auto piece = [&](const char* text, uint64_t type, float score) {
    nmt::ProtocolMessage part;
    part.bytes(1, text).real32(2, score).number(3, type);
    model.message(1, part);
  };
  piece("<pad>", 3, 0);
  piece("</s>", 3, 0);
  piece("<unk>", 2, 0);
  piece("\xE2\x96\x81", 1, -1);
  piece("a", 1, -2);
  piece("b", 1, -2);
  return model.encoded();
}

/// A block each, model 4, two heads of 2, feed-forward nets of this kind.
std::unique_ptr<nmt::fuzz::Folder> folder_of(nmt::FeedForwardActivation activation) {
  auto folder = std::make_unique<nmt::fuzz::Folder>();
  nmt::ModelConfig config;
  config.d_model = 4;
  config.d_ff = config.num_heads = 2;
  config.num_blocks = 1;
  config.norm = nmt::Norm::kPre;
  config.norm_form = nmt::NormForm::kRms;
  config.positions = nmt::PositionKind::kT5;
  config.attention_bias = false;
  config.activation = activation;
  nmt::convert::Arrays arrays;
  const auto shapes = nmt::convert::transformer_weights(config, 0, 0);
  for (const auto& weight : nmt::convert::t5_weights(config))
    arrays[weight.theirs] = nmt::convert::zeros(shapes.at(weight.ours));
  arrays["shared.weight"] = nmt::convert::zeros({kRows, 4});
  arrays["lm_head.weight"] = nmt::convert::zeros({kRows, 4});
  arrays["lm_head.weight"].values.front() = 1;
  nmt::convert::write_safetensors(folder->path() / "model.safetensors", arrays);
  return folder;
}

void read(const std::filesystem::path& path, const nmt::convert::T5Choice& choice) {
  nmt::fuzz::takes([&] {
    const auto model = nmt::convert::read_t5(path, choice);
    nmt::fuzz::require(model.codec.source().size() >= 4 && !model.weights.empty(), "a model has pieces and weights");
    for (const auto& [name, array] : model.weights)
      nmt::fuzz::require(std::ssize(array.values) == nmt::convert::element_count(array.shape),
                         "weights have all of their numbers");
    nmt::fuzz::look_at(model.codec.encode_source("a b"));
  });
}

}  // namespace

NMT_FUZZ_TARGET(t5, input) {
  static const auto plain = folder_of(nmt::FeedForwardActivation::kRelu);
  static const auto gated = folder_of(nmt::FeedForwardActivation::kGegluTanh);
  static const std::string pieces = tiny_pieces();
  const auto parts = nmt::fuzz::parts_of(input, 3);
  const auto& where = parts[0].find("gated") == parts[0].npos ? *plain : *gated;
  const char* names[] = {"config.json", "generation_config.json"};
  for (size_t i = 0; i < std::size(names); ++i) {
    std::filesystem::remove(where.path() / names[i]);
    if (!parts[i].empty()) where.put(names[i], parts[i]);
  }
  where.put("spiece.model", parts[2].empty() ? pieces : parts[2]);
  read(where.path(), {});
  read(where.path(), {.task = "translation_en_to_de", .source_prefix = {}});
}
