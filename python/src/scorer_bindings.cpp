#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "nmt/scorer.h"
#include "results.h"
#include "values.h"
#include "work.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace nmt::python {

namespace {

Scorer bleu_scorer(const std::string& tokenizer, const std::string& sentencepiece_model, bool lowercase,
                   const std::string& smooth_method, std::optional<double> smooth_value, int max_ngram_order,
                   bool effective_order) {
  BleuOptions options;
  options.tokenizer = tokenizer;
  options.sentencepiece_model = sentencepiece_model;
  options.lowercase = lowercase;
  options.smooth_method = smooth_method;
  options.smooth_value = smooth_value;
  options.max_ngram_order = max_ngram_order;
  options.effective_order = effective_order;
  return Scorer(options);
}

Scorer chrf_scorer(int char_order, int word_order, std::int64_t beta, bool lowercase, bool whitespace,
                   bool eps_smoothing) {
  ChrfOptions options;
  options.char_order = char_order;
  options.word_order = word_order;
  options.beta = beta;
  options.lowercase = lowercase;
  options.whitespace = whitespace;
  options.eps_smoothing = eps_smoothing;
  return Scorer(options);
}

Scorer ter_scorer(bool normalized, bool no_punctuation, bool asian_support, bool case_sensitive) {
  TerOptions options;
  options.normalized = normalized;
  options.no_punctuation = no_punctuation;
  options.asian_support = asian_support;
  options.case_sensitive = case_sensitive;
  return Scorer(options);
}

/// references[set][line], where None says that a line has no such reference.
OptionalReferences references_of(const nb::list& sets) {
  OptionalReferences references;
  for (const nb::handle set : sets) {
    auto& lines = references.emplace_back();
    for (const nb::handle line : nb::borrow<nb::list>(set)) {
      if (line.is_none()) {
        lines.emplace_back(std::nullopt);
      } else {
        lines.emplace_back(text_of(line, "references"));
      }
    }
  }
  return references;
}

bool all_there(const OptionalReferences& references) {
  return std::all_of(references.begin(), references.end(), [](const auto& set) {
    return std::all_of(set.begin(), set.end(), [](const auto& line) { return line.has_value(); });
  });
}

nb::dict corpus_score(const Scorer& scorer, const nb::object& hypotheses, const nb::list& sets, int threads,
                      std::int64_t bootstrap) {
  const std::vector<std::string> texts = texts_of(hypotheses, "hypotheses");
  OptionalReferences references = references_of(sets);
  CorpusOptions options;
  options.threads = threads;
  options.bootstrap = bootstrap;
  if (!all_there(references)) {
    return score_fields(Work().run([&] { return scorer.corpus_score_optional(texts, references, options); }));
  }
  References plain;
  for (auto& set : references) {
    auto& lines = plain.emplace_back();
    lines.reserve(set.size());
    for (auto& line : set) lines.push_back(std::move(*line));
  }
  return score_fields(Work().run([&] { return scorer.corpus_score(texts, plain, options); }));
}

nb::dict sentence_score(const Scorer& scorer, const nb::object& hypothesis, const nb::object& references) {
  const std::string text = text_of(hypothesis, "hypothesis");
  const std::vector<std::string> texts = texts_of(references, "references");
  const auto score = [&] { return scorer.sentence_score(text, texts); };
  std::size_t bytes = text.size();
  for (const std::string& reference : texts) bytes += reference.size();
  constexpr std::size_t kLong = 1 << 14;  // below, a score takes less time than a thread
  return score_fields(bytes < kLong ? score() : Work().run(score));
}

}  // namespace

void bind_scorer(nb::module_& module) {
  nb::class_<Scorer>(module, "Scorer")
      .def_static("bleu", &bleu_scorer, "tokenizer"_a, "sentencepiece_model"_a, "lowercase"_a, "smooth_method"_a,
                  "smooth_value"_a.none(), "max_ngram_order"_a, "effective_order"_a)
      .def_static("chrf", &chrf_scorer, "char_order"_a, "word_order"_a, "beta"_a, "lowercase"_a, "whitespace"_a,
                  "eps_smoothing"_a)
      .def_static("ter", &ter_scorer, "normalized"_a, "no_punctuation"_a, "asian_support"_a, "case_sensitive"_a)
      .def("corpus_score", &corpus_score, "hypotheses"_a, "references"_a, "threads"_a, "bootstrap"_a)
      .def("sentence_score", &sentence_score, "hypothesis"_a, "references"_a)
      .def("name", &Scorer::name);
}

}  // namespace nmt::python
