#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "nmt/scorer.h"
#include "text_caster.h"

namespace nb = nanobind;
using nb::literals::operator""_a;
using Released = nb::call_guard<nb::gil_scoped_release>;

namespace nmt::python {

namespace {

Scorer bleu_scorer(std::string tokenizer, std::string sentencepiece_model, bool lowercase, std::string smooth_method,
                   std::optional<double> smooth_value, int max_ngram_order, bool effective_order) {
  return Scorer(BleuOptions{std::move(tokenizer), std::move(sentencepiece_model), lowercase, std::move(smooth_method),
                            smooth_value, max_ngram_order, effective_order});
}

Scorer chrf_scorer(int char_order, int word_order, std::int64_t beta, bool lowercase, bool whitespace,
                   bool eps_smoothing) {
  return Scorer(ChrfOptions{char_order, word_order, beta, lowercase, whitespace, eps_smoothing});
}

Scorer ter_scorer(bool normalized, bool no_punctuation, bool asian_support, bool case_sensitive) {
  return Scorer(TerOptions{normalized, no_punctuation, asian_support, case_sensitive});
}

Score corpus_score(const Scorer& scorer, const std::vector<std::string>& hypotheses,
                   const OptionalReferences& references, int threads, std::int64_t bootstrap) {
  return scorer.corpus_score_optional(hypotheses, references, {.threads = threads, .bootstrap = bootstrap});
}

}  // namespace

void bind_scorer(nb::module_& module) {
  nb::class_<Confidence>(module, "Confidence")
      .def_ro("mean", &Confidence::mean)
      .def_ro("half_width", &Confidence::half_width);
  nb::class_<Score>(module, "Score")
      .def_ro("score", &Score::score)
      .def_ro("signature", &Score::signature)
      .def_ro("short_signature", &Score::short_signature)
      .def_ro("confidence", &Score::confidence)
      .def_ro("counts", &Score::counts)
      .def_ro("totals", &Score::totals)
      .def_ro("precisions", &Score::precisions)
      .def_ro("brevity_penalty", &Score::brevity_penalty)
      .def_ro("system_length", &Score::system_length)
      .def_ro("reference_length", &Score::reference_length)
      .def_ro("edits", &Score::edits)
      .def_ro("reference_words", &Score::reference_words);
  nb::class_<Scorer>(module, "Scorer")
      .def_static("bleu", &bleu_scorer, "tokenizer"_a, "sentencepiece_model"_a, "lowercase"_a, "smooth_method"_a,
                  "smooth_value"_a.none(), "max_ngram_order"_a, "effective_order"_a)
      .def_static("chrf", &chrf_scorer, "char_order"_a, "word_order"_a, "beta"_a, "lowercase"_a, "whitespace"_a,
                  "eps_smoothing"_a)
      .def_static("ter", &ter_scorer, "normalized"_a, "no_punctuation"_a, "asian_support"_a, "case_sensitive"_a)
      .def("corpus_score", &corpus_score, "hypotheses"_a, "references"_a, "threads"_a, "bootstrap"_a, Released())
      .def("sentence_score", &Scorer::sentence_score, "hypothesis"_a, "references"_a, Released());
}

}  // namespace nmt::python
