#include "report/html/translation_quality.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/unicode.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"

namespace nmt {
namespace {

constexpr std::array<int64_t, 8> kLongest = {5, 10, 15, 20, 25, 30, 40, 60};  // of each class but the last

size_t class_of(const std::string& source) {
  std::vector<std::string_view> words;
  split_words(source, words);
  return static_cast<size_t>(std::lower_bound(kLongest.begin(), kLongest.end(), std::ssize(words)) - kLongest.begin());
}

}  // namespace

std::vector<double> sentence_chrf(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  const scoring::Chrf chrf;
  std::vector<double> scores;
  for (size_t i = 0; i < hypotheses.size(); ++i)
    scores.push_back(scoring::score_sentence(chrf, hypotheses[i], references.subspan(i, 1)).score);
  return scores;
}

std::vector<LengthClass> scores_by_length(std::span<const std::string> sources, std::span<const std::string> references,
                                          std::span<const std::string> hypotheses) {
  struct Texts {
    std::vector<std::string> references, hypotheses;
  };
  std::array<Texts, kLongest.size() + 1> texts;
  for (size_t i = 0; i < sources.size(); ++i) {
    auto& of_class = texts[class_of(sources[i])];
    of_class.references.push_back(references[i]);
    of_class.hypotheses.push_back(hypotheses[i]);
  }
  const scoring::CorpusOptions one_thread{.threads = 1};
  std::vector<LengthClass> classes;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto& [of_class, written] = texts[i];
    if (written.empty()) continue;
    classes.push_back({.min = i == 0 ? 0 : kLongest[i - 1] + 1,
                       .max = i < kLongest.size() ? kLongest[i] : 0,
                       .sentences = std::ssize(written),
                       .bleu = scoring::score_corpus(scoring::Bleu(), written, {of_class}, one_thread).score,
                       .chrf = scoring::score_corpus(scoring::Chrf(), written, {of_class}, one_thread).score});
  }
  return classes;
}

Extremes best_and_worst(std::span<const double> scores, std::span<const std::string> references, size_t count) {
  const auto sorted = [&](auto before) {
    std::vector<size_t> order(scores.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return scores[a] != scores[b] ? before(scores[a], scores[b]) : references[a].size() > references[b].size();
    });
    order.resize(std::min(count, order.size()));
    return order;
  };
  return {.best = sorted(std::greater<>()), .worst = sorted(std::less<>())};
}

}  // namespace nmt
