#include "evaluation/evaluation_report.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "config/json.h"

namespace nmt {

nlohmann::ordered_json report_of(const SystemOutput& system, const std::vector<scoring::Score>& scores) {
  nlohmann::ordered_json report = {{"model", system.name}, {"scores", nlohmann::ordered_json::array()}};
  for (const auto& item : scores) {
    nlohmann::ordered_json entry = {{"name", item.name}, {"score", item.score}};
    if (item.signature) entry["signature"] = item.signature->text();
    if (!item.details.empty()) entry["details"] = item.details;
    if (item.confidence) {
      entry["confidence"] = {{"mean", item.confidence->mean}, {"half_width", item.confidence->half_width}};
    }
    entry["text"] = item.format();
    report["scores"].push_back(std::move(entry));
  }
  const double seconds = std::max(system.seconds, 1e-9);
  report["source_tokens"] = system.source_tokens;
  report["target_tokens"] = system.target_tokens;
  report["translated_in_parts"] = system.split;
  report["cut_at_length_limit"] = system.cut;
  report["seconds"] = system.seconds;
  report["sentences_per_second"] = static_cast<double>(system.hypotheses.size()) / seconds;
  report["target_tokens_per_second"] = static_cast<double>(system.target_tokens) / seconds;
  return report;
}

nlohmann::ordered_json report_of(const TestSet& test_set) {
  nlohmann::ordered_json references = nlohmann::ordered_json::array();
  for (const auto& path : test_set.reference_files) references.push_back(path.string());
  nlohmann::ordered_json report = {{"source", test_set.source_file.string()},
                                   {"references", std::move(references)},
                                   {"sentences", test_set.sources.size()}};
  if (!test_set.name.empty()) report["name"] = test_set.name;
  if (test_set.left_out > 0) report["left_out"] = test_set.left_out;
  return report;
}

nlohmann::ordered_json report_of(const DecodingConfig& decoding) {
  static constexpr std::string_view kAlways[] = {"beam_size",        "length_penalty",    "length_penalty_form",
                                                 "max_length_ratio", "max_length_offset", "stopping"};
  static constexpr std::string_view kOfSpeed[] = {"batch_size", "precision"};
  Config config;
  const auto usual = to_json(config).at("decoding");
  config.decoding = decoding;
  nlohmann::ordered_json report;
  for (const auto& [name, value] : to_json(config).at("decoding").items()) {
    if (std::ranges::find(kOfSpeed, name) != std::end(kOfSpeed)) continue;
    if (value != usual.at(name) || std::ranges::find(kAlways, name) != std::end(kAlways)) report[name] = value;
  }
  return report;
}

nlohmann::ordered_json report_of(const scoring::PairedTable& table) {
  nlohmann::ordered_json report = {{"test", "paired bootstrap resampling"},
                                   {"samples", table.samples},
                                   {"columns", nlohmann::ordered_json::array()}};
  for (const auto& column : table.columns) {
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    for (size_t i = 0; i < column.results.size(); ++i) {
      const auto& result = column.results[i];
      nlohmann::ordered_json entry = {{"system", table.systems[i]}, {"score", result.score}};
      if (result.p_value) entry["p_value"] = *result.p_value;
      if (result.mean) entry["mean"] = *result.mean;
      if (result.half_width) entry["half_width"] = *result.half_width;
      results.push_back(std::move(entry));
    }
    report["columns"].push_back(
        {{"metric", column.metric}, {"signature", column.signature.text()}, {"results", std::move(results)}});
  }
  return report;
}

}  // namespace nmt
