#include <algorithm>

#include "config/value.h"
#include "library/c/c_guard.h"
#include "library/c/c_objects.h"
#include "library/c/c_options.h"

namespace nmt::api {
namespace {

Scorer make_scorer(const std::string& metric, const nmt_options* options) {
  OptionReader reader(options);
  if (metric == "bleu") {
    BleuOptions bleu;
    reader.read("tokenizer", bleu.tokenizer);
    reader.read("sentencepiece_model", bleu.sentencepiece_model);
    reader.read("lowercase", bleu.lowercase);
    reader.read("smooth_method", bleu.smooth_method);
    reader.read("smooth_value", bleu.smooth_value);
    reader.read("max_ngram_order", bleu.max_ngram_order);
    reader.read("effective_order", bleu.effective_order);
    reader.finish();
    return Scorer(bleu);
  }
  if (metric == "chrf") {
    ChrfOptions chrf;
    reader.read("char_order", chrf.char_order);
    reader.read("word_order", chrf.word_order);
    reader.read("beta", chrf.beta);
    reader.read("lowercase", chrf.lowercase);
    reader.read("whitespace", chrf.whitespace);
    reader.read("eps_smoothing", chrf.eps_smoothing);
    reader.finish();
    return Scorer(chrf);
  }
  if (metric != "ter") throw UserError("metric '" + shown(metric) + "': one of bleu, chrf, ter");
  TerOptions ter;
  reader.read("normalized", ter.normalized);
  reader.read("no_punct", ter.no_punctuation);
  reader.read("asian_support", ter.asian_support);
  reader.read("case_sensitive", ter.case_sensitive);
  reader.finish();
  return Scorer(ter);
}

nmt_record* to_record(const Score& score) {
  auto record = std::make_unique<nmt_record>();
  record->kind = "score";
  record->numbers["score"] = score.score;
  record->texts = {{"name", score.name},
                   {"signature", score.signature},
                   {"short_signature", score.short_signature},
                   {"text", score.text},
                   {"json", score.json}};
  if (score.confidence) {
    record->numbers["confidence_mean"] = score.confidence->mean;
    record->numbers["confidence_half_width"] = score.confidence->half_width;
  }
  if (score.name == "BLEU") {
    record->numbers["brevity_penalty"] = score.brevity_penalty;
    record->numbers["system_length"] = static_cast<double>(score.system_length);
    record->numbers["reference_length"] = static_cast<double>(score.reference_length);
    record->lists = {{"counts", score.counts}, {"totals", score.totals}, {"precisions", score.precisions}};
  }
  if (score.name == "TER") {
    record->numbers["edits"] = score.edits;
    record->numbers["reference_words"] = score.reference_words;
  }
  return record.release();
}

}  // namespace
}  // namespace nmt::api

using namespace nmt::api;

extern "C" {

nmt_status nmt_scorer_new(const char* metric, const nmt_options* options, nmt_scorer** scorer) {
  if (scorer) *scorer = nullptr;
  return without_exceptions([&] {
    require(metric, "metric");
    require(scorer, "scorer");
    *scorer = new nmt_scorer{make_scorer(metric, options)};
  });
}

void nmt_scorer_free(nmt_scorer* scorer) { delete scorer; }

nmt_status nmt_scorer_corpus(const nmt_scorer* scorer, const char* const* hypotheses, size_t lines,
                             const char* const* references, size_t sets, const nmt_options* options,
                             nmt_record** score) {
  if (score) *score = nullptr;
  return without_exceptions([&] {
    require(scorer, "scorer");
    require(score, "score");
    OptionReader reader(options);
    CorpusOptions corpus;
    reader.read("threads", corpus.threads);
    reader.read("bootstrap", corpus.bootstrap);
    reader.read("seed", corpus.seed);
    reader.finish();
    if (lines > 0 && sets > 0) require(references, "references");
    require_room("lines", lines, sizeof(std::string));
    require_room("sets", sets, std::max(sizeof(References::value_type), lines * sizeof(std::string)));
    References texts;
    texts.reserve(sets);
    for (size_t set = 0; set < sets; ++set)
      texts.push_back(texts_of(references + set * lines, nullptr, lines, "references"));
    *score = to_record(scorer->scorer.corpus_score(texts_of(hypotheses, nullptr, lines, "hypotheses"), texts, corpus));
  });
}

nmt_status nmt_scorer_sentence(const nmt_scorer* scorer, const char* hypothesis, const char* const* references,
                               size_t sets, nmt_record** score) {
  if (score) *score = nullptr;
  return without_exceptions([&] {
    require(scorer, "scorer");
    require(score, "score");
    *score = to_record(scorer->scorer.sentence_score(text_of(hypothesis, NMT_TERMINATED, "hypothesis"),
                                                     texts_of(references, nullptr, sets, "references")));
  });
}

}  // extern "C"
