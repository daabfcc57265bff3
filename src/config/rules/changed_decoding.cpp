#include "config/rules/changed_decoding.h"

#include <algorithm>
#include <string_view>

namespace nmt {

void follow_changes(DecodingConfig& decoding, std::span<const std::string> changed) {
  const DecodingConfig defaults;
  const auto is_changed = [&](std::string_view name) { return std::ranges::find(changed, name) != changed.end(); };
  const auto reset = [&](std::string_view name, auto field) {
    if (!is_changed(name)) decoding.*field = defaults.*field;
  };
  if (decoding.sampling && !is_changed("beam_size")) decoding.beam_size = 1;
  if (is_changed("sampling") && !decoding.sampling) {
    reset("temperature", &DecodingConfig::temperature);
    reset("top_k", &DecodingConfig::top_k);
    reset("top_p", &DecodingConfig::top_p);
    reset("seed", &DecodingConfig::seed);
  }
  if (is_changed("diversity_groups") && decoding.diversity_groups == 1)
    reset("diversity_strength", &DecodingConfig::diversity_strength);
  if (is_changed("shortlist") && decoding.shortlist == 0)
    reset("shortlist_frequent", &DecodingConfig::shortlist_frequent);
}

}  // namespace nmt
