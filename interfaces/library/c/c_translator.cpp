#include <limits>

#include "library/c/c_guard.h"
#include "library/c/c_objects.h"
#include "library/c/c_options.h"

namespace nmt::api {
namespace {

const Translation* line_of(const nmt_translations* translations, size_t line) {
  return translations && line < translations->lines.size() ? &translations->lines[line] : nullptr;
}

const Alternative* alternative_of(const nmt_translations* translations, size_t line, size_t rank) {
  const auto* translation = line_of(translations, line);
  return translation && rank < translation->alternatives.size() ? &translation->alternatives[rank] : nullptr;
}

const AttentionMatrix* matrix_of(const nmt_translations* translations, size_t line, size_t rank, size_t part) {
  const auto* alternative = alternative_of(translations, line, rank);
  return alternative && part < alternative->attention.size() ? &alternative->attention[part] : nullptr;
}

const char* bytes_of(const std::string& text, size_t* length) {
  if (length) *length = text.size();
  return text.c_str();
}

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Pairs are handed out as they stand in memory: [count, 2].
static_assert(sizeof(AlignedPair) == 2 * sizeof(int32_t));

nmt_record* to_record(const FileStatistics& statistics) {
  return new nmt_record{.kind = "file",
                        .numbers = {{"lines", static_cast<double>(statistics.lines)},
                                    {"source_tokens", static_cast<double>(statistics.source_tokens)},
                                    {"target_tokens", static_cast<double>(statistics.target_tokens)},
                                    {"repaired", static_cast<double>(statistics.repaired)},
                                    {"split", static_cast<double>(statistics.split)},
                                    {"cut", static_cast<double>(statistics.cut)},
                                    {"seconds", statistics.seconds}}};
}

}  // namespace
}  // namespace nmt::api

using namespace nmt::api;

extern "C" {

nmt_status nmt_translator_new(const char* model, const nmt_options* options, nmt_translator** translator) {
  if (translator) *translator = nullptr;
  return without_exceptions([&] {
    require(translator, "translator");
    TranslatorOptions wanted;
    if (model) wanted.models.emplace_back(model);
    OptionReader reader(options);
    read_translator(reader, wanted);
    reader.finish();
    *translator = new nmt_translator{Translator(wanted)};
  });
}

void nmt_translator_free(nmt_translator* translator) {
  const CancellationOff whole_call;
  delete translator;
}

nmt_status nmt_translator_translate(const nmt_translator* translator, const char* const* lines, const size_t* lengths,
                                    size_t count, const nmt_options* options, nmt_stop* stop,
                                    nmt_translations** translations) {
  if (translations) *translations = nullptr;
  return without_exceptions([&] {
    require(translator, "translator");
    require(translations, "translations");
    const Translator kept = translator->translator;
    OptionReader reader(options);
    const auto wanted = translate_options(reader, stop);
    reader.finish();
    *translations = new nmt_translations{kept.translate(texts_of(lines, lengths, count, "lines"), wanted)};
  });
}

nmt_status nmt_translator_score(const nmt_translator* translator, const char* const* sources,
                                const size_t* source_lengths, const char* const* targets, const size_t* target_lengths,
                                size_t count, const nmt_options* options, nmt_stop* stop,
                                nmt_translations** translations) {
  if (translations) *translations = nullptr;
  return without_exceptions([&] {
    require(translator, "translator");
    require(translations, "translations");
    const Translator kept = translator->translator;
    OptionReader reader(options);
    const auto wanted = translate_options(reader, stop);
    reader.finish();
    auto scored = std::make_unique<nmt_translations>();
    for (auto& alternative : kept.score(texts_of(sources, source_lengths, count, "sources"),
                                        texts_of(targets, target_lengths, count, "targets"), wanted)) {
      auto& line = scored->lines.emplace_back();
      line.text = alternative.text;
      line.target_tokens = alternative.tokens;
      line.alternatives.push_back(std::move(alternative));
    }
    *translations = scored.release();
  });
}

nmt_status nmt_translator_stream(const nmt_translator* translator, nmt_line_source source, void* source_user,
                                 nmt_translation_sink sink, void* sink_user, const nmt_options* options, nmt_stop* stop,
                                 int64_t* lines) {
  if (lines) *lines = 0;
  return without_exceptions([&] {
    require(translator, "translator");
    if (!source || !sink) throw UserError("source and sink: both are needed");
    const Translator kept = translator->translator;
    OptionReader reader(options);
    const auto wanted = translate_options(reader, stop);
    StreamOptions stream;
    reader.read("block_lines", stream.block_lines);
    reader.read("block_bytes", stream.block_bytes);
    reader.finish();
    const auto next = [&](std::string& line) {
      const char* text = nullptr;
      size_t length = NMT_TERMINATED;
      const int said = source(source_user, &text, &length);
      if (said < 0) throw CallbackSaidNo();
      if (said > 0) line = text_of(text, length, "line");
      return said > 0;
    };
    int64_t done = 0;
    const auto give = [&](int64_t number, const Translation& translation) {
      const nmt_translations one{{translation}};
      const int said = sink(sink_user, number, &one);
      if (said < 0) throw CallbackSaidNo();
      if (lines) *lines = ++done;
      return said > 0;
    };
    kept.translate_stream(next, give, wanted, stream);
  });
}

nmt_status nmt_translator_translate_file(const nmt_translator* translator, const char* input, const char* output,
                                         const nmt_options* options, nmt_stop* stop, nmt_record** statistics) {
  if (statistics) *statistics = nullptr;
  return without_exceptions([&] {
    require(translator, "translator");
    require(input, "input");
    require(output, "output");
    const Translator kept = translator->translator;
    OptionReader reader(options);
    const auto wanted = translate_options(reader, stop);
    reader.finish();
    const auto done = kept.translate_file(input, output, wanted);
    if (statistics) *statistics = to_record(done);
  });
}

size_t nmt_translations_count(const nmt_translations* translations) {
  return translations ? translations->lines.size() : 0;
}

size_t nmt_translations_alternatives(const nmt_translations* translations, size_t line) {
  const auto* translation = line_of(translations, line);
  return translation ? translation->alternatives.size() : 0;
}

const char* nmt_translations_best(const nmt_translations* translations, size_t line, size_t* length) {
  if (length) *length = 0;
  const auto* translation = line_of(translations, line);
  return translation ? bytes_of(translation->text, length) : nullptr;
}

const char* nmt_translations_text(const nmt_translations* translations, size_t line, size_t rank, size_t* length) {
  if (length) *length = 0;
  const auto* alternative = alternative_of(translations, line, rank);
  return alternative ? bytes_of(alternative->text, length) : nullptr;
}

double nmt_translations_score_of(const nmt_translations* translations, size_t line, size_t rank) {
  const auto* alternative = alternative_of(translations, line, rank);
  return alternative ? alternative->score : kNone;
}

double nmt_translations_log_probability(const nmt_translations* translations, size_t line, size_t rank) {
  const auto* alternative = alternative_of(translations, line, rank);
  return alternative ? alternative->log_probability : kNone;
}

int nmt_translations_finished(const nmt_translations* translations, size_t line, size_t rank) {
  const auto* alternative = alternative_of(translations, line, rank);
  return alternative && alternative->finished ? 1 : 0;
}

int nmt_translations_meets_constraints(const nmt_translations* translations, size_t line, size_t rank) {
  const auto* alternative = alternative_of(translations, line, rank);
  return alternative && alternative->meets_constraints ? 1 : 0;
}

int nmt_translations_shortened(const nmt_translations* translations, size_t line, size_t rank) {
  const auto* alternative = alternative_of(translations, line, rank);
  return alternative && alternative->shortened ? 1 : 0;
}

int64_t nmt_translations_tokens(const nmt_translations* translations, size_t line, size_t rank) {
  const auto* alternative = alternative_of(translations, line, rank);
  return alternative ? alternative->tokens : 0;
}

const char* nmt_translations_piece(const nmt_translations* translations, size_t line, size_t rank, size_t piece) {
  const auto* alternative = alternative_of(translations, line, rank);
  return alternative && piece < alternative->pieces.size() ? alternative->pieces[piece].c_str() : nullptr;
}

const float* nmt_translations_token_scores(const nmt_translations* translations, size_t line, size_t rank,
                                           size_t* count) {
  const auto* alternative = alternative_of(translations, line, rank);
  if (count) *count = alternative ? alternative->token_scores.size() : 0;
  return alternative ? alternative->token_scores.data() : nullptr;
}

const int32_t* nmt_translations_alignment(const nmt_translations* translations, size_t line, size_t rank,
                                          size_t* count) {
  const auto* alternative = alternative_of(translations, line, rank);
  if (count) *count = alternative ? alternative->alignment.size() : 0;
  return alternative && !alternative->alignment.empty() ? &alternative->alignment.front().source : nullptr;
}

size_t nmt_translations_attention_parts(const nmt_translations* translations, size_t line, size_t rank) {
  const auto* alternative = alternative_of(translations, line, rank);
  return alternative ? alternative->attention.size() : 0;
}

const float* nmt_translations_attention(const nmt_translations* translations, size_t line, size_t rank, size_t part,
                                        size_t* rows, size_t* columns) {
  const auto* matrix = matrix_of(translations, line, rank, part);
  if (rows) *rows = matrix ? matrix->rows.size() : 0;
  if (columns) *columns = matrix ? matrix->columns.size() : 0;
  return matrix ? matrix->weights.data() : nullptr;
}

const char* nmt_translations_attention_row(const nmt_translations* translations, size_t line, size_t rank, size_t part,
                                           size_t row) {
  const auto* matrix = matrix_of(translations, line, rank, part);
  return matrix && row < matrix->rows.size() ? matrix->rows[row].c_str() : nullptr;
}

const char* nmt_translations_attention_column(const nmt_translations* translations, size_t line, size_t rank,
                                              size_t part, size_t column) {
  const auto* matrix = matrix_of(translations, line, rank, part);
  return matrix && column < matrix->columns.size() ? matrix->columns[column].c_str() : nullptr;
}

int nmt_translations_split(const nmt_translations* translations, size_t line) {
  const auto* translation = line_of(translations, line);
  return translation && translation->split ? 1 : 0;
}

int nmt_translations_repaired(const nmt_translations* translations, size_t line) {
  const auto* translation = line_of(translations, line);
  return translation && translation->repaired ? 1 : 0;
}

void nmt_translations_free(nmt_translations* translations) { delete translations; }

}  // extern "C"
