#include "convert/plain/plain_safetensors.h"

#include <fmt/format.h>

#include "base/files/file.h"
#include "config/json.h"
#include "convert/plain/model_weights.h"
#include "convert/plain/transformer_parts.h"

namespace nmt::convert {
namespace {

/// torch.nn.Transformer joins the projections of an attention and numbers its norms.
class Renamer {
 public:
  explicit Renamer(const PlainModel& model) : model_(model), config_(model.config.model) {}

  Arrays run() {
    for (int64_t i = 0; i < encoder_blocks(config_); ++i) {
      const auto ours = fmt::format("encoder_{}.", i), theirs = fmt::format("encoder.layers.{}.", i);
      attention(ours + "self_attention", theirs + "self_attn", theirs + "norm1");
      feed_forward(ours, theirs, theirs + "norm2");
    }
    for (int64_t i = 0; i < decoder_blocks(config_); ++i) {
      const auto ours = fmt::format("decoder_{}.", i), theirs = fmt::format("decoder.layers.{}.", i);
      attention(ours + "self_attention", theirs + "self_attn", theirs + "norm1");
      attention(ours + "cross_attention", theirs + "multihead_attn", theirs + "norm2");
      feed_forward(ours, theirs, theirs + "norm3");
    }
    for (const char* side : {"encoder", "decoder"})
      for (const char* part : {".weight", ".bias"})
        if (model_.weights.contains(std::string(side) + "_norm" + part))
          arrays_[fmt::format("{}.norm{}", side, part)] = model_.weight(std::string(side) + "_norm" + part);
    for (const auto& [name, array] : model_.weights)  // embeddings, positions, output layer
      if (name.find('.') == std::string::npos || name.find("positions") != std::string::npos) arrays_[name] = array;
    return std::move(arrays_);
  }

 private:
  void copy(const std::string& ours, const std::string& theirs) {
    for (const char* part : {".weight", ".bias"})
      if (model_.weights.contains(ours + part)) arrays_[theirs + part] = model_.weight(ours + part);
  }

  Array projection(const std::string& name, const char* part) const {
    return repeat_heads(model_.weight(name + part), config_);
  }

  void attention(const std::string& ours, const std::string& theirs, const std::string& norm) {
    for (const std::string part : {".weight", ".bias"}) {
      if (!model_.weights.contains(ours + ".query" + part)) continue;
      const auto& query = model_.weight(ours + ".query" + part);
      const auto key = projection(ours + ".key", part.c_str()), value = projection(ours + ".value", part.c_str());
      arrays_[theirs + ".in_proj_" + part.substr(1)] = join_rows({&query, &key, &value});
    }
    if (config_.attention_output_projection)
      copy(ours + ".output", theirs + ".out_proj");
    else
      arrays_[theirs + ".out_proj.weight"] = identity(config_.d_model);
    copy(ours + "_norm", norm);
  }

  void feed_forward(const std::string& ours, const std::string& theirs, const std::string& norm) {
    copy(ours + "feed_forward.inner", theirs + "linear1");
    copy(ours + "feed_forward.outer", theirs + "linear2");
    copy(ours + "feed_forward_norm", norm);
  }

  const PlainModel& model_;
  const ModelConfig& config_;
  Arrays arrays_;
};

}  // namespace

std::string torch_obstacle(const PlainModel& model) {
  const ModelConfig& config = model.config.model;
  if (auto obstacle = plain_transformer_obstacle(config); !obstacle.empty()) return obstacle;
  if (config.activation != FeedForwardActivation::kRelu && config.activation != FeedForwardActivation::kGelu)
    return "model.activation: " + config.activation.name();
  return config.norm_form == NormForm::kLayer ? "" : "model.norm_form: " + config.norm_form.name();
}

void write_plain_safetensors(const std::filesystem::path& directory, const PlainModel& model) {
  check_weights(model);
  const bool fits = torch_obstacle(model).empty();
  write_safetensors(directory / "model.safetensors", fits ? Renamer(model).run() : model.weights);
  write_file_atomically(directory / "config.json", to_json(model.config).dump(2) + "\n");
  model.codec.save(directory);
}

}  // namespace nmt::convert
