#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace nmt {
namespace {

std::vector<ConfiguredSet> configured(const std::string& split, const std::string& option, const std::string& source,
                                      const std::string& target, const std::vector<TextSet>& list) {
  std::vector<ConfiguredSet> sets;
  if (!source.empty() && !target.empty())
    sets.push_back({.split = split,
                    .text = {.name = {}, .source = source, .target = target},
                    .source_option = option + "1",
                    .target_option = option + "2"});
  for (const auto& set : list)
    sets.push_back({.split = sets.empty() ? split : fmt::format("{}.{}", split, set.name),
                    .text = set,
                    .source_option = option,
                    .target_option = option});
  return sets;
}

}  // namespace

std::optional<KeepBest> parse_keep_best(std::string_view text) {
  const size_t space = std::min(text.find(' '), text.size());
  const auto number = text.substr(std::min(space + 1, text.size()));
  KeepBest best;
  Choice<PairScore> score = PairScore::kNone;
  if (!score.assign(text.substr(0, space)) || score == PairScore::kNone) return std::nullopt;
  best.score = score;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), best.share);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  return is_number && best.share > 0 && best.share <= 1 ? std::optional(best) : std::nullopt;
}

std::vector<ConfiguredSet> validation_sets(const DataConfig& data) {
  return configured("valid", "data.eval", data.eval1, data.eval2, data.eval);
}

std::vector<ConfiguredSet> test_sets(const DataConfig& data) {
  return configured("test", "data.test", data.test1, data.test2, data.test);
}

std::vector<int64_t> corpora_named(const DataConfig& data, std::string_view name) {
  auto files = data.train1;
  files.insert(files.end(), data.train_tsv.begin(), data.train_tsv.end());
  std::vector<int64_t> whole, short_names;
  for (int64_t i = 0; i < std::ssize(files); ++i) {
    const std::string file = std::filesystem::path(files[i]).filename();
    if (files[i] == name) whole.push_back(i);
    if (file.substr(0, file.find('.')) == name) short_names.push_back(i);
  }
  return whole.empty() ? short_names : whole;
}

}  // namespace nmt
