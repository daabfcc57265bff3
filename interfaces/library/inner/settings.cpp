#include "library/inner/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "config/loading/yaml_reader.h"
#include "config/option_table.h"
#include "config/rules/changed_decoding.h"
#include "config/rules/consistency.h"
#include "config/suggestion.h"
#include "config/value.h"

namespace nmt::api {
namespace {

constexpr std::string_view kSection = "decoding";

template <typename Value>
void add(DecodingSettings& settings, const char* name, const std::optional<Value>& value) {
  if (value) settings.emplace_back(name, fmt::format("{}", *value));
}

}  // namespace

DecodingSettings parse_settings(const std::vector<std::string>& settings) {
  DecodingSettings parsed;
  for (const auto& setting : settings) {
    const size_t sign = setting.find('=');
    if (sign == 0 || sign == std::string::npos)
      throw nmt::Error(fmt::format("settings: '{}': write name=value, as in beam_size=8", shown(setting)));
    constexpr std::string_view kSection = "decoding.";  // may be there
    const auto name = std::string_view(setting).substr(0, sign);
    parsed.emplace_back(name.starts_with(kSection) ? name.substr(kSection.size()) : name, setting.substr(sign + 1));
  }
  return parsed;
}

DecodingSettings settings_of(const TranslateOptions& options) {
  DecodingSettings settings = parse_settings(options.settings);
  add(settings, "beam_size", options.beam_size);
  add(settings, "length_penalty", options.length_penalty);
  add(settings, "coverage_penalty", options.coverage_penalty);
  add(settings, "max_length_ratio", options.max_length_ratio);
  add(settings, "max_length_offset", options.max_length_offset);
  add(settings, "min_length", options.min_length);
  add(settings, "max_length", options.max_length);
  add(settings, "no_repeat_ngram_size", options.no_repeat_ngram_size);
  add(settings, "repetition_penalty", options.repetition_penalty);
  add(settings, "ban_unknown", options.ban_unknown);
  add(settings, "diversity_groups", options.diversity_groups);
  add(settings, "diversity_strength", options.diversity_strength);
  add(settings, "batch_size", options.batch_size);
  if (const auto& sampling = options.sampling) {
    if (!options.beam_size) settings.emplace_back("beam_size", "1");
    settings.emplace_back("sampling", "true");
    settings.emplace_back("temperature", fmt::format("{}", sampling->temperature));
    settings.emplace_back("top_k", fmt::format("{}", sampling->top_k));
    settings.emplace_back("top_p", fmt::format("{}", sampling->top_p));
    settings.emplace_back("seed", fmt::format("{}", sampling->seed));
  }
  return settings;
}

bool is_of_search_alone(std::string_view name) {
  // A shortlist is none of search: a score refuses one, and 0 is how a call leaves out the model's own.
  constexpr std::array<std::string_view, 10> kOfScores = {
      "length_penalty", "length_penalty_form", "coverage_penalty", "combination", "alignment_layer",
      "alignment_head", "alignment_token",     "batch_size",       "precision",   "shortlist"};
  return find_option(kSection, name) && std::ranges::find(kOfScores, name) == kOfScores.end();
}

nmt::Config with_settings(nmt::Config config, const DecodingSettings& settings) {
  if (settings.empty()) return config;
  std::vector<std::string> changed;
  for (const auto& [name, value] : settings) {
    const auto* option = find_option(kSection, name);
    if (!option)
      throw nmt::Error(fmt::format("unknown option {}{}", shown(name), suggest_option(std::string(kSection), name)));
    const std::string where = fmt::format("{} {}", name, shown(value));
    assign_value(config, *option, parse_value(*option, value, where), where);
    changed.push_back(name);
  }
  follow_changes(config.decoding, changed);
  check_consistency(config, "options");
  return config;
}

}  // namespace nmt::api
