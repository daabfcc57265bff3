#include "data/pair_scores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/line_reader.h"
#include "base/process/log.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

using nlohmann::json;

constexpr const char* kScoreFormat = "nmt pair scores";
constexpr int kScoreVersion = 1;
constexpr size_t kLongestLine = 1 << 16;

[[noreturn]] void refuse_scores(const fs::path& path, const std::string& why) {
  throw Error(fmt::format("{}: {}; remove it and make the scores again", path.string(), why));
}

void check_header(const fs::path& path, std::string_view line, const SplitRecord& train) {
  const auto header = parse_json_or_null(line, {.bytes = kLongestLine, .depth = 8, .values = 4096});
  try {
    if (header.at("format") != kScoreFormat || header.at("version") != kScoreVersion)
      refuse_scores(path, "no scores of this version");
    if (header.at("train") != train.sha256 || header.at("pairs").get<int64_t>() != train.pairs)
      refuse_scores(path, "the scores of another train.bin");
  } catch (const json::exception&) {
    refuse_scores(path, "damaged in its first line");
  }
}

std::vector<float> read_column(const fs::path& path, const SplitRecord& train) {
  LineReader lines(path, {.bytes = kLongestLine});
  check_header(path, lines.next().value_or(""), train);
  std::vector<float> scores;
  while (const auto line = lines.next()) {
    double score = 1;
    const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), score);
    const bool is_score =
        error == std::errc() && end == line->data() + line->size() && score >= kWorstScore && score <= 0;
    if (!is_score || std::ssize(scores) == train.pairs)
      refuse_scores(path, fmt::format("line {} is no score of a pair", lines.line_number()));
    scores.push_back(static_cast<float>(score));
  }
  if (std::ssize(scores) != train.pairs)
    refuse_scores(path, fmt::format("{} scores for {} pairs", scores.size(), train.pairs));
  return scores;
}

std::set<PairScore> columns_of(PairScore score) {
  if (score == PairScore::kNone) return {};
  if (score == PairScore::kDual) return {PairScore::kForward, PairScore::kBackward};
  return {score};
}

/// Throws Error with a part for each that is missing.
void require_columns(const fs::path& folder, const std::set<PairScore>& columns) {
  std::vector<std::string> missing;
  for (const PairScore column : columns) {
    const auto path = score_file(folder, column);
    if (fs::is_regular_file(path)) continue;
    const auto maker =
        column == PairScore::kAligner
            ? "nmt-prepro makes it where data.alignment is true"
            : fmt::format(
                  "nmt-translate -m MODEL --score-corpus {} makes it, with a model {}", folder.string(),
                  column == PairScore::kForward ? "from source to target language" : "from target to source language");
    missing.push_back(fmt::format("{}: is not there; {}", path.string(), maker));
  }
  if (!missing.empty()) throw Error(fmt::format("{}", fmt::join(missing, "; ")));
}

/// How many of the pairs of each training corpus stay; their pairs stand one behind the other.
std::vector<std::string> kept_of_corpora(const std::vector<float>& weights, const std::vector<CleaningRow>& rows) {
  std::vector<std::string> kept;
  for (auto pair = weights.begin(); const auto& row : rows) {
    if (!row.is_training) continue;
    const auto end = pair + std::clamp<int64_t>(row.counts.kept(), 0, weights.end() - pair);
    kept.push_back(fmt::format("  {}: {} of {} stay", row.name, with_commas(std::count(pair, end, 1.0F)),
                               with_commas(end - pair)));
    pair = end;
  }
  if (kept.size() == 1) kept.clear();
  return kept;
}

}  // namespace

fs::path score_file(const fs::path& folder, PairScore score) { return folder / (name_of(score) + ".scores"); }

std::string score_header(const SplitRecord& train, const json& made_by) {
  const json header = {{"format", kScoreFormat},
                       {"version", kScoreVersion},
                       {"train", train.sha256},
                       {"pairs", train.pairs},
                       {"made_by", made_by}};
  return header.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string score_line(double score) {
  return fmt::format("{:.6f}\n", score >= kWorstScore ? std::min(score, 0.0) : kWorstScore);
}

std::vector<float> read_pair_scores(const fs::path& folder, const SplitRecord& train, PairScore score) {
  require_columns(folder, columns_of(score));
  const auto read = [&](PairScore column) { return read_column(score_file(folder, column), train); };
  if (score != PairScore::kDual) return read(score);
  auto scores = read(PairScore::kForward);
  const auto backward = read(PairScore::kBackward);
  for (size_t i = 0; i < scores.size(); ++i)
    scores[i] =
        std::max((scores[i] + backward[i]) / 2 - std::abs(scores[i] - backward[i]), static_cast<float>(kWorstScore));
  return scores;
}

PairSelection select_pairs(const Config& config, const Manifest& manifest) {
  const auto best = parse_keep_best(config.data.keep_best);
  const PairScore weighting = config.training.pair_weights;
  if (!best && weighting == PairScore::kNone) return {};
  const fs::path folder = config.data.dir;
  const SplitRecord& train = *manifest.find_split("train");
  auto wanted = columns_of(weighting);
  if (best) wanted.merge(columns_of(best->score));
  require_columns(folder, wanted);
  PairSelection selection;
  Sha256 columns;
  const auto read = [&](PairScore score) {
    for (const PairScore column : columns_of(score)) columns.add(sha256_of_file(score_file(folder, column)));
    return read_pair_scores(folder, train, score);
  };
  std::vector<float> weights(static_cast<size_t>(train.pairs), 1);
  if (best) {
    const auto scores = read(best->score);
    auto sorted = scores;
    const auto last = std::max<int64_t>(1, std::llround(best->share * static_cast<double>(train.pairs))) - 1;
    std::ranges::nth_element(sorted, sorted.begin() + last, std::greater());
    const float border = sorted[static_cast<size_t>(last)];
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = scores[i] >= border ? 1 : 0;
    const auto kept = std::ranges::count(weights, 1.0F);
    selection.summary.push_back(fmt::format("data.keep_best {}: {} of {} training pairs stay, with scores from {:.3f}",
                                            config.data.keep_best, with_commas(kept), with_commas(train.pairs),
                                            border));
    for (auto& line : kept_of_corpora(weights, manifest.cleaning)) selection.summary.push_back(std::move(line));
  }
  if (weighting != PairScore::kNone) {
    const auto scores = read(weighting);
    const double kept = std::accumulate(weights.begin(), weights.end(), 0.0);
    double sum = 0;
    for (size_t i = 0; i < weights.size(); ++i) sum += weights[i] * std::exp(static_cast<double>(scores[i]));
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = static_cast<float>(weights[i] * std::exp(static_cast<double>(scores[i])) * kept / sum);
    selection.summary.push_back(fmt::format("training.pair_weights {}: an epoch has a pair up to {:.2f} times",
                                            name_of(weighting), std::ranges::max(weights)));
  }
  selection.weights = std::make_shared<const std::vector<float>>(std::move(weights));
  selection.hash = columns.hex();
  return selection;
}

}  // namespace nmt
