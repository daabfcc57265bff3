#include "convert/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/process/log.h"
#include "convert/marian/marian_export.h"
#include "convert/plain/ctranslate2.h"
#include "convert/plain/model_weights.h"
#include "convert/plain/plain_safetensors.h"
#include "text/codec/language_tags.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace nmt::convert {
namespace {

/// Embeddings, encoder, decoder, output layer: by the first word of the name.
std::string part_of(const std::string& name) {
  if (name.find("embedding") != std::string::npos) return "embeddings";
  if (name.starts_with("output")) return "output layer";
  return name.substr(0, name.find_first_of("_."));
}

std::string sizes(const ModelConfig& c) {
  if (c.architecture != Architecture::kTransformer) return fmt::format("{} cells, state {}", c.cell.name(), c.d_model);
  return fmt::format("{} + {} blocks, model {}, feed-forward {} ({}), {} heads", encoder_blocks(c), decoder_blocks(c),
                     c.d_model, c.d_ff, c.activation.name(), c.num_heads);
}

std::string form(const ModelConfig& c) {
  if (c.architecture != Architecture::kTransformer)
    return fmt::format("decoder {}, score {}", c.decoder_order.name(), c.attention_score.name());
  return fmt::format("{}-norm ({}, epsilon {}), positions {}{}, embeddings tied: {}", c.norm.name(), c.norm_form.name(),
                     c.norm_epsilon, c.positions.name(),
                     c.positions == PositionKind::kSinusoidal ? " " + c.sinusoid.name() : "", c.tie_embeddings.name());
}

std::string fit(const std::string& obstacle) { return obstacle.empty() ? "yes" : "no (" + obstacle + ")"; }

}  // namespace

std::string describe(const PlainModel& model) {
  const ModelConfig& c = model.config.model;
  const auto& codec = model.codec;
  std::string text;
  const auto line = [&](const char* what, const std::string& value) {
    text += fmt::format("{:<13} {}\n", what, value);
  };
  line("model", model.name);
  line("languages", codec.options().source_language + " -> " + codec.options().target_language);
  if (codec.options().tags_both_sides)
    line("", fmt::format("between any two of {}", fmt::join(target_languages(codec), ", ")));
  line("architecture", c.architecture.name() + ": " + sizes(c));
  line("", form(c));
  const bool pieces = dynamic_cast<const SentencePieceTokenizer*>(&codec.source()) != nullptr;
  line("tokenizer", fmt::format("{}{}{}", pieces ? "SentencePiece" : "words",
                                codec.joint() ? ", one for both languages" : ", one for each language",
                                codec.options().lowercase ? ", lower-cased" : ""));
  if (const auto& prefix = codec.options().source_prefix; !prefix.empty()) line("", "before each source: " + prefix);
  line("vocabulary",
       fmt::format("{} source, {} target", with_commas(codec.source().size()), with_commas(codec.target().size())));
  std::map<std::string, int64_t> parts;
  int64_t total = 0;
  for (const auto& [name, array] : model.weights) {
    parts[part_of(name)] += std::ssize(array.values);
    total += std::ssize(array.values);
  }
  line("parameters", with_commas(total));
  for (const auto& [part, count] : parts) line("", fmt::format("{:>13} {}", with_commas(count), part));
  line("weights", model.stored.name());
  const auto& decoding = model.config.decoding;
  line("decoding", fmt::format("beam {}, length penalty {} ({})", decoding.beam_size, decoding.length_penalty,
                               decoding.length_penalty_form.name()));
  for (const auto& [key, value] : model.summary.items())
    line("training", fmt::format("{}: {}", key, value.is_string() ? value.get<std::string>() : value.dump()));
  if (model.stored != WeightType::kFloat32) {
    line("exports", "none: of the float32 directory that it was made of");
    return text;
  }
  line("ctranslate2", fit(ctranslate2_obstacle(model)));
  line("marian", fit(marian_obstacle(model)));
  line("safetensors",
       torch_obstacle(model).empty() ? "yes, names of torch.nn.Transformer" : "yes, names of this toolkit");
  return text;
}

}  // namespace nmt::convert
