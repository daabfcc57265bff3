#include "config/suggestion.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/edit_distance.h"
#include "config/option_table.h"

namespace nmt {
namespace {

constexpr size_t kLongestName = 64;  // a distance costs the product of both lengths
constexpr std::string_view kWhereToLook = "; docs/options.md and --print-config have every option";

/// What other toolkits call it.
const std::map<std::string_view, std::string_view>& other_names() {
  static const std::map<std::string_view, std::string_view> names{
      {"attention_dropout", "model.attention_dropout_rate"},
      {"beam", "decoding.beam_size"},
      {"beta1", "training.adam_beta1"},
      {"beta2", "training.adam_beta2"},
      {"clip_gradient", "training.clip_norm"},
      {"clip_grad_norm", "training.clip_norm"},
      {"dev1", "data.eval1"},
      {"dev2", "data.eval2"},
      {"dropout", "model.dropout_rate"},
      {"early_stopping", "validation.patience"},
      {"embedding_size", "model.d_model"},
      {"epochs", "training.num_epochs"},
      {"epsilon", "training.adam_epsilon"},
      {"ffn_size", "model.d_ff"},
      {"gradient_accumulation", "training.accumulate"},
      {"heads", "model.num_heads"},
      {"hidden_size", "model.d_model"},
      {"label_smoothing", "training.smoothing"},
      {"layers", "model.num_blocks"},
      {"learning_rate", "training.lr"},
      {"lenpen", "decoding.length_penalty"},
      {"lr_scheduler", "training.schedule"},
      {"max_epochs", "training.num_epochs"},
      {"max_grad_norm", "training.clip_norm"},
      {"max_len", "data.maxlen1"},
      {"max_steps", "training.max_updates"},
      {"max_tokens", "training.batch_size"},
      {"num_layers", "model.num_blocks"},
      {"scheduler", "training.schedule"},
      {"seed", "run.seed"},
      {"src_lang", "data.source_language"},
      {"train_steps", "training.max_updates"},
      {"trg_lang", "data.target_language"},
      {"tgt_lang", "data.target_language"},
      {"update_freq", "training.accumulate"},
      {"valid1", "data.eval1"},
      {"valid2", "data.eval2"},
      {"warmup", "training.warmup_steps"},
      {"warmup_updates", "training.warmup_steps"},
  };
  return names;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// The option whose name is nearest; options of the same section win ties.
std::optional<std::string> nearest_option(const std::string& section, const std::string& name) {
  std::optional<std::string> nearest;
  size_t best = 2 * tolerated_distance(name) + 2;
  for (const Option& option : options()) {
    const size_t distance = 2 * edit_distance(name, option.name) + (option.section == section ? 0 : 1);
    if (distance >= best) continue;
    best = distance;
    nearest = option.key();
  }
  return nearest;
}

}  // namespace

std::string suggest_option(const std::string& section, const std::string& name) {
  if (name.size() > kLongestName) return std::string(kWhereToLook);
  const std::string plain = lower(name);
  const std::optional<std::string> nearest = nearest_option(section, plain);
  const auto other = other_names().find(plain);
  std::optional<std::string> found = nearest;
  const auto has_that_name = [&](std::string_view key) { return key.ends_with("." + plain); };
  // An option of just that name comes before another name; of several the one that is meant most often.
  if (other != other_names().end() && (!nearest || !has_that_name(*nearest) || has_that_name(other->second)))
    found = other->second;
  return found ? "; did you mean " + *found + "?" : std::string(kWhereToLook);
}

std::string suggest_section(const std::string& name) {
  const std::string plain = lower(name.substr(0, kLongestName));
  std::string all;
  for (const Section& section : sections()) {
    const bool near = edit_distance(plain, section.name) <= tolerated_distance(plain);
    const bool begins = plain.size() >= 3 && (section.name.starts_with(plain) || plain.starts_with(section.name));
    if (near || begins) return "; did you mean " + std::string(section.name) + "?";
    all += (all.empty() ? "" : ", ") + std::string(section.name);
  }
  return "; the sections are " + all;
}

}  // namespace nmt
