#include "models/transformer/deep_init.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace nmt {
namespace {

double encoder_blocks(const ModelConfig& c) { return static_cast<double>(c.encoder_blocks.value_or(c.num_blocks)); }
double decoder_blocks(const ModelConfig& c) { return static_cast<double>(c.decoder_blocks.value_or(c.num_blocks)); }

/// N^4 M
double encoder_depth(const ModelConfig& c) { return std::pow(encoder_blocks(c), 4) * decoder_blocks(c); }

}  // namespace

double residual_weight(const ModelConfig& config, Stack stack) {
  if (config.deep_init != "deepnet") return 1;
  if (stack == Stack::kEncoder) return 0.81 * std::pow(encoder_depth(config), 1.0 / 16);
  return std::pow(3 * decoder_blocks(config), 1.0 / 4);
}

double initial_gain(const std::string& name, const ModelConfig& config) {
  const bool encoder = name.starts_with("encoder_"),
             decoder = name.starts_with("decoder_");  // encoder_0.feed_forward...
  const size_t digits = std::string_view("encoder_").size();
  if ((!encoder && !decoder) || !std::isdigit(static_cast<unsigned char>(name[digits]))) return 1;
  if (config.deep_init == "depth_scaled") return 1 / std::sqrt(1.0 + std::atoi(name.c_str() + digits));
  if (config.deep_init != "deepnet") return 1;
  const bool scaled = name.find(".feed_forward.") != std::string::npos || name.ends_with(".value.weight") ||
                      name.ends_with(".output.weight");
  if (!scaled) return 1;
  return encoder ? 0.87 * std::pow(encoder_depth(config), -1.0 / 16) : std::pow(12 * decoder_blocks(config), -1.0 / 4);
}

}  // namespace nmt
