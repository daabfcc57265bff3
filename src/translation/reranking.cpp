#include "translation/reranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "text/language_code.h"

namespace nmt {
namespace {

namespace fs = std::filesystem;

fs::path file_of(const fs::path& model) { return model / "rerank.json"; }

std::string languages_of(const ReadyModel& model) {
  const auto& [source, target] = std::tie(model.codec.options().source_language, model.codec.options().target_language);
  return fmt::format("{} to {}", source.empty() ? "?" : source, target.empty() ? "?" : target);
}

/// Whether `model` reads what `ranked` writes.
bool is_reversed(const ReadyModel& model, const ReadyModel& ranked) {
  const auto& own = model.codec.options();
  const auto& other = ranked.codec.options();
  const auto same = [](const std::string& one, const std::string& another) {
    return !one.empty() && !another.empty() && !are_other_languages(one, another);
  };
  if (same(own.source_language, other.source_language) && same(own.target_language, other.target_language))
    return false;
  if (same(own.source_language, other.target_language) && same(own.target_language, other.source_language)) return true;
  throw Error(fmt::format(
      "{}: translates from {}, and {} from {}: a model that reranks has the same languages in one direction or the "
      "other (data.source_language, data.target_language)",
      model.directory.string(), languages_of(model), ranked.directory.string(), languages_of(ranked)));
}

}  // namespace

std::vector<double> Reranking::weights() const {
  std::vector<double> result;
  for (const auto& model : models) result.push_back(model.weight);
  result.push_back(length);
  return result;
}

Reranking read_reranking(const fs::path& model) {
  const auto file = file_of(model);
  if (!fs::exists(file))
    throw Error(fmt::format("{}: is not there; nmt-eval --tune-rerank DIR writes it", file.string()));
  const auto json = read_json_file(file);
  try {
    Reranking reranking{.length = json.at("length").get<double>()};
    for (const auto& one : json.at("models"))
      reranking.models.push_back({.directory = one.at("directory").get<std::string>(),
                                  .sha256 = one.at("sha256").get<std::string>(),
                                  .weight = one.at("weight").get<double>()});
    const auto weights = reranking.weights();
    if (!std::ranges::all_of(weights, [](double weight) { return std::isfinite(weight); }))
      throw Error(fmt::format("{}: a weight is no finite number; tune again", file.string()));
    return reranking;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: not written by nmt-eval --tune-rerank ({}); tune again", file.string(), error.what()));
  }
}

void write_reranking(const fs::path& model, const Reranking& reranking, nlohmann::ordered_json tuned) {
  nlohmann::ordered_json json = {{"models", nlohmann::ordered_json::array()}, {"length", reranking.length}};
  for (const auto& [directory, sha256, weight] : reranking.models)
    json["models"].push_back({{"directory", directory.string()}, {"sha256", sha256}, {"weight", weight}});
  json["tuned"] = std::move(tuned);
  write_file_atomically(file_of(model), json.dump(1) + "\n");
}

Reranker::Reranker(Reranking reranking, const ReadyModel& ranked, const std::string& device, int threads)
    : reranking_(std::move(reranking)) {
  for (auto& [directory, sha256, weight] : reranking_.models) {
    const fs::path path = directory.is_absolute() ? directory : ranked.directory / directory;
    const std::string found = sha256_of_file(path / "model.safetensors");
    if (!sha256.empty() && sha256 != found)
      throw Error(fmt::format("{}: its weights are others than when {} was written; run nmt-eval --tune-rerank again",
                              path.string(), file_of(ranked.directory).string()));
    sha256 = found;
    Model model;
    model.models =
        std::make_unique<ModelSet>(ModelSetOptions{.directories = {path}, .device = device, .threads = threads});
    model.reversed = is_reversed(model.models->first(), ranked);
    auto options = model.models->options();
    options.search.shortlist = 0;  // scores are over the whole vocabulary
    model.translator = std::make_unique<Translator>(model.models->members(), std::move(options));
    models_.push_back(std::move(model));
  }
}

RerankFeatures Reranker::features(std::span<const std::string> sources, std::span<const Translation> translations,
                                  const TranslationCalls& calls) const {
  const TranslationCalls only_stop{.stopped = calls.stopped};  // these are no lines done
  RerankFeatures result(translations.size());
  for (const auto& model : models_) {
    std::vector<TextPair> pairs;
    for (size_t i = 0; i < translations.size(); ++i)
      for (const auto& one : translations[i].alternatives)
        pairs.push_back(model.reversed ? TextPair{one.text, sources[i]} : TextPair{sources[i], one.text});
    const auto scored = model.translator->score(pairs, only_stop);
    auto next = scored.begin();
    for (size_t i = 0; i < translations.size(); ++i) {
      result[i].resize(translations[i].alternatives.size());
      for (auto& row : result[i]) {
        row.push_back(next->log_probability / static_cast<double>(std::max<int64_t>(1, next->tokens)));
        ++next;
      }
    }
  }
  for (size_t i = 0; i < translations.size(); ++i) {
    result[i].resize(translations[i].alternatives.size());
    for (size_t k = 0; k < result[i].size(); ++k)
      result[i][k].push_back(static_cast<double>(translations[i].alternatives[k].tokens));
  }
  return result;
}

void Reranker::rank(std::span<const std::string> sources, std::vector<Translation>& translations, int64_t n_best,
                    const TranslationCalls& calls) const {
  rank_by_features(translations, features(sources, translations, calls), reranking_.weights(), n_best);
}

void rank_by_features(std::vector<Translation>& translations, const RerankFeatures& features,
                      std::span<const double> weights, int64_t n_best) {
  for (size_t i = 0; i < translations.size(); ++i) {
    auto& alternatives = translations[i].alternatives;
    if (alternatives.empty()) continue;
    std::vector<double> sums;
    for (size_t k = 0; k < alternatives.size(); ++k)
      sums.push_back(std::inner_product(weights.begin(), weights.end(), features[i][k].begin(), alternatives[k].score));
    std::vector<size_t> order(alternatives.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t k) {
      return std::tuple(alternatives[k].finished, alternatives[k].meets_constraints, sums[k]);
    });
    order.resize(std::min(order.size(), static_cast<size_t>(n_best)));
    std::vector<Alternative> ranked;
    for (const size_t k : order) ranked.push_back(std::move(alternatives[k]));
    alternatives = std::move(ranked);
    translations[i].text = alternatives.front().text;
    translations[i].target_tokens = alternatives.front().tokens;
  }
}

TranslatorOptions options_for_reranking(TranslatorOptions options) {
  options.validate();
  auto& search = options.search;
  if (search.beam_size < 2 || search.sampling || search.mbr != RiskUtility::kNone)
    throw Error(
        "--rerank: chooses among the translations of a beam; use --beam-size 2 or more, neither --sampling nor "
        "--mbr");
  search.n_best = search.beam_size;
  return options;
}

}  // namespace nmt
