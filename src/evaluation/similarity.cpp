#include "evaluation/similarity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"
#include "models/one_sentence.h"
#include "text/codec/codec.h"

namespace nmt {
namespace {

bool is_one_word(std::string_view text) {
  std::vector<std::string_view> words;
  split_words(text, words);
  return words.size() == 1;
}

std::vector<int32_t> pieces_of(const TextCodec& codec, const std::string& text) {
  auto pieces = codec.encode_source(repair_utf8(strip(text)));
  if (pieces.empty()) throw Error(fmt::format("similarity: '{}' holds no text; give two words or sentences", text));
  if (std::ranges::all_of(pieces, [](int32_t id) { return id == SpecialIds::kUnknown; }))
    throw Error(fmt::format("similarity: the vocabulary does not have '{}'; give another text", text));
  return pieces;
}

std::vector<double> embedding_of(TranslationModel& model, const std::vector<int32_t>& pieces) {
  auto mean = mean_source_embedding(model, std::vector<int64_t>(pieces.begin(), pieces.end()));
  if (mean.empty()) throw Error("similarity: this model has no embedding of the source");
  return mean;
}

std::vector<double> encoding_of(TranslationModel& model, const TextCodec& codec, const std::vector<int32_t>& pieces) {
  const auto form = codec.options().source_form();
  const int64_t length = source_length(std::ssize(pieces), form.markers);
  if (length > model.limits().source)
    throw Error(fmt::format("similarity: a text has {} tokens, the model takes {}; give a shorter one", length,
                            model.limits().source));
  std::vector<int64_t> source(length);
  write_source(pieces, form, source.data());
  auto mean = mean_encoder_output(model, source);
  if (mean.empty()) throw Error("similarity: this model has no encoder");
  return mean;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

Similarity similarity(TranslationModel& model, const TextCodec& codec, const std::string& first,
                      const std::string& second) {
  const bool words = is_one_word(first) && is_one_word(second);
  const auto vector_of = [&](const std::string& text) {
    const auto pieces = pieces_of(codec, text);
    return words ? embedding_of(model, pieces) : encoding_of(model, codec, pieces);
  };
  const auto a = vector_of(first), b = vector_of(second);
  const double norms = std::sqrt(dot(a, a)) * std::sqrt(dot(b, b));
  return {.cosine = norms > 0 ? std::clamp(dot(a, b) / norms, -1.0, 1.0) : 0.0,
          .vectors = words ? ComparedVectors::kEmbeddings : ComparedVectors::kEncoderOutputs};
}

std::string similarity_text(const Similarity& similarity) {
  const bool words = similarity.vectors == ComparedVectors::kEmbeddings;
  return fmt::format("cosine of {} = {:.6f}\n", words ? "embeddings" : "encoder outputs", similarity.cosine);
}

}  // namespace nmt
